"""Tables spelled in other countries are the same tables: numbers, dates and suspects do not depend on the spelling."""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ordinoise import OrdinalBoostingClassifier
from ordinoise.app.tables.graded import GradedTable, graded_table
from ordinoise.app.tables.roles import ColumnRoles
from ordinoise.audit import find_label_issues
from ordinoise.columns.coding import Columns, SpellingWarning
from ordinoise.columns.findings import SpellingHints
from ordinoise.columns.numerals import PATTERNS, numerals
from ordinoise.columns.spelling import spelled_table


@dataclass(frozen=True)
class Locale:
    decimal: str
    group: str
    date: str = "%d.%m.%Y"
    delimiter: str = ";"

    def spell(self, number: Decimal, places: int) -> str:
        whole, _, rest = f"{abs(number):,.{places}f}".partition(".")
        text = whole.replace(",", self.group) + (self.decimal + rest if places else "")
        return ("-" if number < 0 else "") + text


LOCALES = {
    "en": Locale(".", ",", "%Y-%m-%d", ","),
    "de": Locale(",", "."),
    "ch": Locale(".", "'"),
    "ch, typographic": Locale(".", "\u2019"),
    "fr": Locale(",", "\u202f", "%d/%m/%Y"),
    "se": Locale(",", "\u00a0", "%Y-%m-%d"),
    "pl": Locale(",", " "),
    "without groups": Locale(",", ""),
}
NUMBERS = st.lists(st.integers(-(10**9), 10**9), min_size=30, max_size=60)


@given(NUMBERS, st.integers(1, 4), st.sampled_from(sorted(LOCALES)))
def test_numbers_are_the_same_in_any_spelling(numbers: list[int], places: int, name: str) -> None:
    """A column of decimals that are not all of three digits decides itself."""
    values = [Decimal(number).scaleb(-places) for number in numbers]
    cells = [LOCALES[name].spell(value, places) for value in values]
    assume(places != 3 or any(abs(value) < 1 or abs(value) >= 1000 for value in values))
    assume(LOCALES[name].group != "" or places != 3 or any(abs(value) < 1 for value in values))
    found = spelled_table([pl.Series("x", cells)])
    assert found.frame["x"].cast(pl.Float64).to_list() == [float(value) for value in values]


CELLS = st.one_of(
    st.from_regex(r"[+-]?[0-9]{1,4}([.,' ][0-9]{1,3}){0,3}", fullmatch=True),
    st.from_regex(r"[<~]?[0-9]{1,3}[.,]?[0-9]{0,3} ?(%|kg|EUR)?", fullmatch=True),
    st.text(alphabet="0123456789.,' %-+eE", max_size=9),
)


@given(st.lists(CELLS, min_size=1, max_size=40))
def test_no_number_is_invented_for_a_cell_that_cannot_be_spelled_back(cells: list[str]) -> None:
    """The digits of the number, and where its decimals begin, are those of the cell."""
    found = numerals(pl.Series(cells))
    for cell, row in zip(cells, found.rows(named=True), strict=True):
        for mark in PATTERNS:
            if row[mark] is None:
                continue
            number = re.split("[eE]", row[mark])[0].lstrip("-")
            written = re.split(r"[eE](?=[+-]?\d)", re.sub(r"[^0-9.,eE+-]", "", cell.replace("EUR", "")).lstrip("+-"))[0]
            whole, _, rest = written.partition(mark)
            assert [re.sub(r"\D", "", whole), re.sub(r"\D", "", rest)] == [*number.partition(".")[::2]]
            assert re.fullmatch(
                r"\d*|[1-9]\d{0,2}([^\d]\d{3})+", re.sub("[^0-9.,' \u2019]", "", cell).strip().partition(mark)[0]
            )


COLUMNS = st.lists(
    st.one_of(
        st.sampled_from(["0,5", "1,5", "k.A.", "12,25", "7", "1.234,5"]),
        st.sampled_from(["3.5.2019", "31.12.2020", "-", "1.1.1999"]),
        st.sampled_from(["S\u00fcd", "s\u00fcd ", "Nord", "n/a"]),
        st.sampled_from(["5 kg", "6 kg", "7", "<3"]),
    ),
    min_size=2,
    max_size=40,
)


@given(COLUMNS, COLUMNS, st.randoms(use_true_random=False))
def test_rows_in_any_order_and_columns_alone_are_read_alike(
    one: list[str], other: list[str], chance: random.Random
) -> None:
    rows = [*range(min(len(one), len(other)))]
    table = {"x": [one[row] for row in rows], "y": [other[row] for row in rows]}
    chance.shuffle(rows)
    whole = spelled_table([pl.Series(name, cells) for name, cells in table.items()])
    shuffled = spelled_table([pl.Series(name, [cells[row] for row in rows]) for name, cells in table.items()])
    assert shuffled.frame.equals(whole.frame[rows])
    assert shuffled.columns == whole.columns
    for name, cells in table.items():
        alone = spelled_table([pl.Series(name, cells)])
        assert alone.frame[name].equals(whole.frame[name])
        assert alone.columns[name].messages == whole.columns[name].messages


