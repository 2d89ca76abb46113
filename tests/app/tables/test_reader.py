from __future__ import annotations

import datetime
import gzip
import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ordinoise.app.tables import delimiter_of, digest_of, read_table, read_text, write_table
from ordinoise.app.tables.dialect import looks_like_data
from ordinoise.app.tables.reader import read_opened
from ordinoise.app.tables.reading import WITHOUT_HEADER

Put = Callable[..., Path]


def test_every_column_gets_the_type_that_all_its_rows_allow(put: Put) -> None:
    path = put("i,f,b,d,t,s\n1,1,True,2024-01-31,2024-01-31 10:20,x\n-2,2.5,FALSE,2024-02-01,2024-02-01 00:00,1\n")
    types = [pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.Datetime("us"), pl.String]
    assert read_table(path).dtypes == types
    assert read_table(path).row(0)[:4] == (1, 1.0, True, datetime.date(2024, 1, 31))


def test_a_word_in_the_last_of_many_rows_is_a_gap_that_is_said(put: Put) -> None:
    path = put("a,b\n" + "1,2\n" * 50_000 + "x,3\n")
    opened = read_opened(path)
    assert opened.frame.schema == {"a": pl.Int64, "b": pl.Int64}
    assert opened.frame.row(-1) == (None, 3)
    assert opened.spelled["a"].cautions == ("1 cell of 'a' is no number ('x'), read as missing",)


@pytest.mark.parametrize("spelling", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", " ", " NA "])
@pytest.mark.parametrize(
    "values", [["1", "2"], ["1.5", "2"], ["true", "false"], ["2024-01-31", "2024-02-01"], ["u", "v"]]
)
def test_a_missing_spelling_is_null_in_a_column_of_any_type(put: Put, spelling: str, values: list[str]) -> None:
    rows = [f"{value},k" for value in [values[0], spelling, values[1]]]
    with_gap = read_table(put("\n".join(["a,b", *rows]), "gap.csv"))
    without = read_table(put("\n".join(["a,b", rows[0], rows[2]]), "whole.csv"))
    assert with_gap.get_column("a").is_null().to_list() == [False, True, False]
    assert with_gap.drop_nulls().equals(without)


def test_a_column_without_a_value_stays_text(put: Put) -> None:
    assert read_table(put("a,b\nNA,1\n,2\n")).schema["a"] == pl.String


def test_a_word_that_only_contains_a_missing_spelling_stays(put: Put) -> None:
    assert read_table(put("a,b\nNAN,1\nNone of it,2\n")).get_column("a").to_list() == ["NAN", "None of it"]


def test_decimal_commas_are_numbers(put: Put) -> None:
    assert read_table(put("a;b\n1,5;2,5\n")).row(0) == (1.5, 2.5)


def test_numbers_are_read_without_the_blanks_around_them_and_text_with_them(put: Put) -> None:
    assert read_table(put("a,b\n 1, x\n2 ,y \n")).rows() == [(1, " x"), (2, "y ")]


def test_digits_beyond_the_whole_numbers_stay_text_and_large_measures_are_numbers(put: Put) -> None:
    path = put("id,mass\n12345678901234567890,1e30\n1,2\n")
    assert read_table(path).rows() == [("12345678901234567890", 1e30), ("1", 2.0)]


def test_a_kept_column_stays_text(put: Put) -> None:
    frame = read_table(put("a,b\nTrue,007\nNA,1\n"), keep_text=["a", "b", "absent"])
    assert frame.rows() == [("True", "007"), ("NA", "1")]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
def test_text_is_typed_by_one_rule_in_every_format(tmp_path: Path, suffix: str) -> None:
    text = {"n": ["1", " 2", "NA"], "f": ["True", "?", "false"], "d": ["2024-01-31", None, ""], "c": ["NA", "", "x"]}
    write_table(pl.DataFrame(text), tmp_path / f"t{suffix}")
    noted = datetime.date(2024, 1, 31)
    assert read_table(tmp_path / f"t{suffix}").rows() == [
        (1, True, noted, None),
        (2, None, None, None),
        (None, False, None, "x"),
    ]
    kept = read_table(tmp_path / f"t{suffix}", keep_text=["n", "c", "absent"])
    assert kept.get_columns()[0].to_list() == ["1", " 2", "NA"]
    assert kept.get_columns()[3].to_list() == ["NA", None, "x"]


TIMES = ["", " 10:20", "T10:20:30", " 10:20:30.125", "T10:20:30Z", "T11:20:30+01:00"]


@pytest.mark.parametrize("text", [f"2024-01-31{time}" for time in TIMES] + ["2024/01/31"])
def test_dates_are_read(put: Put, text: str) -> None:
    value = read_table(put(f"a,b\n{text},1\n")).item(0, 0)
    assert (value.year, value.month, value.day) == (2024, 1, 31)
    assert len(text) == 10 or (value.hour, value.minute) == (10, 20)


def test_a_day_that_is_not_in_the_calendar_makes_text(put: Put) -> None:
    assert read_table(put("a,b\n2024-01-31,1\n2024-02-30,1\n")).schema["a"] == pl.String


def test_blank_lines_are_no_rows_and_rows_of_missing_cells_are(put: Put) -> None:
    path = put("\n\na,b\n\n1,2\n\n  \n,\n3,4\n\n")
    assert read_table(path).rows() == [(1, 2), (None, None), (3, 4)]
    assert read_text(path).rows() == [("1", "2"), (None, None), ("3", "4")]


def test_in_a_single_column_a_blank_line_is_a_missing_cell(put: Put) -> None:
    assert read_table(put("a\n1\n\n3\n")).rows() == [(1,), (None,), (3,)]


def test_text_is_what_stands_in_the_file(put: Put) -> None:
    path = put('a,b\n007,"x ""y"", z"\n NA ,\n1.50,"two\nlines"\n')
    assert read_text(path).rows() == [("007", 'x "y", z'), (" NA ", None), ("1.50", "two\nlines")]


def test_a_quote_inside_a_field_may_quote_nothing(put: Put) -> None:
    path = put('pipe,n\n5" wide,1\n\n6" wide,\nnone,2\n')
    assert read_text(path).rows() == [('5" wide', "1"), ('6" wide', None), ("none", "2")]


def test_windows_line_ends_and_a_byte_order_mark_leave_no_trace(put: Put) -> None:
    plain = read_text(put("a,b\n1,\n3,4\n", "plain.csv"))
    assert read_text(put(b"\xef\xbb\xbfa,b\r\n1,\r\n\r\n3,4\r\n")).equals(plain)


def test_a_gzip_file_reads_like_its_content(put: Put) -> None:
    content = b'a;b\n1;"x;y"\n\n2;\n'
    assert read_table(put(gzip.compress(content), "t.csv.gz")).equals(read_table(put(content)))


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t[1].feather", "no suffix"])
def test_the_content_decides_the_format_whatever_the_suffix(put: Put, tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": ["x", "no"]})
    path = tmp_path / name
    for write in (frame.write_parquet, frame.write_ipc):
        with path.open("wb") as file:
            write(file)
        assert read_table(path).equals(frame)
    path.write_text("a,b\n1,x\n,y\n")
    assert read_table(path).rows() == [(1, "x"), (None, "y")]


def test_a_csv_file_may_begin_like_a_parquet_file(put: Put) -> None:
    assert read_table(put("PAR1,PAR2\n1,2\n")).rows() == [(1, 2)]


def test_not_a_number_is_missing_in_a_parquet_file(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1.0, float("nan")]}).write_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").rows() == [(1.0,), (None,)]
    assert read_text(tmp_path / "t.parquet").rows() == [("1.0",), (None,)]


