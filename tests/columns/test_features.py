from __future__ import annotations

import datetime
import json
from dataclasses import asdict
from typing import Any

import polars as pl
import pytest

from ordinoise.columns.features import features_of, findings_of, kind_of_column
from ordinoise.columns.findings import ColumnFindings

DAYS = [datetime.date(1970, 1, 2), datetime.date(2024, 1, 31), None]
NOON = datetime.datetime(1970, 1, 2, 12)


def feature(kind: str, name: str = "x") -> ColumnFindings:
    return ColumnFindings(name, kind, "feature", 0, 2)


def only_feature(cells: list[Any], kind: str) -> list[Any]:
    return features_of(pl.DataFrame({"x": cells}, strict=False), [feature(kind)]).get_column("x").to_list()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, None], "number"),
        ([1.5, 2.5], "number"),
        ([True, None], "flag"),
        (DAYS, "date"),
        ([NOON], "date"),
        (["a", "b", None], "category"),
        (["a/1.png", "b.JPEG", None, "c.webp", "d.gif", "e.jpg"], "image"),
        (["a.png", "b"], "category"),
        ([f"t{i}" for i in range(21)], "text"),
        ([f"t{i}" for i in range(20)], "category"),
        ([f"t{i}" for i in range(30)] * 5, "category"),
        ([f"t{i}" for i in range(1001)] * 6, "text"),
        ([[1], [2]], "text"),
        ([datetime.timedelta(days=1)], "text"),
    ],
)
def test_the_kind_of_a_column_is_found(cells: list[Any], kind: str) -> None:
    assert kind_of_column(pl.Series(cells).alias("^x$")) == kind


def test_a_declared_category_may_have_many_values() -> None:
    cells = pl.Series([f"t{i}" for i in range(1001)])
    assert kind_of_column(cells[:1000].cast(pl.Categorical)) == "category"
    assert kind_of_column(cells.cast(pl.Categorical)) == "text"


def test_findings_count_what_is_missing_and_different_and_survive_json() -> None:
    found = findings_of(pl.Series("^x$", [3, 3, None, 5]), "feature")
    assert found == ColumnFindings("^x$", "number", "feature", 1, 2, "")
    assert ColumnFindings(**json.loads(json.dumps(asdict(found)))) == found


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        ([f"t{i}" for i in range(30)], "30 different values in 30 rows, names or identifiers"),
        (["a.png", "b.png"], "it names pictures"),
        ([[1], [2]], "its type is List"),
    ],
)
def test_text_pictures_and_lists_are_ignored_with_a_reason(cells: list[Any], note: str) -> None:
    found = findings_of(pl.Series("x", cells), "feature")
    assert (found.role, found.note) == ("ignored", note)


@pytest.mark.parametrize("cell", ["it was not so good {}", "{} 商品は良い", "très bon {} produit"])
def test_sentences_are_a_feature_of_free_text(cell: str) -> None:
    found = findings_of(pl.Series("a", [cell.format(i) for i in range(30)]), "feature")
    assert (found.kind, found.role) == ("text", "feature")


def test_any_column_is_free_text_on_request() -> None:
    found = findings_of(pl.Series("a", ["x", "y", "x"]), "text")
    assert (found.kind, found.role) == ("text", "feature")


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_that_counts_the_rows_is_ignored(first: int) -> None:
    found = findings_of(pl.Series("id", range(first, first + 20)), "feature")
    assert (found.role, found.note) == ("ignored", "it counts the rows")


@pytest.mark.parametrize(
    "cells",
    [
        [*range(2, 30)],
        [*range(19), 20],
        [float(i) for i in range(20)],
        [*range(19)],
        [*range(20), None],
        [*range(20, 0, -1)],
    ],
    ids=["from two", "a gap", "no whole numbers", "few", "a hole", "downwards"],
)
def test_other_columns_are_not_taken_for_row_numbers(cells: list[Any]) -> None:
    assert findings_of(pl.Series("id", cells), "feature").note == ""


