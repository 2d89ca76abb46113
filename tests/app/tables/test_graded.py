from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ordinoise.app.tables import (
    ColumnRoles,
    graded_table,
    grades_of,
    read_table,
    read_text,
    write_table,
)
from ordinoise.columns.features import features_of

Put = Callable[..., Path]
MIXED = """\
id,size,fresh,day,color,name,photo,stars
1,2.5,True,2024-01-01,red,n1,p1.png,3
2,,False,2024-01-03,green,n2,p2.png,
3,4.0,,,,n3,p3.png,1
4,1.0,True,2024-01-02,red,n4,p4.png,2
"""


@pytest.fixture
def mixed(put: Put) -> Path:
    """A file with one column of each kind and thirty more rows, so that names are many."""
    rows = [f"{i},1.5,True,2024-01-01,red,n{i},p{i}.png,3" for i in range(5, 35)]
    return put(MIXED + "\n".join(rows))


def test_a_file_is_understood_column_by_column(mixed: Path) -> None:
    table = graded_table(mixed, ColumnRoles("stars"))
    assert [(column.name, column.kind, column.role) for column in table.columns] == [
        ("id", "number", "ignored"),
        ("size", "number", "feature"),
        ("fresh", "flag", "feature"),
        ("day", "date", "feature"),
        ("color", "category", "feature"),
        ("name", "text", "ignored"),
        ("photo", "image", "ignored"),
        ("stars", "number", "target"),
    ]
    assert [column.n_missing for column in table.columns] == [0, 1, 1, 1, 1, 0, 0, 1]
    assert table.classes == (1, 2, 3)
    assert table.frame.equals(read_table(mixed))
    assert (table.path, table.target) == (mixed, "stars")


def test_a_named_column_of_pictures_is_one_whatever_its_cells_look_like(mixed: Path) -> None:
    found = {
        column.name: column for column in graded_table(mixed, ColumnRoles("stars", image=["name", "size"])).columns
    }
    for name in ("name", "size", "photo"):
        assert (found[name].kind, found[name].role, found[name].note) == ("image", "ignored", "it names pictures")
    with pytest.raises(ValueError, match="image must name columns with no other use, got 'color'"):
        graded_table(mixed, ColumnRoles("stars", image=["color"], ignore=["color"]))
    with pytest.raises(ValueError, match="image must name columns with no other use, got 'name'"):
        graded_table(mixed, ColumnRoles("stars", image=["name"], text=["name"]))


def test_features_and_labels_are_those_of_the_graded_rows(mixed: Path) -> None:
    table = graded_table(mixed, ColumnRoles("stars"))
    assert table.rows.tolist() == [0, *range(2, 34)]
    assert table.labels.tolist()[:3] == [3, 1, 2]
    assert len(table.labels) == table.features.height == 33
    assert table.features.rows()[:2] == [(2.5, 1.0, 19723.0, "red"), (4.0, None, None, None)]


def test_words_say_what_was_done(mixed: Path) -> None:
    assert graded_table(mixed, ColumnRoles("stars")).messages == (
        "1 row without a grade is ignored.",
        "column 'id' is ignored: it counts the rows.",
        "column 'day' is a feature: days since 1970-01-01 stand for it.",
        "column 'name' is ignored: 34 different values in 34 rows, names or identifiers.",
        "column 'photo' is ignored: it names pictures.",
    )


def test_there_are_no_messages_where_nothing_was_done(put: Put) -> None:
    assert graded_table(put("x,y\n5,1\n6,2\n"), ColumnRoles("y")).messages == ()
    assert graded_table(put("x,y\n5,1\n6,2\n7,\n8,NA\n"), ColumnRoles("y")).messages == (
        "2 rows without a grade are ignored.",
    )


def test_ignored_columns_are_no_features_whatever_is_wrong_with_them(put: Put) -> None:
    table = graded_table(put("bad,empty,x,y\ninf,,1,1\n1,,2,2\n"), ColumnRoles("y", ignore=["empty", "bad"]))
    assert table.features.columns == ["x"]
    assert table.messages == ("column 'bad' is ignored: as requested.", "column 'empty' is ignored: as requested.")


def test_cells_of_any_row_are_shown_as_text(mixed: Path) -> None:
    cells = graded_table(mixed, ColumnRoles("stars")).text_cells(np.array([2, 1]))
    assert cells == [
        ("3", "4.0", None, None, None, "n3", "p3.png", "1"),
        ("2", None, "false", "2024-01-03", "green", "n2", "p2.png", None),
    ]


def test_no_rows_have_no_cells(mixed: Path) -> None:
    assert graded_table(mixed, ColumnRoles("stars")).text_cells([]) == []


def test_a_text_target_takes_the_order_given(put: Put) -> None:
    table = graded_table(put("x,y\n1,low\n3,high\n2,low\n"), ColumnRoles("y", order=["low", "mid", "high"]))
    assert table.classes == ("low", "mid", "high")
    assert table.labels.tolist() == ["low", "high", "low"]