def test_values_of_any_type_have_a_text(tmp_path: Path) -> None:
    day, noon = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12)
    cells = {"day": day, "noon": noon, "flag": True, "list": [1, 2], "raw": b"\xff", "gap": datetime.timedelta(days=2)}
    pl.DataFrame({name: [cell] for name, cell in cells.items()}).write_parquet(tmp_path / "t.parquet")
    expected = ("2024-01-31", "2024-01-31 12:00:00", "true", "[1, 2]", "b'\\xff'", "2 days, 0:00:00")
    assert read_text(tmp_path / "t.parquet").row(0) == expected


def test_the_digest_is_that_of_the_bytes(put: Put) -> None:
    content = bytes(range(256)) * 5000
    assert digest_of(put(content)) == hashlib.sha256(content).hexdigest()


COMPLAINTS = {
    "empty": (b"", "hold a table, got the empty file"),
    "blank": (b"\n\n  \n", "hold a table, got only blanks"),
    "header only": (b"a,b\n", "hold rows, got only column names"),
    "binary": (bytes(range(256)), r"be CSV, JSON lines, Excel \(.xlsx\), Parquet or Feather, got the binary file"),
    "workbook": (
        b"PK\x03\x04\0\0",
        r"be CSV, JSON lines, Excel \(.xlsx\), Parquet or Feather, got a zip archive.*; save the sheet as .xlsx or as CSV",
    ),
    "cut utf-16": ("a,b\n1,2\n".encode("utf-16")[:-1], "be text in UTF-16, as its first bytes say, got bytes that"),
    "twice, as data": (b"5,x,5\n1,2,3\n", "name every column differently, .*; if its first row is data, --no-header"),
    "short row": (b"a,b\n1,2\n\n3\n4,5\n", "have 2 fields per row, as its header, got 1 on line 4"),
    "long row": (b'a,b\n"1\n",2\n3,4,5\n', "have 2 fields per row, as its header, got 3 on line 4"),
    "open quote": (
        b'a,b\n1,2\n"x,4\n5,6\n',
        'close every quote, got an open one on line 3; write a quote in a field as ""',
    ),
    "open header": (b'"a,b\n1,2\n', "close every quote, got an open one on line 1"),
    "cut gzip": (gzip.compress(b"a,b\n1,2\n")[:-9], "be readable, got .*: it is damaged"),
    "endless header": (b"a" * 200_000 + b"\n1\n", "have a header of short names, got 200001 characters on line 1"),
}


