"""JSON lines: what is read from them, what is refused, and copies that keep every other byte."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinoise.app.tables import (
    ColumnRoles,
    graded_table,
    is_lines,
    lines,
    lines_and,
    lines_with,
    read_stored,
    read_table,
    read_text,
    write_lines,
    write_table,
)

Put = Callable[..., Path]
CONTENT = """{"text": "so \\u00e4 {\\"}", "stars": 4, "price": 1.50, "new": true, "tags": [1, {"a": "}, \\"stars\\": 9"}]}

{ "stars" :\t1 ,"text":"bad", "id": 12345678901234567890123, "price": 2, "new": null}\r
{"stars": 3, "text": null, "tags": "none", "mixed": "x", "price": NaN}
{"mixed": 7}
"""


def test_every_column_has_its_type_and_nothing_is_lost(put: Put) -> None:
    found = read_table(put(CONTENT, "t.jsonl"))
    assert found.schema == {
        "text": pl.String, "stars": pl.Int64, "price": pl.Float64, "new": pl.Boolean, "tags": pl.String,
        "id": pl.String, "mixed": pl.String,
    }  # fmt: skip
    assert found.row(0) == ('so ä {"}', 4, 1.5, True, '[1, {"a": "}, \\"stars\\": 9"}]', None, None)
    assert found["price"].to_list() == [1.5, 2.0, None, None]
    assert found["id"].to_list() == [None, "12345678901234567890123", None, None]
    assert found["mixed"].to_list() == [None, None, "x", "7"]


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv", "t.json", "t.NDJSON", "t"])
@pytest.mark.parametrize("encode", [str.encode, lambda text: gzip.compress(text.encode("utf-16"))])
def test_the_first_line_or_the_suffix_tells(put: Put, name: str, encode: Callable[[str], bytes]) -> None:
    path = put(encode(CONTENT), name)
    assert is_lines(path)
    assert read_text(path).equals(read_text(put(CONTENT, "plain.jsonl")))


def test_the_rows_of_a_chunk_do_not_show(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(CONTENT, "t.jsonl")
    whole = read_stored(path)
    for size in (1, 2, 3):
        monkeypatch.setattr(lines, "CHUNK", size)
        assert read_stored(path).equals(whole)


def test_lists_and_objects_are_ignored_with_a_message(put: Put) -> None:
    rows = [{"x": i % 7, "stars": i % 3, "tags": ["a"] * (i % 2)} for i in range(30)]
    table = graded_table(put("\n".join(map(json.dumps, rows)), "t.jsonl"), ColumnRoles("stars"))
    assert table.messages == ("column 'tags' is ignored: its cells are lists or objects.",)
    assert table.features.columns == ["x"]


COMPLAINTS = {
    "array": ('[{"a": 1}]', "hold one JSON object per line, got something else on line 1"),
    "number": ('{"a": 1}\n7\n', "hold one JSON object per line, got something else on line 2"),
    "cut": ('{"a": 1}\n{"a": ', "hold one JSON object per line, got something else on line 2"),
    "two": ('{"a": 1} {"a": 2}', "hold one JSON object per line, got something else on line 1"),
    "deep": ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "hold one JSON object per line"),
    "twice": ('{"a": 1}\n{"b": 1, "b": 2}', "name every key of an object once, got 'b' twice on line 2"),
    "twice inside": ('{"a": {"b": 1, "b": 2}}', "name every key of an object once, got 'b' twice on line 1"),
    "infinite": ('{"a": -Infinity}', "hold finite numbers, got -Infinity on line 1"),
    "huge": ('{"a": 1e999}', "hold finite numbers, got 1e999 on line 1"),
    "half": ('{"a": "\\ud800"}', "hold whole characters, got half of one"),
    "half a name": ('{"\\ud800": 1}', "hold whole characters, got half of one"),
    "nameless": ('{"": 1}', "name every column, got an empty name for column 1"),
    "empty": ("{}\n{}\n", "hold rows, got only column names"),
    "broken utf-8": ('{"a": "ü"}\n'.encode() + b'{"a": "\xe9"}', "be text in UTF-8, got byte 0xe9 on line 2"),
}


@pytest.mark.parametrize("name", COMPLAINTS)
def test_what_is_no_table_gets_a_sentence(put: Put, name: str) -> None:
    content, sentence = COMPLAINTS[name]
    with pytest.raises(ValueError, match=f"^file must {sentence}"):
        read_table(put(content, "t.jsonl"))


def test_other_json_is_refused_with_advice(put: Put) -> None:
    with pytest.raises(ValueError, match=r"^file must hold one JSON object per line, .*; write every object on its"):
        read_table(put('[{"a": 1},\n{"a": 2}]', "t.json"))


def test_more_keys_than_columns_allowed_are_refused(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDINOISE_MAX_COLUMNS", "10")
    with pytest.raises(ValueError, match=r"^file must have at most 10 columns, got 11"):
        read_table(put("\n".join(f'{{"k{i}": 1}}' for i in range(20)), "t.jsonl"))
    monkeypatch.setenv("ORDINOISE_MAX_BYTES", "800")
    with pytest.raises(ValueError, match=r"^file must have at most 100 cells, got 50 rows of 3 columns"):
        read_table(put("\n".join(f'{{"k{i % 5}": 1}}' for i in range(50)), "t.jsonl"))


def test_a_changed_grade_is_all_that_changes(put: Put, tmp_path: Path) -> None:
    path = put(CONTENT, "t.jsonl")
    write_lines(lines_with(path, "stars", {0: 5, 1: 2}), tmp_path / "out.jsonl")
    expected = CONTENT.replace('"stars": 4', '"stars": 5').replace(":\t1 ,", ":\t2 ,").replace("\n\n", "\n")
    assert (tmp_path / "out.jsonl").read_bytes().decode() == expected


def test_new_keys_come_last_and_keep_the_rest(put: Put, tmp_path: Path) -> None:
    added = pl.DataFrame({"p": [0.25, 0.5], "grade": ['"low"', None]})
    write_lines(lines_and(put('{"a": 1.0}\n{ }\n', "t.jsonl"), added), tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == (
        '{"a": 1.0, "p": 0.25, "grade": "\\"low\\""}\n{ "p": 0.5, "grade": null}\n'
    )


VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
NESTED = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner))
NAMES = st.text(min_size=1, max_size=4).filter(str.strip)


@settings(max_examples=20)
@given(rows=st.lists(st.dictionaries(NAMES, NESTED, min_size=1), min_size=1, max_size=6), is_ascii=st.booleans())
def test_every_value_comes_back(tmp_path_factory: Any, rows: list[dict[str, Any]], is_ascii: bool) -> None:
    path = tmp_path_factory.mktemp("lines") / "t.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=is_ascii) for row in rows), encoding="utf-8")
    found = read_stored(path)
    assert found.height == len(rows)
    for row, cells in zip(rows, found.iter_rows(named=True), strict=True):
        assert {name for name, cell in cells.items() if cell is not None} == {
            name for name, value in row.items() if value not in (None, "")
        }
        assert all(_is_same(value, cells[name]) for name, value in row.items())


def _is_same(value: Any, cell: Any) -> bool:
    """Whether a cell holds a value, as such or as its JSON text."""
    if value in (None, ""):
        return cell is None
    if isinstance(cell, str) and not isinstance(value, str):
        cell = json.loads(cell)
    return bool(cell == value) or (isinstance(value, int) and math.isclose(cell, value))


def test_a_table_of_any_types_is_written_and_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": [0.5, math.nan], "c": [True, False], "d": ["é", "x\ny"]})
    write_table(frame.with_columns(e=pl.Series(["2024-01-31", None]).str.to_date()), tmp_path / "t.jsonl")
    assert read_table(tmp_path / "t.jsonl").rows() == [
        (1, 0.5, True, "é", pl.date_range(pl.date(2024, 1, 31), pl.date(2024, 1, 31), eager=True).item()),
        (None, None, False, "x\ny", None),
    ]
    with pytest.raises(ValueError, match=r"^out must end in .csv or .parquet to hold infinite numbers"):
        write_table(pl.DataFrame({"a": [math.inf]}), tmp_path / "u.jsonl")