def credit(n_rows: int, seed: int) -> dict[str, list[object]]:
    """A table of loans whose grade follows the columns, a tenth of the grades shifted by two."""
    rng = np.random.default_rng(seed)
    income = np.round(np.exp(rng.normal(10.3, 0.5, n_rows)), 2)
    debt = np.round(rng.beta(2, 3, n_rows), 3)
    used = np.round(100 * rng.beta(2, 2, n_rows), 1)
    years = np.round(rng.gamma(2, 3, n_rows), 1)
    risk = 2 * debt + used / 60 - np.log(income) / 3 - years / 20 + rng.normal(0, 0.05, n_rows)
    grade = np.digitize(risk, np.quantile(risk, [0.25, 0.5, 0.75]))
    wrong = rng.random(n_rows) < 0.1
    grade[wrong] = (grade[wrong] + 2) % 4
    days = rng.integers(0, 2000, n_rows)
    return {
        "income": [Decimal(f"{value:.2f}") for value in income],
        "debt": [Decimal(f"{value:.3f}") for value in debt],
        "used": [Decimal(f"{value:.1f}") for value in used],
        "years": [Decimal(f"{value:.1f}") for value in years],
        "asked": [date.fromordinal(737000 + int(day)) for day in days],
        "branch": [["Nord", "S\u00fcd", "Mitte"][at] for at in rng.integers(0, 3, n_rows)],
        "grade": ["DCBA"[at] for at in grade],
    }


PLACES = {"income": 2, "debt": 3, "used": 1, "years": 1}


def written(table: dict[str, list[object]], locale: Locale, path: Path) -> Path:
    """The table as the spreadsheet of a country saves it: percent signs, gaps by a word, dates as there."""

    def cell(name: str, row: int) -> str:
        value = table[name][row]
        if name == "income" and row % 17 == 0:
            return "k.A."
        if isinstance(value, Decimal):
            return locale.spell(value, PLACES[name]) + " %" * (name == "used")
        return value.strftime(locale.date) if isinstance(value, date) else str(value)

    out = io.StringIO()
    rows: Sequence[int] = range(len(table["grade"]))
    csv.writer(out, delimiter=locale.delimiter).writerows(
        [list(table), *([cell(name, row) for name in table] for row in rows)]
    )
    path.write_text(out.getvalue())
    return path


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, GradedTable]:
    folder, table = tmp_path_factory.mktemp("credit"), credit(300, 0)
    return {
        name: graded_table(written(table, LOCALES[name], folder / f"{name}.csv"), ColumnRoles("grade", "D,C,B,A"))
        for name in ("en", "de", "fr", "ch")
    }


@pytest.mark.parametrize("name", ["de", "fr", "ch"])
def test_a_table_in_the_spelling_of_a_country_has_the_same_features(name: str, tables: dict[str, GradedTable]) -> None:
    table, plain = tables[name], tables["en"]
    assert [one.kind for one in plain.columns] == ["number"] * 4 + ["date", "category", "category"]
    assert table.features.equals(plain.features)
    assert table.labels.tolist() == plain.labels.tolist()
    assert table.cautions == plain.cautions


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_suspects_are_the_same_in_any_spelling(tables: dict[str, GradedTable]) -> None:
    found = [
        find_label_issues(
            table.features.drop("branch").fill_null(0),
            table.labels,
            classes=list(table.classes),
            estimator=OrdinalBoostingClassifier(n_estimators=20, random_state=0),
            random_state=0,
        )
        for table in (tables["en"], tables["de"])
    ]
    assert found[0].suspicion.tolist() == found[1].suspicion.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".xlsx"])
def test_text_is_read_alike_in_every_format(suffix: str, tmp_path: Path) -> None:
    cells = {
        "a": ["0,631", "5,2", "k.A.", "1.299,99"],
        "b": ["03.05.2019", "4.5.19", "", "1.1.2020"],
        "c": ["48,7 %", "12 %", "3,5 %", "-"],
        "d": ["S\u00fcd", "s\u00fcd ", "S\u00fcd", "Nord"],
        "e": ["01234", "12345", "99999", "00001"],
    }
    frame = pl.DataFrame(cells)
    path = tmp_path / f"t{suffix}"
    if suffix == ".jsonl":
        frame.write_ndjson(path)
    elif suffix == ".parquet":
        frame.write_parquet(path)
    elif suffix == ".xlsx":
        pytest.importorskip("xlsxwriter")
        pytest.importorskip("fastexcel")
        frame.write_excel(path)
    else:
        frame.write_csv(path, separator=";")
    from ordinoise.app.tables.reader import read_opened

    opened = read_opened(path)
    expected = spelled_table(frame.get_columns(), SpellingHints())
    assert opened.frame.equals(expected.frame)
    assert opened.spelled == expected.columns


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_a_frame_of_text_is_read_as_its_file(kind: str, tables: dict[str, GradedTable], tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    path = written(credit(300, 0), LOCALES["de"], tmp_path / "de.csv")
    text = pl.read_csv(path, separator=";", infer_schema=False).drop("grade")
    frame = text if kind == "polars" else pd.DataFrame(text.to_dict(as_series=False))
    with pytest.warns(SpellingWarning, match="'k.A.' in 18 rows of 'income' read as missing$"):
        columns = Columns.of(frame, "auto")
    expected = Columns.of(tables["en"].features, "auto")
    assert np.array_equal(columns.encoded(frame), expected.encoded(tables["en"].features), equal_nan=True)
    with pytest.raises(ValueError, match=r"column 'debt' must hold numbers, .* got 'viel' in row 1"):
        columns.encoded(text.head(2).with_columns(debt=pl.Series(["1,5", "viel"])))
    one = text.head(1).with_columns(income=pl.lit("1.234"), debt=pl.lit("0,5"), branch=pl.lit(" NORD"))
    assert columns.encoded(one)[0, [0, 1, 5]].tolist() == [1234, 0.5, 1.0]
