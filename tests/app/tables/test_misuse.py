"""A table that is not what it is taken for is named, with the command to use; ordinary tables are left in peace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ordinoise.app.tables import ColumnRoles, graded_table

RNG = np.random.default_rng(0)
N = 240
QUALITY = RNG.normal(size=N)
GRADES = np.digitize(QUALITY + RNG.normal(scale=0.7, size=N), [-1.0, 0.0, 1.0]) + 1
ORDINARY: dict[str, Any] = {"size": QUALITY.round(3), "color": RNG.choice(["red", "blue"], N)}


def _cautions(folder: Path, columns: Mapping[str, Any], target: str = "stars", **options: Any) -> tuple[str, ...]:
    path = folder / "table.csv"
    path.unlink(missing_ok=True)
    pl.DataFrame(dict(columns)).write_csv(path)
    return graded_table(path, ColumnRoles(target, **options)).cautions


def test_a_table_of_ratings_is_named_with_its_command(tmp_path: Path) -> None:
    columns = {"item": np.arange(N) // 4 + 100, "workerId": np.arange(N) % 4 * 7, "stars": GRADES}
    [sentence] = _cautions(tmp_path, columns | ORDINARY)
    assert "ordinoise raters table.csv --item item --rater workerId --grade stars" in sentence
    [sentence] = _cautions(tmp_path, {"annotator": RNG.choice(["Ada", "Bo", "Cy"], N), "stars": GRADES} | ORDINARY)
    assert "--rater annotator" in sentence
    same = {"size": QUALITY[np.arange(N) // 4]}  # one thing per item
    assert _cautions(tmp_path, columns | same, item="item", rater="workerId") == ()


def test_names_of_groups_are_named(tmp_path: Path) -> None:
    [sentence] = _cautions(tmp_path, ORDINARY | {"patient_id": RNG.integers(40, size=N), "stars": GRADES})
    assert "--group patient_id" in sentence
    assert (
        _cautions(tmp_path, ORDINARY | {"patient_id": RNG.integers(40, size=N), "stars": GRADES}, group="patient_id")
        == ()
    )
    [sentence] = _cautions(tmp_path, ORDINARY | {"id": RNG.permutation(N) + 50, "stars": GRADES})
    assert "--group" not in sentence
    assert "--ignore id" in sentence


def test_grades_of_other_people_are_named(tmp_path: Path) -> None:
    other = (GRADES + RNG.choice([-1, 0, 0, 1], N)).clip(1, 4)
    missing = [None if at % 5 == 0 else float(grade) for at, grade in enumerate(other)]
    [sentence] = _cautions(tmp_path, ORDINARY | {"reader_2": missing, "reader_1": GRADES}, "reader_1")
    assert "ordinoise raters table.csv --wide reader_1,reader_2" in sentence
    near = np.where(np.arange(N) % 12 == 0, (GRADES + 1).clip(1, 4), GRADES)
    [sentence] = _cautions(tmp_path, ORDINARY | {"second": near, "stars": GRADES})
    assert "'second' holds grades on the scale of 'stars'" in sentence


def test_a_column_that_gives_the_target_away_is_named(tmp_path: Path) -> None:
    [sentence] = _cautions(tmp_path, ORDINARY | {"points": GRADES * 10 + RNG.random(N), "stars": GRADES})
    assert "column 'points' alone predicts 'stars' nearly perfectly" in sentence
    assert "--ignore points" in sentence
    assert _cautions(tmp_path, ORDINARY | {"points": GRADES * 10, "stars": GRADES}, ignore=["points"]) == ()


@pytest.mark.parametrize("copy", [GRADES, GRADES * 2.5, np.array(["", "low", "fair", "good", "best"])[GRADES]])
def test_a_copy_of_the_target_is_refused(tmp_path: Path, copy: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^file must have no copy of 'stars' among its features, got 'twin', .*--ignore twin$"
    ):
        _cautions(tmp_path, ORDINARY | {"twin": copy, "stars": GRADES})


def test_ordinary_tables_are_left_in_peace(tmp_path: Path) -> None:
    # Ordinal answers on the scale of the target that agree with it, as in the benchmarks LEV and SWD.
    answers = {f"In{at}": np.digitize(QUALITY + RNG.normal(scale=1.0, size=N), [-1.0, 0.0, 1.0]) + 1 for at in range(4)}
    assert _cautions(tmp_path, answers | ORDINARY | {"Out1": GRADES}, "Out1") == ()
    counts = {
        "n_raters": RNG.integers(1, 5, N),
        "item_count": RNG.integers(200, size=N),
        "user_age": RNG.integers(80, size=N),
    }
    assert _cautions(tmp_path, counts | ORDINARY | {"stars": GRADES}) == ()
    two = (QUALITY > 0).astype(int)
    assert (
        _cautions(tmp_path, {"size": RNG.normal(size=N), "flag": two, "stars": (two + (RNG.random(N) < 0.2)) % 2}) == ()
    )


def test_columns_that_differ_between_the_grades_of_an_item_are_no_features(tmp_path: Path) -> None:
    columns = {
        "item": np.arange(N) // 4,
        "minute": np.arange(N) % 7,
        "size": QUALITY[np.arange(N) // 4],
        "stars": GRADES,
    }
    pl.DataFrame(columns).write_csv(tmp_path / "table.csv")
    table = graded_table(tmp_path / "table.csv", ColumnRoles("stars", item="item"))
    roles = {column.name: column.role for column in table.columns}
    assert roles == {"item": "id", "minute": "ignored", "size": "feature", "stars": "target"}
    assert table.items is not None
    assert table.items.tolist() == [str(at // 4) for at in range(N)]
    assert "column 'minute' is ignored: it differs between the grades of an item." in table.messages


def test_an_id_without_a_value_is_refused(tmp_path: Path) -> None:
    columns = ORDINARY | {"who": [None, *["a", "b", "c"] * 79, "a", "b"][:N], "stars": GRADES}
    with pytest.raises(
        ValueError, match=r"^group must have a value in every graded row, got a missing cell of 'who' in line 2"
    ):
        _cautions(tmp_path, columns, group="who")
    with pytest.raises(ValueError, match=r"^item must not name the target, got 'stars'$"):
        _cautions(tmp_path, ORDINARY | {"stars": GRADES}, item="stars")
