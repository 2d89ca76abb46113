"""Small files as people's programs write them, each with how it is to be read and what is to be said of it."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

ROWS = [("K1", "0,5", "Süd", "A"), ("K2", "1,25", "Nord", "B"), ("K3", "k.A.", "Süd", "A"), ("K4", "2,75", "West", "C")]
NAMES = ("Nr", "Quote", "Größe", "Note")


def lines(names: Sequence[str] = NAMES, rows: Sequence[Sequence[str]] = ROWS, delimiter: str = ";") -> str:
    """The table as text."""
    return "".join(delimiter.join(row) + "\n" for row in (names, *rows))


GERMAN = lines()
ENGLISH = "id,share,colour,grade\nK1,0.5,red,A\nK2,1.25,blue,B\nK3,,red,A\nK4,2.75,green,C\n"
POLISH = "Numer;Źródło;Ocena\n" + "1;żółty;dobra\n2;wąski;zła\n3;święty;dobra\n" * 3
RUSSIAN = "Номер;Город;Оценка\n" + "1;Москва;хорошо\n2;Петербург;плохо\n" * 3
COUNTS = "n,colour,stars\n" + "".join(f"{n},{'red' if n % 2 else 'blue'},{n % 3}\n" for n in range(1, 9))


@dataclass(frozen=True)
class Case:
    """A file, and how it is to be read."""

    content: bytes
    columns: tuple[str, ...]
    first: tuple[str | None, ...]
    last: tuple[str | None, ...]
    n_rows: int
    reading: dict[str, Any] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    careful: tuple[str, ...] = ()


def german(content: str | bytes, encoding: str = "utf-8", **more: Any) -> Case:
    """A file with the German table."""
    raw = content.encode(encoding) if isinstance(content, str) else content
    reading = {"delimiter": ";", "encoding": encoding} | more.pop("reading", {})
    return Case(raw, more.pop("columns", NAMES), ROWS[0], ROWS[-1], 4, reading, **more)


def english(content: str | bytes, **more: Any) -> Case:
    """A file with the English table."""
    raw = content.encode() if isinstance(content, str) else content
    names, first, last = ("id", "share", "colour", "grade"), ("K1", "0.5", "red", "A"), ("K4", "2.75", "green", "C")
    return Case(raw, more.pop("columns", names), first, last, 4, {"delimiter": ","} | more.pop("reading", {}), **more)


def counts(content: str, **more: Any) -> Case:
    """A file with the counted rows."""
    reading = {"delimiter": ","} | more.pop("reading", {})
    return Case(content.encode(), ("n", "colour", "stars"), ("1", "red", "1"), ("8", "blue", "2"), 8, reading, **more)


def titled(*above: str, below: str = "", text: str = GERMAN) -> str:
    """The table with lines above and below."""
    return "\n".join([*above, text]) + below


CASES = {
    # encodings
    "plain": english(ENGLISH, reading={"encoding": "utf-8", "header_row": 1}),
    "semicolons": german(GERMAN, said=("read as ; between cells",)),
    "windows-1252": german(GERMAN, "cp1252", said=("read as Windows-1252, ; between cells",)),
    "windows-1252 packed": german(gzip.compress(GERMAN.encode("cp1252")), reading={"encoding": "cp1252"}),
    "euro sign": german(GERMAN.replace("Quote", "Quote €"), "cp1252", columns=("Nr", "Quote €", "Größe", "Note")),
    "polish windows-1250": Case(
        POLISH.encode("cp1250"), ("Numer", "Źródło", "Ocena"), ("1", "żółty", "dobra"), ("3", "święty", "dobra"), 9,
        {"encoding": "cp1250"}, ("read as Windows-1250, ; between cells",),
    ),
    "russian windows-1251": Case(
        RUSSIAN.encode("cp1251"), ("Номер", "Город", "Оценка"), ("1", "Москва", "хорошо"),
        ("2", "Петербург", "плохо"), 6, {"encoding": "cp1251"},
    ),
    "mac roman": german(GERMAN, "mac-roman", said=("read as Mac Roman, ; between cells",)),
    "dos": german(GERMAN, "cp850", said=("read as DOS 850, ; between cells",)),
    "utf-8 with a mark": german(codecs.BOM_UTF8 + GERMAN.encode(), reading={"mark": True}),
    "utf-16 with a mark": german(
        codecs.BOM_UTF16_LE + GERMAN.encode("utf-16-le"), reading={"encoding": "utf-16-le", "mark": True},
        said=("read as UTF-16, ; between cells",),
    ),
    "utf-16 without a mark": german(GERMAN, "utf-16-le"),
    "utf-16 big without a mark": german(GERMAN, "utf-16-be"),
    # lines
    "windows line ends": german(GERMAN.replace("\n", "\r\n"), reading={"line_end": "\r\n"}),
    "old line ends": german(GERMAN.replace("\n", "\r"), reading={"line_end": "\r"}),
    "no last line end": german(GERMAN.rstrip("\n")),
    "blank lines": german("\n\n" + GERMAN.replace("K3", "\nK3") + "\n\n", reading={"header_row": 3, "rows_above": 0}),
    "line breaks in cells": Case(
        b'a;b\n"x\ny";1\nz;2\n"p\nq";3\n', ("a", "b"), ("x\ny", "1"), ("p\nq", "3"), 3, {"rows_below": 0}
    ),
    # delimiters
    "tabs": german(GERMAN.replace(";", "\t"), reading={"delimiter": "\t"}, said=("read as tabs between cells",)),
    "bars": german(GERMAN.replace(";", "|"), reading={"delimiter": "|"}),
    "decimal commas everywhere": Case(
        b"x;y\n1,5;2,5\n2,5;3,5\n0,5;1,5\n", ("x", "y"), ("1,5", "2,5"), ("0,5", "1,5"), 3, {"delimiter": ";"}
    ),
    "excel's first line": german(
        "sep=;\n" + GERMAN, reading={"header_row": 2, "rows_above": 1},
        said=("names in row 2 (1 row above is no part of the table)",),
    ),
    "excel's first line with another delimiter": german(
        "sep=|\r\n" + GERMAN.replace(";", "|"), reading={"header_row": 2, "delimiter": "|"}
    ),
    # above the names
    "bare title": german(titled("Kredite 2023", "Stand 03.05.2019", ""), reading={"header_row": 4, "rows_above": 2}),
    "padded title": german(titled("Kredite 2023;;;", ";;;"), reading={"header_row": 3, "rows_above": 2}),
    "title with commas": german(
        titled("Kredite, Stand Mai, intern", ""), "cp1252", reading={"header_row": 3, "rows_above": 1},
        said=("read as Windows-1252, ; between cells, decimal commas, names in row 3 (1 row above is no part of the table).",),
    ),
    "title above commas": english(titled("Loans", "", text=ENGLISH), reading={"header_row": 3, "rows_above": 1}),
    "pairs above": german(titled("Bericht;Mai", "Autor;Ada", ""), reading={"header_row": 4, "rows_above": 2}),
    "remarks": english(
        titled("# made by a program, version 2, on Monday, early", "# nothing else", text=ENGLISH),
        reading={"header_row": 3, "rows_above": 2},
    ),
    "names with years": Case(
        b"Report\n\nname;2019;2020;grade\n" + b"a;1;2;x\nb;3;4;y\n" * 3, ("name", "2019", "2020", "grade"),
        ("a", "1", "2", "x"), ("b", "3", "4", "y"), 6, {"header_row": 3},
    ),
    "numbers as names": Case(b"0,1,2\n5,6,x\n7,8,y\n", ("0", "1", "2"), ("5", "6", "x"), ("7", "8", "y"), 2),
    # below the rows
    "total after a blank line": counts(COUNTS + "\nTotal,36\n", reading={"rows_below": 1}),
    "two lines after a blank one": counts(
        COUNTS + "\nTotal,,9\nSource: a survey\n", reading={"rows_below": 2},
        said=("read as names in row 1 (2 rows below are no part of the table).",),
    ),
    "total at once": counts(
        COUNTS + "Total,36\n", reading={"rows_below": 1}, careful=("the last row ('Total 36') is not like the others",)
    ),
    "padded mean": counts(
        COUNTS + "Mean:,,1.1\n", reading={"rows_below": 1}, careful=("the last row ('Mean: 1.1') is not like the others",)
    ),
    "title and total": german(
        titled("Kredite", "", below="\nSumme;4,5\n"), "cp1252", reading={"header_row": 3, "rows_above": 1, "rows_below": 1},
        said=("names in row 3 (1 row above and 1 row below are no part of the table)",),
    ),
    "last rows with gaps are rows": Case(
        b"a,b,c,d\n" + b"1,2,3,4\n" * 6 + b"5,,,\n", ("a", "b", "c", "d"), ("1", "2", "3", "4"), ("5", None, None, None), 7,
        {"rows_below": 0},
    ),
    # names
    "a name twice": Case(
        b"a,b,a,a\n1,2,3,4\n5,6,7,8\n", ("a", "b", "a (2)", "a (3)"), ("1", "2", "3", "4"), ("5", "6", "7", "8"), 2, {},
        ("column C has the name of another one, 'a': it is called 'a (2)'.",),
    ),
    "a name twice whose number is taken": Case(
        b"a,a,a (2)\n1,2,3\n4,5,6\n", ("a", "a (3)", "a (2)"), ("1", "2", "3"), ("4", "5", "6"), 2
    ),
    "no name": Case(
        b"a,,c\n1,2,3\n4,5,6\n", ("a", "column B", "c"), ("1", "2", "3"), ("4", "5", "6"), 2, {},
        ("column B has no name: it is called 'column B'.",),
    ),
    "row numbers of pandas": Case(b",a\n0,1\n1,2\n", ("unnamed", "a"), ("0", "1"), ("1", "2"), 2),
    "delimiter after the names": german(GERMAN.replace("Note\n", "Note;\n")),
    "delimiter after all": german(
        GERMAN.replace("\n", ";\n"), said=("the last column has neither a name nor a cell, and is not read.",)
    ),
    "delimiter after rows": german(GERMAN.replace("\n", ";\n").replace("Note;\n", "Note\n")),
    "three empty columns": german(
        GERMAN.replace("\n", ";;;\n"), said=("the last 3 columns have neither a name nor a cell, and are not read.",)
    ),
    "cells below no name": Case(
        b"a,b,\n1,2,\n3,4,x\n5,6,\n", ("a", "b", "column C"), ("1", "2", None), ("5", "6", None), 3
    ),
}  # fmt: skip

REFUSED = {
    "utf-8 with one odd byte": (
        "a,b\nSüd,1\n".encode() + b"S\xfcd,2\n" + "Süd,3\n".encode(),
        "file must be text in UTF-8, got byte 0xfc on line 3 of .*; save it as UTF-8, or name its encoding with --enc",
    ),
    "japanese": (
        "名前,評価\n".encode("shift_jis") + "東京の店,良い\n大阪の店,悪い\n".encode("shift_jis") * 5,
        "file must be text in an encoding that can be recognized, got bytes that make no words in any of .*; name it with",
    ),
    "names twice, as data": (b"5,x,5\n1,2,3\n", "file must name every column differently, .*; if its first row is data,"),
    "one row too short": (b"a,b\n1,2\n\n3\n4,5\n", "file must have 2 fields per row, as its header, got 1 on line 4"),
    "one row too long": (
        titled("Kredite", "", text=GERMAN.replace("K3", "K3;K3")).encode(),
        "file must have 4 fields per row, as its header, got 5 on line 6",
    ),
    "many rows too short": (
        COUNTS.encode() + b"9,red\n" * 8, "file must have 3 fields per row, as its header, got 2 on line 10"
    ),
    "an old workbook": (b"\xd0\xcf\x11\xe0" + bytes(60), "file must be CSV, .*, got an old or protected Excel workbook"),
}  # fmt: skip