@pytest.mark.parametrize("name", COMPLAINTS)
@pytest.mark.parametrize("read", [read_table, read_text])
def test_a_file_that_is_no_table_gets_a_sentence(put: Put, name: str, read: Callable[[Path], pl.DataFrame]) -> None:
    content, sentence = COMPLAINTS[name]
    with pytest.raises(ValueError, match=f"^file must {sentence}"):
        read(put(content))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be", "utf-16"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_mark_names_the_encoding(put: Put, encoding: str, is_packed: bool) -> None:
    plain = "näme;stars\n" + "kötter 🐈;3\n" * 3
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    content = (mark + plain).encode(encoding)
    marked = put(gzip.compress(content) if is_packed else content)
    assert read_table(marked).equals(read_table(put(plain, "plain.csv")))
    assert delimiter_of(marked) == ";"


def test_the_beginning_of_a_file_may_end_within_a_character(put: Put) -> None:
    text = "a,b\n" + "🐈,1\n" * 60_000
    for shift in ("", "x"):
        assert read_table(put((shift + text).encode("utf-16"))).height == 60_000


def test_a_file_without_a_header_names_its_columns_by_number(put: Put) -> None:
    path = put('\n5,"fine, really"\n\n1,broken\n3,\n')
    found = read_table(path, asked=WITHOUT_HEADER)
    assert found.columns == ["column_1", "column_2"]
    assert found.rows() == [(5, "fine, really"), (1, "broken"), (3, None)]
    with pytest.raises(ValueError, match=r"^file must have 2 fields per row, as its header, got 1 on line 2$"):
        read_table(put("5,x\n4\n3,\n"), asked=WITHOUT_HEADER)


@pytest.mark.parametrize("header", ["5,fine", "a,2024-01-02", "1.5,2.5", "3,1,2", f"a,{'so good ' * 20}", "x,-1e3"])
def test_a_header_that_looks_like_data_is_noticed(header: str) -> None:
    assert looks_like_data(header.split(","))


@pytest.mark.parametrize("header", ["a,b", "0,1,2", "2019,2020,2021,total", ",0", "x1,e2", "nan,inf", "v1.0,1st"])
def test_other_headers_are_left_alone(header: str) -> None:
    assert not looks_like_data(header.split(","))


def test_a_byte_that_is_no_utf8_is_found_far_below_the_first_rows(put: Put) -> None:
    text = "a,b\n" + "1,ö\n" * 100_000
    with pytest.raises(ValueError, match="got byte 0xe9 on line 100002 "):
        read_table(put(text.encode() + b"1,\xe9\n"))
    assert read_table(put(text.encode("cp1252") + b"1,\xe9\n"))[-1, 1] == "é"


def test_a_gzip_file_cut_far_below_the_first_rows_gets_a_sentence(put: Put) -> None:
    packed = gzip.compress(random.Random(0).randbytes(300_000).hex("\n", 4).encode(), compresslevel=1)
    with pytest.raises(ValueError, match=r"^file must be readable, got '.*': it is damaged$"):
        read_table(put(packed[: len(packed) * 9 // 10]))


def test_an_absent_file_suggests_its_neighbor(put: Put, tmp_path: Path) -> None:
    put("a,b\n1,2\n", "ratings.csv")
    with pytest.raises(ValueError, match=r"^file must exist, got '.*rating.csv'; did you mean 'ratings.csv'\?$"):
        read_table(tmp_path / "rating.csv")
    with pytest.raises(ValueError, match=r"^file must exist, got '.*'; there is no folder '.*nowhere'$"):
        read_table(tmp_path / "nowhere" / "ratings.csv")
    with pytest.raises(
        ValueError, match=r"^file must name Parquet files, a folder of them or one table, got none in the folder "
    ):
        read_table(tmp_path)
    with pytest.raises(ValueError, match=r"^file must be a regular file, got '/dev/null'$"):
        read_table("/dev/null")


def test_a_file_that_may_not_be_read_gets_a_sentence(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put("a,b\n1,2\n")

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    for read in (read_table, read_text, digest_of):
        with pytest.raises(ValueError, match=r"^file must be readable, got '.*': Permission denied$"):
            read(path)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_damaged_file_is_read_or_refused_but_never_a_traceback(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": range(100), "b": [str(i) for i in range(100)]})
    path = tmp_path / f"t{suffix}"
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path, compression="lz4")
    whole = path.read_bytes()
    chance = random.Random(0)
    refused = 0
    for trial in range(60):
        damaged = bytearray(whole[: chance.randrange(8, len(whole))] if trial % 2 else whole)
        damaged[chance.randrange(8, len(damaged)) if len(damaged) > 8 else 0] ^= 0xFF
        path.write_bytes(damaged)
        try:
            read_table(path)
        except ValueError as error:
            assert str(error).startswith("file must ")  # noqa: PT017
            refused += 1
    assert refused > 25


def test_the_row_numbers_that_pandas_writes_get_a_name(put: Put) -> None:
    assert read_table(put(",a,b\n0,1,2\n1,3,4\n")).columns == ["unnamed", "a", "b"]
