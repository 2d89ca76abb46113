"""JSON lines: a file with one JSON object per row, read into columns, and copied with every other byte kept."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import check_names
from ordinoise.app.tables.source import Source, as_file, check_size, head_of, kind_of, open_source

# Rows that are parsed before their cells move into columns, to bound the memory; a round number, chosen by no run.
CHUNK = 20_000
_GAP = re.compile(r"[ \t\r\n,]*")


class _Number(str):
    """A number as it is spelled in the file."""

    __slots__ = ()


class _Whole(_Number):
    __slots__ = ()


@dataclass
class _Column:
    """The cells of a key so far, as text, and the kinds of value among them."""

    kinds: set[str] = field(default_factory=set)
    chunks: list[pl.Series] = field(default_factory=list)
    pending: list[str | None] = field(default_factory=list)

    def fill(self, n_rows: int) -> None:
        """Missing cells up to a row of the chunk."""
        self.pending.extend([None] * (n_rows - len(self.pending)))

    def flush(self, n_rows: int) -> None:
        """Move the cells of a chunk of `n_rows` rows into polars."""
        self.fill(n_rows)
        self.chunks.append(pl.Series(self.pending, dtype=pl.String))
        self.pending = []


def is_lines(path: str | Path) -> bool:
    """Whether a file has one JSON object per line."""
    path = as_file(path)
    return kind_of(path, head_of(path)) == "json"


def read_lines(source: Source) -> tuple[pl.DataFrame, frozenset[str]]:
    """The table of a file of JSON lines, and the names of the columns that hold lists or objects.

    A column of numbers or flags has that type; a column of several kinds, or with lists or objects, is JSON text.
    """
    columns: dict[str, _Column] = {}
    most_rows = source.text.count(b"\n") + 1
    n_rows = n_pending = 0
    for number, line, found in _objects(source):
        for name, value in found.items():
            if name not in columns:
                columns[_whole_text(name, number)] = _Column(chunks=[_missing(n_rows)])
                check_size(source.path, most_rows, len(columns), len(source.text))
            column = columns[name]
            column.fill(n_pending)
            if value is None:
                column.pending.append(None)
                continue
            kind, text = _cell(line, name, value)
            column.pending.append(text if text.isascii() else _whole_text(text, number))
            column.kinds.add(kind)
        n_pending += 1
        if n_pending == CHUNK:
            _flush(columns, n_pending)
            n_rows, n_pending = n_rows + n_pending, 0
    _flush(columns, n_pending)
    check_names(list(columns))
    nested = frozenset(name for name, column in columns.items() if "nested" in column.kinds)
    return pl.DataFrame([_typed(name, column) for name, column in columns.items()]), nested


def _flush(columns: Mapping[str, _Column], n_rows: int) -> None:
    for column in columns.values():
        column.flush(n_rows)


def _missing(n_rows: int) -> pl.Series:
    return pl.Series([None], dtype=pl.String).new_from_index(0, n_rows)


def _objects(source: Source) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Number, text and object of every line that is not blank."""
    for number, raw in enumerate(io.BytesIO(source.text), start=1):
        if not raw.strip():
            continue
        try:
            line = raw.decode()
            found = _DECODER.decode(line)
        except _LineError as error:
            raise complain("file", error.rule, f"{error.got} on line {number}") from None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise complain("file", "hold one JSON object per line", f"something else on line {number}")
        yield number, line, found


class _LineError(Exception):
    def __init__(self, rule: str, got: str) -> None:
        super().__init__(rule, got)
        self.rule, self.got = rule, got


def _as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _LineError("name every key of an object once", f"{next(n for n in names if names.count(n) > 1)!r} twice")
    return found


def _as_finite(text: str) -> _Number:
    if (len(text) > 300 or "e" in text.lower()) and math.isinf(float(text)):
        raise _LineError("hold finite numbers", text[:40])
    return _Number(text)


def _as_constant(text: str) -> None:
    """NaN is missing; an infinity is refused."""
    if text != "NaN":
        raise _LineError("hold finite numbers", text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_as_object, parse_float=_as_finite, parse_int=_Whole, parse_constant=_as_constant
)


def _cell(line: str, name: str, value: Any) -> tuple[str, str]:
    """The kind of a value and its text."""
    if isinstance(value, bool):
        return "flag", "true" if value else "false"
    if isinstance(value, _Number):
        return ("whole" if isinstance(value, _Whole) else "decimal"), value
    if isinstance(value, str):
        return "text", value
    start, end = _spans(line)[name]
    return "nested", line[start:end]


def _whole_text(text: str, number: int) -> str:
    """The text, unless it has half a character, which JSON can spell and no file can hold."""
    try:
        return text.encode().decode()
    except UnicodeEncodeError:
        raise complain("file", "hold whole characters", f"half of one (\\ud800 to \\udfff) on line {number}") from None


def _spans(line: str) -> dict[str, tuple[int, int]]:
    """Where the value of every key begins and ends in the line of an object."""
    found: dict[str, tuple[int, int]] = {}
    at = _after_gap(line, line.index("{") + 1)
    while line[at] != "}":
        name, at = _DECODER.raw_decode(line, at)
        start = _after_gap(line, line.index(":", at) + 1)
        _, end = _DECODER.raw_decode(line, start)
        found[name] = (start, end)
        at = _after_gap(line, end)
    return found


def _after_gap(line: str, at: int) -> int:
    match = _GAP.match(line, at)
    assert match is not None  # the pattern fits anything
    return match.end()


def _typed(name: str, column: _Column) -> pl.Series:
    text = pl.concat(column.chunks).alias(name)
    if column.kinds == {"flag"}:
        return text == "true"
    numbers = text
    if column.kinds == {"whole"}:
        numbers = text.cast(pl.Int64, strict=False)
    elif column.kinds and column.kinds <= {"whole", "decimal"}:
        numbers = text.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == text.null_count() else text  # digits too long for a number stay text


def lines_with(path: Path, name: str, values: Mapping[int, Any]) -> Iterator[bytes]:
    """The lines of a file with other values under a key in some rows; every other byte is kept."""
    for row, (_, line, found) in enumerate(_objects(open_source(path))):
        if row in values:
            line = _line_with(line, found, name, values[row])
        yield line.encode()


def _line_with(line: str, found: Mapping[str, Any], name: str, value: Any) -> str:
    """The line of an object with another value under a key, which is added at the end if it is not there."""
    if name not in found:
        return _line_and(line, found, {name: value})
    start, end = _spans(line)[name]
    return line[:start] + _json(value) + line[end:]


def _line_and(line: str, found: Mapping[str, Any], added: Mapping[str, Any]) -> str:
    """The line of an object with more keys at its end."""
    keys = ", ".join(f"{_json(name)}: {_json(value)}" for name, value in added.items())
    at = line.rindex("}")
    return line[:at] + (", " if found else "") + keys + line[at:]


def lines_and(path: Path, added: pl.DataFrame) -> Iterator[bytes]:
    """The lines of a file with the columns of a table added as keys; every other byte is kept."""
    found = list(_objects(open_source(path)))
    if len(found) != added.height:
        raise complain("file", "stay the same while it is read", f"{len(found)} rows instead of {added.height}")
    for (_, line, old), new in zip(found, added.iter_rows(named=True), strict=True):
        yield _line_and(line, old, new).encode()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