def test_the_same_file_read_as_another_gives_the_same_features_and_grades(mixed: Path) -> None:
    table = graded_table(mixed, ColumnRoles("stars"))
    frame = read_table(mixed)
    labels, rows = grades_of(frame, "stars", table.classes)
    assert features_of(frame[rows], table.columns).equals(table.features)
    assert labels.tolist() == table.labels.tolist()


@pytest.mark.parametrize("read", [read_table, read_text])
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("order", [None, "3,2,1"])
def test_a_csv_file_and_its_twins_give_the_same_findings_features_and_labels(
    mixed: Path, suffix: str, read: Callable[[Path], pl.DataFrame], order: str | None
) -> None:
    """Whether the twin holds values with types or, as a table of strings, the text of the cells."""
    write_table(read(mixed), mixed.with_suffix(suffix))
    table, twin = (graded_table(path, ColumnRoles("stars", order=order)) for path in (mixed, mixed.with_suffix(suffix)))
    assert [replace(one, spelling=None) for one in twin.columns] == [
        replace(one, spelling=None) for one in table.columns
    ]
    assert (twin.classes, twin.messages, twin.categories) == (table.classes, table.messages, table.categories)
    assert twin.features.equals(table.features)
    assert twin.labels.tolist() == table.labels.tolist()
    assert twin.rows.tolist() == table.rows.tolist()
    assert twin.text_cells([0, 1]) == table.text_cells([0, 1])
    assert twin.digest != table.digest


def test_names_that_look_like_patterns_are_names(put: Put) -> None:
    table = graded_table(put("^.*$,*,^y$\n1,a,1\n3,b,2\n"), ColumnRoles("^y$"))
    assert table.features.rows(named=True) == [{"^.*$": 1.0, "*": "a"}, {"^.*$": 3.0, "*": "b"}]
    assert table.text_cells([1]) == [("3", "b", "2")]


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "no order": ("x,y\n1,gold\n2,silver\n", {}, "order must list the grades from lowest to highest"),
    "constant": ("x,y\n1,1\n2,1\n", {}, "target must have at least two grades, got 1 in every row of 'y'"),
    "absent": ("x,yy\n1,1\n2,2\n", {}, r"target must name a column of the file, got 'y'; did you mean 'yy'\?"),
    "empty feature": (
        "x,z,y\n1,,1\n2,NA,2\n",
        {},
        "file must have a value in every feature, got only missing cells in column 'z'; --ignore z skips it",
    ),
    "empty where graded": ("x,z,y\n1,,1\n2,,2\n3,5,\n4,,\n", {}, "file must have a value in every feature"),
    "infinite": ("x,y\n1,1\ninf,2\n", {}, "file must hold finite numbers, got inf in column 'x', line 3"),
    "infinite where ungraded": ("x,y\n1,1\n2,2\n-inf,\n", {}, "file must hold finite numbers, got -inf .* line 4"),
    "no feature": (
        "y\n1\n2\n",
        {},
        r"file must have a column to learn from, got none besides the target \(no other column\)",
    ),
    "all ignored": (
        "x,y\n1,1\n2,2\n",
        {"ignore": ["x"]},
        r"file must have a column to learn from, got .* \('x': as requested\)",
    ),
    "ignored absent": (
        "xs,y\n1,1\n2,2\n",
        {"ignore": ["x"]},
        r"ignore must name a column .*, got 'x'; did you mean 'xs'\?",
    ),
    "ignored target": ("x,y\n1,1\n2,2\n", {"ignore": ["y"]}, "ignore must not name the target, got 'y'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_that_cannot_be_learnt_from_gets_a_sentence(put: Put, name: str) -> None:
    content, arguments, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=f"^{sentence}"):
        graded_table(put(content), ColumnRoles("y", **arguments))


def test_parquet_columns_of_any_type_are_understood(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "c": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
            "small": pl.Series([1, None, 3], dtype=pl.UInt8),
            "list": [[1], None, [2]],
            "y": pl.Series([1.0, float("nan"), 2.0], dtype=pl.Float32),
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    table = graded_table(tmp_path / "t.parquet", ColumnRoles("y"))
    assert table.classes == (1, 2)
    assert table.features.rows() == [("a", 1.0), ("a", 3.0)]
    assert table.text_cells([0]) == [("a", "1", "[1]", "1.0")]
    assert table.messages[1] == "column 'list' is ignored: its type is List."


def test_a_parquet_column_of_nothing_is_refused_as_in_csv(tmp_path: Path) -> None:
    pl.DataFrame({"x": [1, 2], "z": [None, None], "y": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"only missing cells in column 'z'; --ignore z skips it$"):
        graded_table(tmp_path / "t.parquet", ColumnRoles("y"))
