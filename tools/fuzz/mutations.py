"""Inputs made from whole ones: bytes changed, JSON entries replaced, tables drawn with odd cells."""

from __future__ import annotations

import copy
import csv
import io
import json
import struct
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import polars as pl

NESTED: Any = []
for _ in range(200):
    NESTED = [NESTED]
ODD_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**400, 2**63, -(2**63) - 1, 1e308, float("nan"), float("inf"), "", "a\nb", "7", [], {}, [[]],
    [None], [1, 1, 1], [[1, 2], [3]], [[[0.5]]], {"a": 1}, {"array": [1], "shape": [10**15], "dtype": "<f8"},
    {"array": [1], "shape": [1], "dtype": "O"}, {"array": [1, 1, 1], "shape": [3], "dtype": "<i8"}, {"tuple": 3},
    {"pairs": [[{"list": []}, 1]]}, {"estimator": "Noise", "parameters": {}}, {"noise": {}}, "\ud800", "x" * 5000, NESTED,
)  # fmt: skip
ODD_CELLS = (
    "", " ", "NA", "nan", "inf", "-inf", "1e400", "-0", "1,5", "1 000", "0x1F", "1_000", "2020-01-02", "2020-13-45",
    "12:30", "true", "é", "\u202e", "\ufeff", "\0", '"', '""', "a\nb", "a\r\nb", "=1+1", "-", "+", "@x", "'", "#", "\\",
    "x" * 3000, "9" * 400, "🐈", "null", "None", "1", "2", "3", "-1.5", "red", "low", "high",
)  # fmt: skip
NAMES = (
    "a",
    "b",
    "stars",
    "",
    " ",
    "a",
    "<b>",
    "predicted_stars",
    "row",
    "é",
    "x" * 400,
    "1",
    '"',
    "a\nb",
    "grade",
    "\0",
)
NUMBERS = tuple(
    struct.pack(form, value) for form in ("<i", ">i", "<q", ">q", "<h") for value in (0, 1, -1, 127, 255, 32767, -32768)
)


def changed_bytes(data: bytes, rng: Random, others: Sequence[bytes] = ()) -> bytes:
    """The bytes after one to eight random changes: bits, pieces, lengths, or a part of another input."""
    found = bytearray(data)
    for _ in range(1 + min(int(rng.expovariate(0.7)), 7)):
        at = rng.randrange(len(found) + 1)
        end = min(len(found), at + 1 + int(rng.expovariate(0.05)))
        kind = rng.randrange(8)
        if kind == 0 and at < len(found):
            found[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(found):
            found[at] = rng.randrange(256)
        elif kind == 2:
            del found[at:end]
        elif kind == 3:
            found[at:at] = found[at:end] * rng.choice((1, 2, 50))
        elif kind == 4:
            number = rng.choice(NUMBERS)
            found[at : at + len(number)] = number
        elif kind == 5:
            found[at:at] = rng.randbytes(rng.randrange(1, 20))
        elif kind == 6:
            del found[at:]
        elif others:
            other = rng.choice(others)
            begin = rng.randrange(len(other) + 1)
            found[at:end] = other[begin : begin + rng.randrange(1, 400)]
    return bytes(found)


def changed_json(whole: Any, rng: Random) -> Any:
    """The JSON with one to three entries deleted, replaced by odd values, or by other entries of it."""
    changed = copy.deepcopy(whole)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(changed))
        if not places:
            return rng.choice(ODD_VALUES)
        depth = rng.randint(1, max(map(len, places)))
        *path, key = rng.choice([path for path in places if len(path) == depth])
        holder = _at(changed, path)
        kind = rng.random()
        if kind < 0.2:
            del holder[key]
        elif kind < 0.3:
            holder[key] = copy.deepcopy(_at(whole, rng.choice(list(_places(whole)))))
        elif kind < 0.4 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD_VALUES))
    return changed


def _places(found: Any, path: tuple[Any, ...] = (), depth: int = 12) -> Iterator[tuple[Any, ...]]:
    """The path of every entry, down to a depth."""
    entries = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, value in entries:
        yield (*path, key)
        if depth:
            yield from _places(value, (*path, key), depth - 1)


def _at(found: Any, path: Sequence[Any]) -> Any:
    for step in path:
        found = found[step]
    return found


def json_bytes(value: Any) -> bytes:
    """The value as JSON, NaN and all."""
    return json.dumps(value).encode()


def drawn_csv(rng: Random) -> bytes:
    """Something like a table in text: any delimiter, line end, quoting and encoding."""
    width, delimiter = rng.randint(1, 5), rng.choice(",,,;\t|:")
    end = rng.choice(("\n", "\n", "\r\n", "\r"))
    rows = [[rng.choice(NAMES) for _ in range(width)]]
    pool = [rng.choice(ODD_CELLS) for _ in range(rng.randint(1, 6))] + ["1", "2", "3"]
    for _ in range(rng.randrange(30)):
        length = width if rng.random() < 0.97 else rng.randrange(7)
        rows.append([rng.choice(pool) for _ in range(length)])
    if rng.random() < 0.5:
        text = end.join(delimiter.join(row) for row in rows)
    else:
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=rng.choice((0, 1))).writerows(rows)
        text = out.getvalue()
    mark = rng.choice(("", "", "", "\ufeff"))
    return (mark + text).encode(rng.choice(("utf-8", "utf-8", "utf-8", "latin-1", "utf-16")), errors="replace")


