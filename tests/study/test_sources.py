"""What a change of a file makes stale."""

import pytest

from studies.evidence import PIECES
from studies.sources import ROOT, package_state, sources

pytest.importorskip("grimp")


def test_a_run_stays_fresh_until_something_that_it_imports_changes() -> None:
    reproduce = sources("ordinoise reproduce all")
    assert {"src/ordinoise/app/cli/reproduce.py", "src/ordinoise/learners/mlp/network.py"} <= set(reproduce)
    assert not any("/review/" in file for file in reproduce)
    assert sources("python -m studies.tour") == ["src", "studies/tour.py"]  # it starts the command line
    judge = sources("python -m studies.judge web")
    assert {"studies/judge.py", "src/ordinoise/scoring/judges/__init__.py"} <= set(judge)
    assert not any("/app/" in file or "/audit/" in file for file in judge)
    accuracy = sources("python -m studies.accuracy --docs docs")  # it asks git, and starts nothing of ours
    assert {"studies/results/__init__.py", "src/ordinoise/classifiers/blend/evidence.py"} <= set(accuracy)
    assert all((ROOT / file).exists() for command in PIECES for file in sources(command))


def test_a_name_that_a_package_loads_on_first_use_is_the_module_it_lives_in() -> None:
    harm = sources("python -m studies.harm")  # from ordinoise import OrdinalClassifier
    assert "src/ordinoise/classifiers/blend/evidence.py" in harm
    assert not any("/audit/" in file for file in harm)
    assert "src/ordinoise/audit/count.py" in sources(
        "python -m studies.audit"
    )  # from ordinoise import find_label_issues


def test_results_of_the_accuracy_study_outlast_a_change_of_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    import studies.sources

    before = package_state("studies.accuracy.measurement")
    assert before == package_state("studies.accuracy.measurement")
    files = studies.sources._files({"studies.accuracy.measurement"})
    assert "ordinoise.learners.mlp.network" in files
    assert not [name for name in files if name.startswith("ordinoise.app")]
    monkeypatch.setattr(studies.sources, "_files", lambda _: {"one": files["ordinoise.learners.mlp.network"]})
    assert package_state("studies.accuracy.measurement") != before
