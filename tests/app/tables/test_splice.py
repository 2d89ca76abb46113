"""The text of a CSV file keeps every byte but those of the cells that change."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.app.tables.splice import csv_text

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
DELIMITERS = st.sampled_from([",", ";", "\t", "|"])
N_COLUMNS = 3


@dataclass(frozen=True)
class Spelled:
    """A file in pieces: fields as they are spelled, the line ends, and the blank lines before each line."""

    delimiter: str
    fields: list[list[str]]
    ends: list[str]
    blanks: list[str]

    def text(self) -> bytes:
        lines = zip(self.blanks, self.fields, self.ends, strict=True)
        return "".join(blank + self.delimiter.join(row) + end for blank, row, end in lines).encode()


@st.composite
def spelled_files(draw: st.DrawFn) -> Spelled:
    delimiter, is_cr = draw(DELIMITERS), draw(st.booleans())
    # Where every line ends with CR, a LF would end one; a stray CR in an unquoted field is no line end elsewhere.
    inside = st.text(st.one_of(st.sampled_from(f'{delimiter}" é\r' + "\n" * (not is_cr)), LETTERS), max_size=4)
    inside = inside.map(lambda text: text.replace("\n", "") if is_cr else text)
    plain = st.text(LETTERS, max_size=4).filter(lambda text: not {*text} & {delimiter, '"', "\r", "\n"})
    field = st.one_of(plain, inside.map(lambda text: '"' + text.replace('"', '""') + '"'))
    fields = draw(st.lists(st.lists(field, min_size=N_COLUMNS, max_size=N_COLUMNS), min_size=2, max_size=6))
    end = st.just("\r") if is_cr else st.sampled_from(["\n", "\r\n"])
    ends = [draw(end) for _ in fields]
    if not is_cr:
        ends[0] = draw(st.sampled_from(["\n", "\r\n"]))
    blanks = [draw(st.sampled_from(["", "", end_of])) for end_of in ends]
    ends[-1] = draw(st.sampled_from(["", ends[-1]])) if len(fields) > 2 else ends[-1]
    return Spelled(delimiter, fields, ends, blanks)


def _content(field: str) -> str | None:
    return (field[1:-1].replace('""', '"') if field[:1] == '"' else field) or None


@given(file=spelled_files(), header=st.booleans(), cell=st.text(LETTERS, max_size=4), data=st.data())
def test_only_the_fields_that_change_differ(file: Spelled, header: bool, cell: str, data: st.DataObject) -> None:
    text = csv_text(file.text(), file.delimiter, header=header)
    rows = file.fields[header:]
    assert len(text.rows) == len(rows)
    column = data.draw(st.integers(0, N_COLUMNS - 1))
    assert [text.cell(row, column) for row in range(len(rows))] == [_content(row[column]) for row in rows]
    assert text.with_cells({}) == file.text()

    changed = data.draw(st.sets(st.integers(0, len(rows) - 1)))
    fields = [list(row) for row in file.fields]
    for row in changed:
        needs_quotes = rows[row][column][:1] == '"' or {*cell} & {file.delimiter, '"', "\r", "\n"}
        fields[row + header][column] = '"' + cell.replace('"', '""') + '"' if needs_quotes else cell
    wanted = Spelled(file.delimiter, fields, file.ends, file.blanks).text()
    assert text.with_cells({(row, column): cell for row in changed}) == wanted


@given(file=spelled_files(), cells=st.lists(st.sampled_from(["", "x", '"y"']), min_size=2, max_size=2))
def test_new_fields_stand_at_the_end_of_every_row(file: Spelled, cells: list[str]) -> None:
    text = csv_text(file.text(), file.delimiter)
    fields = ",".join(cells).replace(",", file.delimiter).encode()
    made = text.with_fields(b"new" + file.delimiter.encode() + b"more", [fields for _ in text.rows], 2)
    again = csv_text(made, file.delimiter)
    assert [again.cell(row, N_COLUMNS) for row in range(len(again.rows))] == [_content(cells[0])] * len(text.rows)
    assert [again.cell(row, N_COLUMNS + 1) for row in range(len(again.rows))] == [_content(cells[1])] * len(text.rows)
    for column in range(N_COLUMNS):
        assert [again.cell(row, column) for row in range(len(again.rows))] == [
            text.cell(row, column) for row in range(len(text.rows))
        ]


def test_lines_above_and_below_the_table_are_no_rows() -> None:
    text = "Kredite 2020\r\n;;\r\n\r\nNr;Note;Ort\r\n1;2;Ulm\r\n\r\n2;3;Köln\r\nSumme;5\r\nStand;;Mai\r\n".encode()
    found = csv_text(text, ";", n_above=2, n_below=2)
    assert [found.cell(row, 1) for row in range(len(found.rows))] == ["2", "3"]
    assert found.with_cells({(1, 1): "4"}) == text.replace(b"2;3;K", b"2;4;K")
    wanted = (
        "Kredite 2020\r\n;;;;\r\n\r\nNr;Note;Ort;a;b\r\n1;2;Ulm;5,0;x\r\n\r\n2;3;Köln;6;\"y;z\"\r\n"
        "Summe;5\r\nStand;;Mai;;\r\n"
    )  # fmt: skip
    assert found.with_fields(b"a;b", [b"5,0;x", b'6;"y;z"'], 2) == wanted.encode()


def test_quotes_may_be_ordinary_characters() -> None:
    text = b'size,grade\n5" pipe,1\n3" pipe,2\n'
    found = csv_text(text, ",", is_quoted=False)
    assert found.with_cells({(1, 1): "7"}) == text.replace(b",2", b",7")
    with pytest.raises(ValueError, match=r"^grades must be without delimiters, got '7,0' in a file"):
        found.with_cells({(1, 1): "7,0"})
