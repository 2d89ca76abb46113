"""Ratings from files: their order in the file says nothing, nor does the form of the table."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from app.ratings import RATERS, drawn, write_long, write_wide
from ordinoise.app.tables.ratings import RatingsTable, long_ratings, wide_ratings


def _shuffled(path: Path, seed: int) -> Path:
    head, *rows = path.read_text().splitlines()
    random.Random(seed).shuffle(rows)
    other = path.with_name(f"shuffled-{path.name}")
    other.write_text("\n".join([head, *rows]) + "\n")
    return other


def _same(one: RatingsTable, other: RatingsTable) -> None:
    assert one.items == other.items
    for name in ("of_item", "raters", "labels"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.cells.equals(other.cells)


def _plain(path: Path, names: list[str]) -> Path:
    """Grades of `drawn` with these names of the items, and a cell about each."""
    given = drawn(len(names))[2]
    rows = [
        f"{name},{rater.strip('=()<b>/')},{grade},about {name}"
        for name, grades in zip(names, given, strict=True)
        for rater, grade in zip(RATERS, grades, strict=True)
        if grade
    ]
    path.write_text("\n".join(["id,who,stars,about", *rows]) + "\n")
    return path


@pytest.mark.parametrize("rater", ["who", None])
def test_shuffled_rows_give_the_same_table(tmp_path: Path, rater: str | None) -> None:
    path = _plain(tmp_path / "long.csv", [f"{number}" for number in range(20)])
    one, other = (long_ratings(each, "id", rater, "stars") for each in (path, _shuffled(path, 1)))
    if rater is None:
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.items == other.items
    else:
        _same(one, other)


def test_items_are_in_the_order_of_numbers_and_then_of_text(tmp_path: Path) -> None:
    names = ["b", "10", "9.5", "nan", "a", "-2"]
    table = long_ratings(_plain(tmp_path / "long.csv", names), "id", "who", "stars")
    assert table.items == ("-2", "9.5", "10", "a", "b", "nan")
    assert table.cells["about"].to_list() == [f"about {name}" for name in table.items]


def test_a_wide_table_in_any_order_holds_what_the_long_one_does(tmp_path: Path) -> None:
    long = long_ratings(write_long(tmp_path / "long.csv"), "id", "who", "stars")
    path = write_wide(tmp_path / "wide.csv")
    for each in (path, _shuffled(path, 2)):
        wide = wide_ratings(each, RATERS, "id", None, is_named=True)
        assert wide.items == long.items
        for name in ("of_item", "raters", "labels"):
            np.testing.assert_array_equal(getattr(wide, name), getattr(long, name))
    assert wide.cells["size"].to_list() == wide_ratings(path, RATERS, "id", None, is_named=True).cells["size"].to_list()