CELLS = (
    "1,5", "1.5", "12,3", "1.234", "1.234,5", "1,234.5", "48,7 %", "k.A.", "n/a", "-", "", "03.05.2019", "3/5/2019", "13/05/2019",
    "12:30", "007", "5 kg", "<0,5", "Süd", "Nord", "łódź", "Summe", "Total:", "A", "B", "3", "4", "2019",
)  # fmt: skip
ABOVE = ("", "Titel", "Titel;;;", "sep=;", "# made by x", "Stand;03.05.2019", "a;b", ";;;", "Kredite, Mai")


def drawn_spreadsheet(rng: Random) -> bytes:
    """A table as a person's spreadsheet saves it: lines around it, any page, delimiter, line end and spelling."""
    width, delimiter, end = rng.randint(1, 5), rng.choice(";;,\t|"), rng.choice(("\n", "\r\n", "\r"))
    columns = [[rng.choice(CELLS) for _ in range(rng.randint(1, 4))] for _ in range(width)]
    rows = [[rng.choice(("Nr", "Größe", "Note", "stars", "", "x y", "2019")) for _ in range(width)]]
    rows += [[*(rng.choice(pool) for pool in columns)] for _ in range(rng.randrange(25))]
    above, below = ([rng.choice(ABOVE) for _ in range(rng.choice((0, 0, 1, 3)))] for _ in range(2))
    lines = [
        *above,
        *(delimiter.join(f'"{cell}"' if delimiter in cell else cell for cell in row) for row in rows),
        *below,
    ]
    encoding = rng.choice(("utf-8", "cp1252", "cp1250", "utf-16", "utf-16-le", "mac-roman", "cp850", "shift_jis"))
    return end.join([*lines, ""]).encode(encoding, errors="replace")


def drawn_lines(rng: Random) -> bytes:
    """Something like JSON lines: any values, keys that come and go, blank lines, encodings."""
    names = [rng.choice(NAMES) for _ in range(rng.randint(1, 4))]
    pool: list[Any] = [rng.choice((*ODD_VALUES, *ODD_CELLS)) for _ in range(rng.randint(1, 6))] + [1, 2.5, "x", None]
    lines = []
    for _ in range(rng.randrange(30)):
        row = {name: rng.choice(pool) for name in names if rng.random() < 0.95} | {"stars": rng.choice((1, 2, 3, None))}
        is_odd = rng.random() < 0.02
        lines.append(json.dumps(rng.choice(ODD_VALUES) if is_odd else row, ensure_ascii=rng.random() < 0.5))
    text = rng.choice(("\n", "\n", "\r\n", "\n\n")).join(lines) + rng.choice(("", "\n"))
    return text.encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-16")), errors="surrogatepass")


def drawn_frame(rng: Random) -> pl.DataFrame:
    """A table with columns of many types."""
    height = rng.choice((0, 1, 2, 5, 30))
    kinds = (
        pl.Int8, pl.Int64, pl.UInt64, pl.Float32, pl.Float64, pl.Boolean, pl.String, pl.Binary, pl.Date, pl.Time,
        pl.Datetime("us"), pl.Datetime("ns", "UTC"), pl.Duration, pl.Categorical, pl.List(pl.Int64), pl.Null,
        pl.Struct({"a": pl.Int64}), pl.Decimal(10, 2), pl.Array(pl.Float64, 2), pl.Enum(["low", "high"]),
    )  # fmt: skip
    columns = {}
    for _ in range(rng.randint(1, 5)):
        kind: Any = rng.choice(kinds)
        columns[rng.choice(NAMES)] = pl.Series([_value(kind, rng) for _ in range(height)], dtype=kind, strict=False)
    columns["stars"] = pl.Series([rng.choice((1, 2, 3, None)) for _ in range(height)], dtype=pl.Int64)
    return pl.DataFrame(columns)


def _value(kind: Any, rng: Random) -> Any:
    if rng.random() < 0.1 or kind == pl.Null:
        return None
    if kind.is_float():
        return rng.choice((0.0, -1.5, float("nan"), float("inf"), 1e-300, rng.random()))
    if kind.is_integer() or kind.is_temporal() or kind.is_decimal():
        return rng.choice((0, 1, 100, rng.randrange(120)))
    made = {
        pl.Boolean: rng.random() < 0.5, pl.String: rng.choice(ODD_CELLS), pl.Binary: rng.randbytes(3),
        pl.Categorical: rng.choice(ODD_CELLS), pl.List: [1, 2], pl.Struct: {"a": 1}, pl.Array: [0.5, 1.0],
        pl.Enum: rng.choice(("low", "high")),
    }  # fmt: skip
    return made[kind.base_type()]
