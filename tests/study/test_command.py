"""The study as a command."""

import subprocess
import sys
from pathlib import Path

import pytest

from studies.accuracy import Contestant
from studies.accuracy.__main__ import _copy, accuracy
from studies.results import read, write
from study_results import stored

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_study_with_an_unknown_contestant_is_one_sentence(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "studies.accuracy",
        "--out",
        str(tmp_path / "out"),
        "--contestants",
        "netwrk, trusting",
    ]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "did you mean 'network, trusting'?" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_page_and_pictures_of_the_documentation_are_those_of_the_run(tmp_path: Path) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    for folder in (out, docs / "_measured", docs / "_static"):
        folder.mkdir(parents=True)
    (out / "accuracy.md").write_text("# Title\n\nWords.\n\n## Ranks\n\n| a | b ## c |\n")
    for name in ("noisy", "clean"):
        (out / f"ranks-{name}.png").write_bytes(name.encode())
    _copy(out, docs)
    assert (docs / "_measured" / "accuracy.md").read_text() == "Words.\n\n### Ranks\n\n| a | b ## c |\n"
    assert (docs / "_static" / "ranks-clean.png").read_bytes() == b"clean"


def test_kept_results_of_a_contestant_that_is_not_installed_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = ("histogram", "mord")
    monkeypatch.setattr(Contestant, "absent_packages", property(lambda who: [who.name] * (who.name not in installed)))
    kept = [stored(name, 0.5, dataset="toy", split=split, max_rows=4000) for name in installed for split in (0, 1)]
    kept.append(stored("autogluon", 0.25, dataset="toy", max_rows=4000))
    write(kept, tmp_path / "accuracy.csv")
    monkeypatch.setattr("studies.results.FOLDER", tmp_path)
    accuracy(out=tmp_path / "out", datasets=["toy"], noises=["uniform"], splits=2)
    shown = (tmp_path / "out" / "accuracy.csv").read_text()
    assert 'toy,uniform,"autogluon, median",1,404,0.25' in shown
    assert "catboost" not in shown
    assert len(list(read(tmp_path / "accuracy.csv"))) == len(kept)
