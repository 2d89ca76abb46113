"""One audit: Python and the command line read a table by the same rules and give the same numbers."""

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.cli.command import run
from ordinoise import OrdinalClassifier, adjacent, corrupt, find_label_issues
from ordinoise.app.cli import main
from ordinoise.app.verbs import fit
from ordinoise.audit import search
from ordinoise.columns.coding import IgnoredColumnsWarning

N = 240
IGNORED = {"id", "remark"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV with row numbers, categories, free text, dates, flags, gaps and grades of which some are wrong."""
    rng = np.random.default_rng(4)
    size, town = rng.normal(size=N), rng.integers(3, size=N)
    true = np.digitize(size + 0.7 * town, [-0.3, 0.7, 1.7])
    frame = pd.DataFrame(
        {
            "id": np.arange(1, N + 1),
            "size": np.where(rng.random(N) < 0.1, np.nan, size.round(4)),
            "town": np.array(["Lyon", "Nantes", "Brest"])[town],
            "remark": [f"remark {row} of {rng.integers(10**9)}" for row in range(N)],
            "day": pd.to_datetime("2024-03-01") + pd.to_timedelta(rng.integers(400, size=N), unit="D"),
            "paid": rng.random(N) < 0.5,
            "odd": np.where(rng.random(N) < 0.2, "?", rng.integers(9, size=N).astype(str)),
            "stars": 1 + corrupt(true, adjacent(4, up=0.15, down=0.05), rng),
        }
    )
    path = tmp_path_factory.mktemp("one") / "grades.csv"
    frame.to_csv(path, index=False)
    return path


FEW: dict[str, Any] = {"n_folds": 2, "n_rounds": 1}


@pytest.fixture(scope="module")
def few_models() -> Iterator[None]:
    """Both sides fit two models per candidate instead of twenty."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (fit, search):
            patch.setattr(module, "OrdinalClassifier", partial(OrdinalClassifier, **FEW))
        yield


@pytest.fixture(scope="module")
def record(table: Path, few_models: None) -> dict[str, Any]:
    out = table.parent / "audit"
    assert run("audit", table, "--target", "stars", "--out", out).code == 0
    found: dict[str, Any] = json.loads((out / "audit.json").read_text())
    return found


def _alike(one: Any, other: Any) -> bool:
    """Whether two records agree; sums of another process may differ in the last bit, by where its arrays lie."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(value, other[name]) for name, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == pytest.approx(other, rel=1e-9)) if isinstance(one, float) else bool(one == other)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_python_and_the_command_line_give_the_same_record(table: Path, record: dict[str, Any]) -> None:
    _check_record(table, record)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_python_and_the_shell_give_the_same_record_with_all_models(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "audit"
    command = [sys.executable, "-m", "ordinoise.app.cli", "audit", str(table), "--target", "stars", "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "OrdinalClassifier", OrdinalClassifier)
        _check_record(table, json.loads((out / "audit.json").read_text()))


def _check_record(table: Path, record: dict[str, Any]) -> None:
    frame = pd.read_csv(table)
    with pytest.warns(IgnoredColumnsWarning, match="'id'.*'remark'"):
        issues = find_label_issues(frame.drop(columns="stars"), frame["stars"], random_state=0)
    assert issues.expected_wrong is not None
    count = issues.expected_wrong
    assert _alike([record[f"wrong{end}"] for end in ("", "_low", "_high")], [count.value, count.low, count.high])
    assert _alike(record["noise"], json.loads(json.dumps(issues.noise.to_dict(replicates=False))))
    rows = [suspect["row"] for suspect in record["suspects"]]
    assert len(rows) >= 20
    suspicious = [row for row in issues.worst.tolist() if issues.suggested[row] != issues.recorded[row]]
    assert rows == suspicious[: len(rows)]
    for suspect in record["suspects"]:
        assert _alike(suspect["suspicion"], float(issues.suspicion[suspect["row"]]))
        assert suspect["suggested"] == str(issues.suggested[suspect["row"]])
    roles = {column["name"] for column in record["columns"] if column["role"] not in ("feature", "target")}
    assert roles == IGNORED


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_every_frame_library_is_read_by_the_same_rules(table: Path, record: dict[str, Any], library: str) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.read_csv(table, try_parse_dates=True)
    grades, X = frame["stars"], frame.drop("stars")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredColumnsWarning)
        found = OrdinalClassifier(random_state=0, **FEW).estimate_noise(
            X if library == "polars" else X.to_arrow(), grades
        )
    plain = json.loads(json.dumps(found.to_dict(replicates=False)))
    # The answer waits for the fits that correct.
    assert _alike(plain | {"answer": "", "reason": ""}, record["noise"] | {"answer": "", "reason": ""})


def test_text_grades_without_an_order_are_refused_in_both(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv(table)
    words = frame["stars"].map({1: "poor", 2: "fair", 3: "good", 4: "best"})
    path = table.parent / "words.csv"
    frame.assign(stars=words).to_csv(path, index=False)
    with pytest.raises(SystemExit) as caught:
        main(["audit", str(path), "--target", "stars", "--out", str(table.parent / "none")])
    assert caught.value.code == 2
    assert "order must list the grades from lowest to highest" in capsys.readouterr().err
    with pytest.raises(ValueError, match="classes must list the grades from lowest to highest"):
        find_label_issues(frame.drop(columns=["stars", "id", "remark"]), words)


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.slow
def test_the_snippet_that_the_demo_prints_runs_on_a_table_with_categories(table: Path) -> None:
    frame = pd.read_csv(table)
    X, stars = frame.drop(columns=["stars", *IGNORED]), frame["stars"]
    assert len(find_label_issues(X, stars, random_state=0).to_frame()) == N
