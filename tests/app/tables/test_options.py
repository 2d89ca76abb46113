"""What a person says of the reading of a file: kinds of columns, lists with commas, options that do not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordinoise.app.records.model import Task
from ordinoise.app.tables import ColumnRoles, GradedTable, graded_table, write_table
from ordinoise.app.tables.ratings import wide_ratings
from ordinoise.app.tables.reader import read_opened
from ordinoise.app.tables.reading import Reading
from ordinoise.app.verbs.request import GradedFile, JudgeRequest, PredictionRequest, RatingsRequest, Request
from ordinoise.columns.names import spread

Put = Callable[..., Path]
TEXT = "n,a,b,code,when,x,stars\n" + "".join(
    f"{row},{row / 8},{'red' if row % 3 else 'blue'},{10 + row % 7},0{1 + row % 9}/0{1 + row % 7}/2020,{'u' * (row % 5)},{row % 3}\n"
    for row in range(40)
)


def _table(path: Path, **options: object) -> GradedTable:
    request = Request(path, target="stars", **options)  # type: ignore[arg-type]
    return graded_table(path, request.roles, asked=request.reading)


def _kinds(table: GradedTable) -> dict[str, tuple[str, str]]:
    return {one.name: (one.kind, one.role) for one in table.columns}


def test_a_kind_that_is_asked_for_is_used(put: Put) -> None:
    path = put(TEXT)
    assert _kinds(_table(path))["code"] == ("number", "feature")
    kinds = _kinds(_table(path, as_=("code=category,n=number", "a=ignored", "b=id", "x=text")))
    assert kinds["code"] == ("category", "feature")
    assert kinds["n"] == ("number", "feature")  # it counts the rows
    assert kinds["a"][1] == kinds["b"][1] == "ignored"
    assert kinds["x"] == ("text", "feature")


def test_numbers_that_are_asked_for_leave_the_rest_missing(put: Put) -> None:
    cells = [str(row / 4) if row % 5 < 2 else f"word {row}" for row in range(40)]
    path = put("x,y,stars\n" + "".join(f"{cell},{row % 7},{row % 3}\n" for row, cell in enumerate(cells)))
    assert _kinds(_table(path))["x"] == ("text", "ignored")
    table = _table(path, as_=("x=number",))
    assert _kinds(table)["x"] == ("number", "feature")
    assert table.features["x"].null_count() == 24
    with pytest.raises(
        ValueError, match="as must name a kind that a column can have, got y=date, where no cell is a date"
    ):
        _table(path, as_=("y=date",))


@pytest.mark.parametrize(
    ("entry", "advice"),
    [("a", ""), ("a=", ""), ("a=numbr", "; did you mean 'number'[?]"), ("a=number,b", ""), ("=text", "")],
)
def test_another_entry_than_a_column_and_its_kind_is_refused(put: Put, entry: str, advice: str) -> None:
    with pytest.raises(
        ValueError, match=f"^as must name a column and its kind, such as age=number; .*, got '{entry}'{advice}"
    ):
        _table(put(TEXT), as_=(entry,))


def test_a_column_of_a_kind_must_exist_and_have_no_other_use(put: Put) -> None:
    path = put(TEXT)
    with pytest.raises(ValueError, match=r"^as must name a column of the file, got 'cod'; did you mean 'code'"):
        _table(path, as_=("cod=number",))
    with pytest.raises(ValueError, match=r"^as must name columns with no other use, got 'stars'"):
        _table(path, as_=("stars=number",))
    with pytest.raises(ValueError, match=r"^as must name columns with no other use, got 'a'"):
        _table(path, as_=("a=number",), item="a")


@pytest.mark.parametrize("given", [("a,b",), ("a", "b"), ("a, b",), ("b", "a,code")])
def test_columns_are_listed_with_commas_or_one_by_one(put: Put, given: tuple[str, ...]) -> None:
    left_out = {name for name, (_, role) in _kinds(_table(put(TEXT), ignore=given)).items() if role == "ignored"}
    assert left_out - {"n"} == {part.strip() for entry in given for part in entry.split(",")}


def test_a_name_with_commas_is_found_whole() -> None:
    columns = ["a", "b", "x, y", "p,q,r", "q"]
    assert spread(["x, y"], columns) == ["x, y"]
    assert spread(["a,x, y,b"], columns) == ["a", "x, y", "b"]
    assert spread(["p,q,r,q"], columns) == ["p,q,r", "q"]
    assert spread(["no,a", "nor this"], columns) == ["no", "a", "nor this"]


def test_a_column_whose_name_has_a_comma_can_be_named(put: Put) -> None:
    path = put('"size, cm",b,stars\n' + "".join(f"{row / 3},{row % 4},{row % 3}\n" for row in range(30)))
    assert _kinds(_table(path, ignore=("size, cm",)))["size, cm"][1] == "ignored"
    assert _kinds(_table(path, text=("size, cm",)))["size, cm"] == ("text", "feature")
    assert _kinds(_table(path, as_=("size, cm=category",)))["size, cm"] == ("category", "feature")


@pytest.mark.parametrize("kind", [GradedFile, Request, PredictionRequest, RatingsRequest, JudgeRequest])
def test_every_verb_that_reads_a_table_can_be_told_how(kind: Any) -> None:
    names = ("file", "target", "model", "judge", "human")
    needed = {name: Path("t.csv") for name in names if name in kind.__dataclass_fields__}
    options = {
        "encoding": "cp1250",
        "header_row": 3,
        "sheet": "s",
        "decimal": ",",
        "dates": "dmy",
        "missing": ("x, y", "z"),
    }
    assert kind(**needed, **options).reading == Reading(
        encoding="cp1250", header_row=3, sheet="s", decimal=",", dates="dmy", missing=("x", "y", "z")
    )
    assert kind(**needed).reading == Reading()
    for wrong in ({"decimal": "x"}, {"dates": "ymd"}, {"header_row": 0}, {"header_row": 1, "no_header": True}):
        with pytest.raises(ValueError, match=f"^{next(iter(wrong)).replace('_', '-')} must "):
            _ = kind(**needed, **wrong).reading


def test_options_that_a_format_cannot_follow_are_refused(put: Put, tmp_path: Path) -> None:
    path = put("a,b\n1,2\n")
    frame = read_opened(path).frame
    for suffix, options in (
        (".csv", {"sheet": "s"}),
        (".parquet", {"sheet": "s"}),
        (".parquet", {"header_row": 1}),
        (".jsonl", {"header_row": 1}),
        (".jsonl", {"has_header": False}),
    ):
        copy = tmp_path / f"copy{suffix}"
        if not copy.exists():
            write_table(frame, copy)
        with pytest.raises(ValueError, match=r"^(sheet|header-row|no-header) must be used with .*; leave it out$"):
            read_opened(copy, asked=Reading(**options))


def test_options_are_stored_and_come_back() -> None:
    request = Request(Path("t.csv"), target="s", decimal=",", missing=("x",), as_=("a=number",), ignore=("b",))
    again = Request.of_settings(request.settings(), file="t.csv", target="s")
    assert again == request
    assert request.words() == ("--decimal", ",", "--missing", "x", "--as", "a=number", "--ignore", "b")
    assert Task("s", ()).reading == Reading()


def test_roles_keep_what_options_say() -> None:
    roles = ColumnRoles.of(["a=text,b=image", "c=ignored", "d=date"], target="t", text=("e",))
    assert (roles.text, roles.image, roles.ignore, roles.kinds) == (("e", "a"), ("b",), ("c",), {"d": "date"})


def test_columns_of_raters_and_people_may_have_commas_in_their_names(put: Put) -> None:
    rows = "".join(f"i{row},{row % 3},{(row + row % 2) % 3}\n" for row in range(30))
    path = put('item,"Ann, MD",Ben\n' + rows)
    for wide in (["Ann, MD,Ben"], ["Ann, MD", "Ben"]):
        table = wide_ratings(path, wide, "item", None, is_named=True)
        assert table.raters is not None
        assert set(table.raters.tolist()) == {"Ann, MD", "Ben"}
    with pytest.raises(
        ValueError, match=r"^wide must name two different columns or more, with commas between, got Ben$"
    ):
        wide_ratings(path, ["Ben"], "item", None, is_named=True)