def test_a_column_of_one_value_is_remarked_upon() -> None:
    assert findings_of(pl.Series("x", [7, 7]), "feature").note == "the same value in every row"
    assert findings_of(pl.Series("x", [7, None]), "feature").note == ""


@pytest.mark.parametrize(
    ("cells", "kind", "expected"),
    [
        ([1, None], "number", [1.0, None]),
        (["1", " 2.5", "NA"], "number", [1.0, 2.5, None]),
        (pl.Series(["1", "2"], dtype=pl.Categorical), "number", [1.0, 2.0]),
        ([float("nan"), 2.0], "number", [None, 2.0]),
        ([True, None, False], "flag", [1.0, None, 0.0]),
        ([0, 1], "flag", [0.0, 1.0]),
        (["TRUE", "false"], "flag", [1.0, 0.0]),
        (DAYS, "date", [1.0, 19753.0, None]),
        ([NOON], "date", [1.5]),
        ([NOON.replace(tzinfo=datetime.UTC)], "date", [1.5]),
        (["1970-01-02", None], "date", [1.0, None]),
        (["a", None], "category", ["a", None]),
        ([1, 2], "category", ["1", "2"]),
        ([None, None], "number", [None, None]),
        ([None, None], "category", [None, None]),
    ],
)
def test_a_column_becomes_numbers_or_categories(cells: list[Any], kind: str, expected: list[Any]) -> None:
    assert only_feature(cells, kind) == expected


@pytest.mark.parametrize("kind", ["number", "flag", "date", "category"])
def test_types_do_not_depend_on_whether_there_are_values(kind: str) -> None:
    frame = pl.DataFrame({"x": [None, None]})
    assert features_of(frame, [feature(kind)]).dtypes == [pl.String if kind == "category" else pl.Float64]


def test_columns_are_found_by_name_in_any_order_among_others() -> None:
    frame = pl.DataFrame({"^c$": ["u"], "extra": [1], "*": [2], "target": [3], "skipped": ["s"]})
    columns = [
        feature("number", "*"),
        ColumnFindings("target", "number", "target", 0, 2),
        ColumnFindings("skipped", "text", "ignored", 0, 2),
        feature("category", "^c$"),
    ]
    assert features_of(frame, columns).rows(named=True) == [{"*": 2.0, "^c$": "u"}]


@pytest.mark.parametrize(
    ("cells", "kind", "sentence"),
    [
        (
            [None, "1", "two"],
            "number",
            r"column 'x' must hold numbers, as when the model was made, got 'two' in row 2; rows are",
        ),
        ([True], "number", r"column 'x' must hold numbers, .*, got 'true' in row 0;"),
        ([0, 2], "flag", r"column 'x' must hold true and false, .*, got '2' in row 1;"),
        (["true", "perhaps"], "flag", r"column 'x' must hold true and false, .*, got 'perhaps' in row 1;"),
        (["2024-01-31", "soon"], "date", r"column 'x' must hold dates, .*, got 'soon' in row 1;"),
        (
            [1.0, float("-inf")],
            "number",
            r"file must hold finite numbers, got -inf in column 'x', row 1; rows are numbered from 0",
        ),
        (["1", "inf"], "number", r"file must hold finite numbers, got inf in column 'x', row 1"),
    ],
)
def test_a_column_that_came_as_something_else_gets_a_sentence(cells: list[Any], kind: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        only_feature(cells, kind)


def test_a_stray_word_is_found_far_below_the_first_rows() -> None:
    cells = ["1"] * 150_000 + ["here", "there"] * 25_000
    with pytest.raises(ValueError, match=r"got 'here' in row 150000; rows"):
        only_feature(cells, "number")


def test_an_absent_column_gets_a_sentence_with_the_nearest_name() -> None:
    sentence = r"^file must have the column 'x_1', got none of that name; "
    with pytest.raises(ValueError, match=sentence + r"did you mean 'X_1'\?$"):
        features_of(pl.DataFrame({"y": [1], "X_1": [1]}), [feature("number", "x_1")])
    with pytest.raises(ValueError, match=sentence + "its columns are 'y'$"):
        features_of(pl.DataFrame({"y": [1]}), [feature("number", "x_1")])
