from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ordinoise.datasets import NAMES, OrdinalDataset, RatedDataset, catalogue, load, synthetic
from ordinoise.datasets.catalogue import describe


@pytest.mark.parametrize("name", NAMES)
def test_the_catalogue_tells_the_truth(name: str, data_dir: Path) -> None:
    entry, data = describe(name), load(name, data_dir)
    assert data.name == entry.name == name
    assert data.n_classes == entry.n_classes
    assert len(data.feature_names) == entry.n_features
    n_rows = data.n_items if isinstance(data, RatedDataset) else data.n_samples
    assert n_rows == entry.n_rows
    assert all((data_dir / path).is_file() for path in entry.files)
    assert set(data.labels.tolist()) == set(range(data.n_classes))
    assert data.features is None or np.isfinite(data.features).all()
    assert data.note.endswith(".")


def test_checksums_are_those_of_the_list_beside_the_files(data_dir: Path) -> None:
    from ordinoise.datasets import _tables, benchmark, raters

    files = [table.file for table in (_tables.BOSTON, _tables.ABALONE, _tables.COMPUTER, _tables.CALIFORNIA)]
    files += [*_tables.MSLR_FILES.values(), *(table.file for table in benchmark.BENCHMARKS.values())]
    files += [raters.LIDC_FILE, raters.WEB_LABELS_FILE, raters.WEB_TRUTH_FILE]
    lines = [line.split() for line in (data_dir / "SHA256SUMS").read_text().splitlines()]
    listed = {path.removeprefix("./"): code for code, path in lines}
    assert {file.path: file.sha256 for file in files}.items() <= listed.items()


def test_names_are_the_catalogues_order() -> None:
    assert tuple(entry.name for entry in catalogue()) == NAMES
    assert len(set(NAMES)) == 18


def test_embedded_sets_need_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORDINOISE_DATA", raising=False)
    for entry in catalogue():
        assert (entry.kind == "embedded") == (entry.files == ())
        if entry.kind == "embedded":
            assert isinstance(load(entry.name), OrdinalDataset)


def test_options_reach_the_reader(data_dir: Path) -> None:
    loaded = load("synthetic", n_per_class=20, random_state=5)
    assert loaded.features is not None
    assert np.array_equal(loaded.features, synthetic(20, random_state=5).features)
    assert load("california", data_dir, strategy="equal_frequency", n_classes=6).n_classes == 6


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"name must be one of .* got 'abalon'; did you mean 'abalone'"):
        load("abalon")
    with pytest.raises(ValueError, match="got 'bostn'; did you mean 'boston'"):
        describe("bostn")


def test_an_unknown_option_gets_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"option of 'abalone' must be one of .* 'stratgy'; did you mean 'strat"):
        load("abalone", tmp_path, stratgy="edges")


def test_only_the_numeric_sets_of_the_paper_can_be_fetched() -> None:
    fetchable = [entry.name for entry in catalogue() if entry.can_fetch]
    assert fetchable == ["boston", "abalone", "computer", "california"]


@pytest.mark.parametrize("name", [entry.name for entry in catalogue() if not entry.can_fetch])
def test_fetch_is_refused_for_sets_without_a_sure_copy(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"fetch must be used only with .* got '{name}'; "):
        load(name, tmp_path, fetch=True)


def test_only_numpy_is_imported_with_the_package() -> None:
    heavy = "{'sklearn', 'scipy', 'pandas', 'torch', 'numba', 'matplotlib'}"
    code = f"import sys, ordinoise.datasets; sys.exit(str({heavy} & set(sys.modules)) if {heavy} & set(sys.modules) else 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
