"""People's files: each is read as expected, and what is unusual about it is said; or it is refused with a way on."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from app.tables.corpus import CASES, COUNTS, GERMAN, NAMES, REFUSED, ROWS
from ordinoise.app.tables import delimiter_of, read_text
from ordinoise.app.tables.reader import open_stored, read_opened
from ordinoise.app.tables.reading import Reading
from ordinoise.app.tables.regraded import GradeColumn

Put = Callable[..., Path]


@pytest.fixture(autouse=True)
def _english_system(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.setenv(name, "en_US.UTF-8")


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_as_it_is_meant(put: Put, name: str) -> None:
    case = CASES[name]
    path = put(case.content)
    opened, text = read_opened(path), read_text(path)
    assert tuple(text.columns) == tuple(opened.frame.columns) == case.columns
    assert (text.row(0), text.row(-1), text.height) == (case.first, case.last, case.n_rows)
    assert {key: getattr(opened.reading, key) for key in case.reading} == case.reading
    said, careful = " ".join(opened.said), " ".join(opened.cautions)
    assert [words for words in case.said if words not in said] == []
    assert [words for words in case.careful if words not in careful] == []
    assert bool(careful) == bool(case.careful)


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_again_as_it_was_read(put: Put, name: str) -> None:
    path = put(CASES[name].content)
    opened = read_opened(path)
    again = read_opened(path, asked=opened.reading)
    assert again.reading == opened.reading
    assert again.frame.equals(opened.frame)
    assert delimiter_of(path) == opened.reading.delimiter


@pytest.mark.parametrize("name", CASES)
def test_a_changed_grade_changes_its_own_bytes_alone(put: Put, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    raw = gzip.decompress(case.content) if case.content.startswith(b"\x1f\x8b") else case.content
    path = put(raw)
    opened = open_stored(path)
    cells = opened.frame.to_series(-1)
    classes = sorted(set(cells.drop_nulls()))
    row = cells.is_not_null().to_list().index(True)
    new = next((grade for grade in classes if grade != cells[row]), None)
    if new is None:
        pytest.skip("one grade alone")
    column = GradeColumn(path, cells.name, tuple(classes), opened.reading)
    assert column.write_with({row: new}, tmp_path / "copy.csv") == 1
    written, encoding = (tmp_path / "copy.csv").read_bytes(), opened.reading.encoding
    old, cell = cells[row].encode(encoding), new.encode(encoding)
    places = [
        at for at in range(len(raw)) if raw.startswith(old, at) and raw[:at] + cell + raw[at + len(old) :] == written
    ]
    assert places
    assert read_text(tmp_path / "copy.csv").to_series(-1)[row] == new


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_is_refused_with_a_way_on(put: Put, name: str) -> None:
    content, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=f"^{sentence}"):
        read_opened(put(content))


def test_a_named_encoding_is_used(put: Put) -> None:
    content, _ = REFUSED["japanese"]
    opened = read_opened(put(content), asked=Reading(encoding="shift-jis"))
    assert opened.frame.rows()[0] == ("東京の店", "良い")
    assert opened.reading.encoding == "shift_jis"
    with pytest.raises(ValueError, match=r"^encoding must be one that Python knows, such as cp1252, got 'klingon'$"):
        read_opened(put(content), asked=Reading(encoding="klingon"))
    with pytest.raises(ValueError, match=r"^file must be text in UTF-8, got byte 0x96 on line 1 "):
        read_opened(put(content), asked=Reading(encoding="utf8"))


def test_the_code_page_of_the_system_goes_first(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "name;stars\nà la ï;3\nô û;4\n".encode("cp1252")
    assert read_opened(put(content)).reading.encoding == "cp1252"
    monkeypatch.setenv("LC_ALL", "pl_PL.UTF-8")
    assert read_opened(put(content)).reading.encoding == "cp1250"


def test_an_encoding_that_does_not_fit_well_is_said(put: Put) -> None:
    text = "name;stars\n" + "".join(f"{word};3\n" for word in ["Süd", "Höhe", "Straße", "größer", "für"])
    opened = read_opened(put(text.encode("cp1252") + b"na\xb3ve;4\n"))
    assert opened.reading.encoding == "cp1250"  # there the sign is a letter
    opened = read_opened(put(text.encode("cp1252") + b"na\xa7v;4\n"))
    assert opened.reading.encoding == "cp1252"
    assert opened.cautions == (
        "the file may be in another encoding than Windows-1252, in which it has 'a§v'; --encoding changes it",
    )


def test_the_row_with_the_names_can_be_told(put: Put) -> None:
    path = put("a,b\nc,d\n1,2\n3,4\n")
    assert read_opened(path).frame.columns == ["a", "b"]
    opened = read_opened(path, asked=Reading(header_row=2))
    assert (opened.frame.columns, opened.frame.height, opened.reading.rows_above) == (["c", "d"], 2, 1)
    with pytest.raises(ValueError, match=r"^header-row must be a line with names, got 9; the last one is 4$"):
        read_opened(path, asked=Reading(header_row=9))
    with pytest.raises(ValueError, match=r"^header-row must be a line with names, got 1; it is blank$"):
        read_opened(put("\na,b\n1,2\n"), asked=Reading(header_row=1))


def test_a_header_below_thirty_lines_is_not_looked_for(put: Put) -> None:
    title = "".join(f"line {number}\n" for number in range(40))
    with pytest.raises(ValueError, match="fields per row"):
        read_opened(put(title + COUNTS * 20))
    opened = read_opened(put(title + COUNTS), asked=Reading(header_row=41))
    assert opened.frame.columns == ["n", "colour", "stars"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16-le"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_same_table_comes_of_every_dialect(put: Put, encoding: str, end: str, delimiter: str) -> None:
    text = GERMAN.replace(";", delimiter).replace("\n", end)
    opened = read_opened(put(text.encode(encoding)))
    assert opened.frame.equals(read_opened(put(GERMAN, "plain.csv")).frame)
    found = opened.reading
    assert (found.encoding, found.line_end, found.delimiter) == (encoding, end, delimiter)


def test_no_row_is_lost_where_nothing_is_said(put: Put) -> None:
    for n_rows in range(1, 12):
        body = [f"{row},{'' if row % 3 else row},x" for row in range(n_rows)]
        opened = read_opened(put("\n".join(["a,b,c", *body]) + "\n"))
        assert opened.frame.height == n_rows
        assert opened.said == ()


def test_a_long_file_is_read_to_its_last_row(put: Put) -> None:
    rows = "".join(";".join([f"K{number}", *ROWS[0][1:]]) + "\n" for number in range(50_000))
    opened = read_opened(put(("Titel\n\n" + ";".join(NAMES) + "\n" + rows + "\nSumme;5\n").encode("cp1252")))
    assert (opened.frame.height, opened.frame[-1, 0]) == (50_000, "K49999")
    assert (opened.reading.header_row, opened.reading.rows_below) == (3, 1)
