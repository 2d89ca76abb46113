"""Every rule on the spelling of columns, as cells, what they become and what is said."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

from ordinoise.columns.findings import SpelledColumn, Spelling, SpellingHints
from ordinoise.columns.spelling import spelled_table, typed

DAY = datetime.date


@dataclass(frozen=True)
class Case:
    cells: list[str | None]
    read: list[Any]
    kind: str = "number"
    said: tuple[str, ...] = ()
    careful: tuple[str, ...] = ()
    decimal: str = ""
    unit: str = ""


WORDS = ["one", "two", "three", "four", "five"]
CASES = {
    "a decimal comma": Case(["0,631", "5,2", "1.299,99"], [0.631, 5.2, 1299.99], decimal=","),
    "points as groups": Case(["1.234.567", "1.234", "12"], [1234567, 1234, 12], decimal=","),
    "commas as groups": Case(["1,234.50", "12", "1,234"], [1234.5, 12.0, 1234.0], decimal="."),
    "apostrophes as groups": Case(["1'234.5", "1\u2019234.5", "2.5"], [1234.5, 1234.5, 2.5], decimal="."),
    "blanks as groups": Case(["1 234,5", "1\u00a0234,5", "1\u202f234,5"], [1234.5] * 3, decimal=","),
    "whole numbers in groups of blanks": Case(["1 234", "12 345 678", "5"], [1234, 12345678, 5]),
    "a minus of typographers": Case(["\u22125", "+3", "1"], [-5, 3, 1]),
    "an exponent": Case(["1,5E-3", "2,5e2", "1"], [0.0015, 250.0, 1.0], decimal=","),
    "percent": Case(["48,7 %", "87,6%", "3 %"], [0.487, 0.876, 0.03], kind="percent", decimal=","),
    "percent in some": Case(["48 %", "50", "60 %", "7", "8"], ["48 %", "50", "60 %", "7", "8"], kind="category", said=(
        "'x' holds numbers in 60% of its cells; --as x=number reads the rest as missing",)),
    "a currency before": Case(["\u20ac 12.30", "\u20ac5", "-\u20ac5"], [12.3, 5.0, -5.0], decimal=".", unit="EUR",
                              said=("EUR is left out of 'x'",)),
    "a currency after": Case(["12,30 EUR", "5 \u20ac", "7"], [12.3, 5.0, 7.0], decimal=",", unit="EUR",
                             said=("EUR is left out of 'x'",)),
    "two currencies": Case(["\u20ac 5", "$ 6", "\u20ac 7"], ["\u20ac 5", "$ 6", "\u20ac 7"], kind="category",
                           said=("'x' has several units (EUR, USD)",)),
    "a unit": Case(["5 kg", "7,5 kg", "8 kg"], [5.0, 7.5, 8.0], decimal=",", unit="kg", said=("kg is left out of 'x'",)),
    "letters of houses": Case([f"{n}{c}" for n, c in enumerate("abcde")], [f"{n}{c}" for n, c in enumerate("abcde")],
                              kind="category"),
    "bounds": Case(["<0,5", ">100", "1,5", "2", "3", "3+"], [0.5, 100.0, 1.5, 2.0, 3.0, 3.0], decimal=",", said=(
        "'3+' and 2 more in 3 rows of 'x' read as 3.0, ...",)),
    "bounds alone": Case(["<5", ">5", "<5"], ["<5", ">5", "<5"], kind="category", said=(
        "'x' holds mostly bounds such as '<5'",)),
    "both marks": Case(["0.5", "0,5"] * 2, ["0.5", "0,5"] * 2, kind="category", said=(
        "'x' has decimal points (2) and commas (2)",)),
    "nine tenths in one mark": Case([*["0,5"] * 10, "0.5"], [*[0.5] * 10, None], decimal=",", careful=(
        "1 cell of 'x' is no number ('0.5'), read as missing",)),
    "words for gaps": Case(["1", "k.A.", "#NV", "-", "n.a.", "unbekannt", "S/D", "brak"], [1, *[None] * 7], said=(
        "'#NV', '-', 'S/D' and 4 more in 7 rows of 'x' read as missing",)),
    "gaps among words": Case(["u", "k.A.", "v", "-"], ["u", "k.A.", "v", "-"], kind="category"),
    "few other words": Case([*map(str, range(18)), "ca. drei\u00dfig", "x"], [*range(18), None, None], careful=(
        "2 cells of 'x' are no numbers ('ca. drei\u00dfig', 'x'), read as missing",)),
    "many numbers": Case([*map(str, range(30)), *WORDS], [*map(str, range(30)), *WORDS], kind="text", careful=(
        "'x' is not used: it holds numbers in 86% of its cells; --as x=number reads the rest as missing",)),
    "too many words": Case([*map(str, range(300)), *(f"no {n}" for n in range(25))],
                           [*map(str, range(300)), *(f"no {n}" for n in range(25))], kind="text", careful=(
        "'x' is not used: it holds numbers in 92% of its cells and 25 different words; --as x=number reads the rest as "
        "missing",)),
    "half words": Case(["1", "u", "v", "w"], ["1", "u", "v", "w"], kind="category"),
    "dots": Case(["03.05.2019", "3.5.19", "31.12.2019"], [DAY(2019, 5, 3), DAY(2019, 5, 3), DAY(2019, 12, 31)],
                 kind="date"),
    "dots and the time": Case(["03.05.2019 14:30"], [datetime.datetime(2019, 5, 3, 14, 30)], kind="date"),
    "slashes, the day first": Case(["13/05/2019", "1/2/2019"], [DAY(2019, 5, 13), DAY(2019, 2, 1)], kind="date"),
    "dashes, the month first": Case(["05-13-2019", "1-2-2019"], [DAY(2019, 5, 13), DAY(2019, 1, 2)], kind="date"),
    "either first": Case(["3/5/2019", "1/2/2019"], [DAY(2019, 3, 5), DAY(2019, 1, 2)], kind="date", said=(
        "'x' could be day/month or month/day, read as month/day; --dates dmy changes it",)),
    "both first": Case(["13/5/2019", "1/22/2019"], ["13/5/2019", "1/22/2019"], kind="category", said=(
        "'x' has days before months in some rows and after them in others",)),
    "English months": Case(["12 May 2019", "May 12, 2019", "3-Sep-19", "September 3rd, 2019"],
                           [DAY(2019, 5, 12)] * 2 + [DAY(2019, 9, 3)] * 2, kind="date"),
    "other months": Case(["12. Mai 2019", "3. Juni 2019"], ["12. Mai 2019", "3. Juni 2019"], kind="category", said=(
        "'x' looks like dates with names of months, of which English ones are read",)),
    "compact dates": Case(["20190503", "20191231"], [DAY(2019, 5, 3), DAY(2019, 12, 31)], kind="date"),
    "whole numbers of eight digits": Case(["20190503", "20191399"], [20190503, 20191399]),
    "dates by year and gaps": Case(["2019-05-03", "fehlt"], [DAY(2019, 5, 3), None], kind="date", said=(
        "'fehlt' in 1 row of 'x' read as missing",)),
    "times": Case(["12:30", "7:05:10", "1:00 PM"], [12.5, 7 + 310 / 3600, 13.0], kind="hours"),
    "codes": Case(["01234", "12345"], ["01234", "12345"], kind="code", said=(
        "'x' is a code, not a number: some cells begin with 0",)),
    "codes and gaps": Case(["01234", "12345", "k.A."], ["01234", "12345", "k.A."], kind="code", said=(
        "'x' is a code, not a number: some cells begin with 0",)),
    "numbers filled with zeros": Case(["01", "1", "012"], [1, 1, 12]),
    "versions": Case(["1.2.3", "1.2.4"], ["1.2.3", "1.2.4"], kind="category"),
    "lists": Case(["1,2,3", "4,5,6"], ["1,2,3", "4,5,6"], kind="category"),
    "telephones": Case(["+49 151 123", "+49 151 124"], ["+49 151 123", "+49 151 124"], kind="category"),
    "numbers of parts": Case(["A123", "A124"], ["A123", "A124"], kind="category"),
    "flags": Case(["TRUE", "false", None], [True, False, None], kind="flag"),
    "German flags": Case(["WAHR", "falsch", ""], [True, False, None], kind="flag"),
    "yes and no": Case(["ja", "nein", "oui"], ["ja", "nein", "oui"], kind="category"),
    "spellings of a category": Case(["Angestellt", "Angestellt", "ANGESTELLT", "Angestellt ", "frei"],
                                    ["Angestellt"] * 4 + ["frei"], kind="category", said=(
        "2 cells of 'x' differ only in blanks or capitals; read as one",)),
    "composed letters": Case(["S\u00fcd", "S\u00fcd", "Su\u0308d"], ["S\u00fcd"] * 3, kind="category", said=(
        "1 cell of 'x' differs only in blanks or capitals; read as one",)),
}  # fmt: skip


def read(cells: list[str | None], **hints: Any) -> tuple[pl.Series, SpelledColumn]:
    found = spelled_table([pl.Series("x", cells, dtype=pl.String)], SpellingHints(**hints))
    return found.frame["x"], found.columns["x"]


@pytest.mark.parametrize("name", CASES)
def test_a_column_is_read_by_its_rule_and_what_must_be_said_is_said(name: str) -> None:
    case = CASES[name]
    values, column = read(case.cells)
    assert values.to_list() == case.read
    assert (column.spelling.kind, column.spelling.decimal, column.spelling.unit) == (case.kind, case.decimal, case.unit)
    assert (column.messages, column.cautions) == (case.said, case.careful)


AMBIGUOUS: dict[str, tuple[str, dict[str, Any], list[str], float, str]] = {
    "other columns with points": ("1,234", {}, ["0.5", "1.5"], 1234,
        "'x': 1,234 read as 1234, as other columns have decimal points; --decimal , changes it"),
    "other columns with commas": ("1.234", {}, ["0,5", "1,5"], 1234,
        "'x': 1.234 read as 1234, as other columns have decimal commas; --decimal . changes it"),
    "the usual mark, as others": ("1.234", {}, ["0.5", "1.5"], 1.234, ""),
    "nothing, a point": ("1.234", {}, ["u", "v"], 1.234, "'x': 1.234 read as 1.234; --decimal , changes it"),
    "nothing, a comma": ("1,234", {}, ["u", "v"], 1234, "'x': 1,234 read as 1234; --decimal , changes it"),
    "tabs say nothing": ("1,234", {"delimiter": "\t"}, ["u", "v"], 1234,
        "'x': 1,234 read as 1234; --decimal , changes it"),
    "semicolons": ("1.234", {"delimiter": ";"}, ["u", "v"], 1234,
        "! 'x': 1.234 read as 1234, as the fields are separated by semicolons; --decimal . changes it"),
    "semicolons and other columns": ("1.234", {"delimiter": ";"}, ["0.5", "1.5"], 1.234, ""),
    "a person": ("1.234", {"decimal": ","}, ["0.5", "1.5"], 1234, ""),
    "a model": ("1.234", {"known": {"x": Spelling("number", ",")}}, ["0.5", "1.5"], 1234,
        "'x': 1.234 read as 1234, as when the model was made; --decimal . changes it"),
    "a model, decimals": ("1,234", {"known": {"x": Spelling("number", ",")}}, ["0.5", "1.5"], 1.234,
        "'x': 1,234 read as 1.234, as when the model was made; --decimal . changes it"),
    "other columns of a model": ("1.234", {"known": {"z": Spelling("number", ",")}}, ["u", "v"], 1234,
        "'x': 1.234 read as 1234, as other columns have decimal commas; --decimal . changes it"),
}  # fmt: skip


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_groups_of_three_are_told_from_decimals_by_whoever_knows(name: str) -> None:
    cell, hints, others, value, said = AMBIGUOUS[name]
    columns = [pl.Series("x", [cell, "12"]), pl.Series("y", others)]
    found = spelled_table(columns, SpellingHints(**hints))
    assert found.frame["x"].to_list() == [value, 12]
    heard = [*found.messages("x"), *(f"! {caution}" for caution in found.cautions("x"))]
    assert heard == ([said] if said else [])


DATES: dict[str, tuple[dict[str, Any], list[str], int]] = {
    "nothing": ({}, ["u", "v"], 3),
    "dots": ({}, ["31.12.2019", "1.1.2020"], 5),
    "days": ({}, ["31/12/2019", "1/1/2020"], 5),
    "months": ({}, ["12/31/2019", "1/1/2020"], 3),
    "commas": ({}, ["0,5", "1,5"], 5),
    "points": ({}, ["0.5", "1.5"], 3),
    "semicolons": ({"delimiter": ";"}, ["u", "v"], 5),
    "semicolons and points": ({"delimiter": ";"}, ["0.5", "1.5"], 3),
    "a person": ({"dates": "dmy"}, ["12/31/2019", "1/1/2020"], 5),
    "a model": ({"known": {"x": Spelling("date", dates="dmy")}}, ["u", "v"], 5),
}


@pytest.mark.parametrize("name", DATES)
def test_days_are_told_from_months_by_whoever_knows(name: str) -> None:
    hints, others, month = DATES[name]
    found = spelled_table([pl.Series("x", ["3/5/2019", "1/1/2019"]), pl.Series("y", others)], SpellingHints(**hints))
    assert found.frame["x"].dt.month().to_list() == [month, 1]
    assert bool([*found.messages("x"), *found.cautions("x")]) == (name != "a person")


@pytest.mark.parametrize(
    ("kind", "cells", "read_as"),
    [
        ("number", ["01", "x", "2"], [1, None, 2]),
        ("number", ["1", "u", "v", "w"], [1, None, None, None]),
        ("date", ["1.2.2019", "u", "v"], [DAY(2019, 2, 1), None, None]),
        ("category", ["1", "2"], ["1", "2"]),
        ("text", ["1,5", " 2"], ["1,5", " 2"]),
    ],
)
def test_a_person_names_the_kind(kind: str, cells: list[str | None], read_as: list[Any]) -> None:
    assert read(cells, kinds={"x": kind})[0].to_list() == read_as


@pytest.mark.parametrize(
    ("cells", "read_as"),
    [
        (["1", "2", "k.A."], [1, 2, None]),
        (["4,5", "5", ""], [4.5, 5.0, None]),
        ([*["1"] * 19, "E"], [*["1"] * 19, "E"]),
        (["5 stars", "4 stars", "1 stars"], ["5 stars", "4 stars", "1 stars"]),
        (["3+", "2", "1"], ["3+", "2", "1"]),
        (["1.2.2019", "1.3.2019"], ["1.2.2019", "1.3.2019"]),
        (["low", "Low", "k.A."], ["low", "Low", "k.A."]),
    ],
)
def test_grades_are_numbers_only_if_every_one_is(cells: list[str | None], read_as: list[Any]) -> None:
    assert read(cells, kinds={"x": "grade"})[0].to_list() == read_as


@pytest.mark.parametrize(
    ("known", "cells", "read_as", "said"),
    [
        (Spelling("number"), ["20190503"], [20190503], ()),
        (Spelling("number"), ["01234", "12345"], [1234, 12345], ()),
        (Spelling("date", dates="ymd"), ["20190503"], [DAY(2019, 5, 3)], ()),
        (Spelling("code"), ["1234"], ["1234"], ()),
        (
            Spelling("number", missing=("offen",)),
            ["offen", "1"],
            [None, 1],
            ("'offen' in 1 row of 'x' read as missing",),
        ),
        (
            Spelling("number", ","),
            ["0.5", "1.5"],
            [0.5, 1.5],
            ("'x' has decimal points here, commas when the model was made",),
        ),
        (
            Spelling("percent", ","),
            ["48,7"],
            [48.7],
            ("'x' has the unit none here, percent when the model was made",),
        ),
    ],
)
def test_another_file_follows_the_model_unless_its_cells_say_otherwise(
    known: Spelling, cells: list[str | None], read_as: list[Any], said: tuple[str, ...]
) -> None:
    values, column = read(cells, known={"x": known})
    assert values.to_list() == read_as
    assert column.messages + column.cautions == said


def test_a_person_adds_words_for_gaps() -> None:
    assert read(["1", "offen", "2"], missing=("Offen",))[0].to_list() == [1, None, 2]


def test_columns_with_types_are_left_alone() -> None:
    columns = [pl.Series("n", [1234.5]), pl.Series("d", [DAY(2019, 1, 1)]), pl.Series("c", ["1"], dtype=pl.Categorical)]
    found = spelled_table(list(columns))
    assert found.frame.equals(pl.DataFrame(columns))
    assert found.columns == {}


def test_the_mark_of_the_table_is_that_of_its_columns() -> None:
    found = spelled_table([pl.Series("x", ["0,5"]), pl.Series("y", ["1"])])
    assert found.decimal == ","
    assert found.spellings["y"].decimal == ","
    assert spelled_table([pl.Series("x", ["0,5"]), pl.Series("y", ["0.5"])]).decimal == ""


def test_a_long_text_is_no_number_and_costs_nothing() -> None:
    text = pl.Series("x", ["1" * 30 + " kg of " + "a" * 30] * 3)
    assert typed(text).equals(text)


def test_digits_of_other_scripts_are_text_and_no_failure() -> None:
    for cells in (["2\u0661\u066212", "31e2", "111"], ["1/\u0663/2019", "2/3/2019"], ["\u0661:30", "2:30"]):
        assert read(list(cells))[0].to_list() == cells
