"""Small files that ask for much: each is read in a process of its own, and what its refusal took is printed.

``python -m tools.bombs`` prints a table, one row per file: its bytes, the processor seconds and the peak memory of the
process that reads it and of those that this one starts, added up, and what it says. The exit code is 1 if a file is not
refused in one sentence, within `MOST_SECONDS` and `MOST_MB`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

MOST_SECONDS, MOST_MB = 10.0, 1000.0
MOST_ADDRESSES = 12 * 2**30  # bytes, so that a fault of ours does not stop the machine
SENTENCE = re.compile(r"^\S.* must .*, got .*$")
SHEET, STRINGS, BOOK = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml"
READ = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}))
from pathlib import Path
{imports}
def seconds(): return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
path, said, begun = Path(sys.argv[1]), "read", seconds()
try:
    {call}
except ValueError as error:
    said = str(error)
except BaseException as error:
    said = type(error).__name__ + ": " + str(error)
from ordinoise.app.tables import trial
trial._end_ours()
own = next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line)
print((own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1000, seconds() - begun, said, sep="\\n")
"""
TABLE = ("from ordinoise.app.tables import read_table", "read_table(path)")
EMBEDDINGS = ("from ordinoise.app.tables.embeddings import read_embeddings", "read_embeddings(path, 60)")
PARTS = ("from ordinoise.app.out_of_core.files import parts_of", "parts_of([path])")
NOISE = ("from ordinoise.app.verbs.fit import matrix_from", "matrix_from(path, 3)")
RATINGS = (
    "from ordinoise.app.tables.ratings import exported_ratings", "exported_ratings(path, None, None, None)"
)  # fmt: skip
RECORD = ("from ordinoise.app.records.audit import read_record", "read_record(path)")
MODEL = ("from ordinoise import load_model", "load_model(path)")
DECISIONS = ("from ordinoise.app.review.decisions import DecisionStore", "DecisionStore(path)")


@dataclass(frozen=True)
class Bomb:
    """A file, made by a function, and the statements that read it."""

    name: str
    make: Callable[[Path], None]
    way: tuple[str, str] = TABLE

    @property
    def needs(self) -> tuple[str, ...]:
        """Packages that make or read it, beside those that are required."""
        return (
            ("fastexcel", "xlsxwriter")
            if self.name.endswith(".xlsx")
            else ("pyarrow",)
            if self.make is _many_rows
            else ()
        )


@dataclass(frozen=True)
class Refusal:
    """What came of a file."""

    n_bytes: int
    seconds: float
    megabytes: float
    said: str

    @property
    def is_cheap(self) -> bool:
        """Whether it was refused in one sentence, soon and in little memory."""
        is_sentence = SENTENCE.match(self.said) is not None
        return is_sentence and self.seconds <= MOST_SECONDS and self.megabytes <= MOST_MB


def refusal(bomb: Bomb, folder: Path) -> Refusal:
    """Make a file in a folder, and read it in a process of its own."""
    path = folder / bomb.name.rpartition(" ")[2]
    make = f"from tools import bombs; from pathlib import Path; bombs.made({bomb.name!r}, Path({str(path)!r}))"
    subprocess.run([sys.executable, "-c", make], check=True)  # what making it takes is no part of the reading
    code = READ.format(imports=bomb.way[0], call=bomb.way[1], most=MOST_ADDRESSES)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(path)], capture_output=True, text=True)
    size = path.stat().st_size if path.is_file() else sum(one.stat().st_size for one in path.iterdir())
    if done.returncode:
        return Refusal(size, float("inf"), float("inf"), f"exit code {done.returncode}")
    megabytes, seconds, said = done.stdout.split("\n", 2)
    return Refusal(size, float(seconds), float(megabytes), said.strip())


def made(name: str, path: Path) -> None:
    """Make the file of a name."""
    next(bomb for bomb in BOMBS if bomb.name == name).make(path)


# Text ---------------------------------------------------------------------------------------------------


def _packed_text(path: Path, pieces: Iterator[bytes]) -> None:
    with gzip.open(path, "wb", compresslevel=6) as file:
        for piece in pieces:
            file.write(piece)


def _rows(path: Path) -> None:
    _packed_text(path, (b"a,b\n" + b"1,2\n" * 250_000 for _ in range(2000)))  # two gigabytes


def _one_line(path: Path) -> None:
    _packed_text(path, (b"a" * 1_000_000 for _ in range(2000)))


def _wide(path: Path) -> None:
    path.write_text(",".join(f"c{number}" for number in range(1_000_000)) + "\n" + "1," * 999_999 + "1\n")


def _blank_lines(path: Path) -> None:
    path.write_text(",".join(f"c{number}" for number in range(90_000)) + "\n" * 100_000)


def _other_keys(path: Path) -> None:
    path.write_text("".join(f'{{"k{number}": 1}}\n' for number in range(90_000)))


def _few_keys(path: Path) -> None:
    """Few enough that a machine with much memory could hold the cells."""
    path.write_text(json.dumps({f"k{number}": 1 for number in range(4000)}) + "\n{}" * 90_000)


def _brackets(path: Path) -> None:
    path.write_text('{"a": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}\n")


def _other_data(path: Path) -> None:
    tasks = [{"id": at, "data": {f"k{at}": 1}, "annotations": [{"result": []}]} for at in range(90_000)]
    path.write_text(json.dumps(tasks))


def _tags(path: Path) -> None:
    result = {"to_name": "b", "type": "choices", "value": {"choices": ["1"]}}
    results = [{"from_name": f"tag{at}", **result} for at in range(30_000)]
    path.write_text(json.dumps([{"id": 1, "data": {"a": 1}, "annotations": [{"result": results}]}]))


def _deep_tasks(path: Path) -> None:
    path.write_text('[{"annotations": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}]")


def _digits(path: Path) -> None:
    path.write_text("1," * 50_000_000)


# Stored types -------------------------------------------------------------------------------------------


def _nested(path: Path) -> None:
    import polars as pl

    _stored(pl.DataFrame({"a": [[0]]}).with_columns(pl.lit(0).repeat_by(200_000_000).alias("a")), path)


def _long(path: Path) -> None:
    import polars as pl

    _stored(pl.DataFrame({"a": ["k" * 100_000_000] * 20}), path)


def _stored(frame: object, path: Path) -> None:
    import polars as pl

    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_ipc(path, compression="zstd")


def _many_rows(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    block = pa.table({name: pa.array([1] * 1_000_000, pa.int8()) for name in "ab"})
    with parquet.ParquetWriter(path, block.schema) as writer:
        for _ in range(2000):
            writer.write_table(block)


def _numpy(path: Path) -> None:
    """A header that claims 480 GB."""
    import numpy as np

    out = BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": (60, 1_000_000_000)})
    path.write_bytes(out.getvalue() + bytes(1000))


# Workbooks ----------------------------------------------------------------------------------------------


def _workbook(path: Path, edit: Callable[[dict[str, bytes]], dict[str, bytes]]) -> None:
    import xlsxwriter

    content = BytesIO()
    with xlsxwriter.Workbook(content) as book:
        sheet = book.add_worksheet()
        for row in range(5):
            sheet.write_row(row, 0, ["a", "b"] if row == 0 else [row, "x"])
    with zipfile.ZipFile(content) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in edit(parts).items():
            archive.writestr(name, part)


def _sheet(more: bytes) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    """More rows in the sheet."""
    return lambda parts: parts | {SHEET: parts[SHEET].replace(b"</sheetData>", more + b"</sheetData>")}


def _far(path: Path) -> None:
    _workbook(path, _sheet(b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'))


def _without_places(path: Path) -> None:
    _workbook(path, _sheet(b'<row r="1048570">' + b"<c/>" * 16_000 + b"<c><v>1</v></c></row>"))


def _shared_text(path: Path) -> None:
    rows = b"".join(b'<row r="%d"><c r="B%d" t="s"><v>2</v></c></row>' % (at, at) for at in range(6, 2006))

    def edit(parts: dict[str, bytes]) -> dict[str, bytes]:
        text = parts[STRINGS].replace(b"<t>x</t>", b"<t>" + b"y" * 3_000_000 + b"</t>")
        return _sheet(rows)(parts) | {STRINGS: text}

    _workbook(path, edit)


def _entities(path: Path) -> None:
    entity = b'<!DOCTYPE x [<!ENTITY e "' + b"z" * 1_000_000 + b'">]>' + b" " * 20_000_000

    def edit(parts: dict[str, bytes]) -> dict[str, bytes]:
        head, _, rest = parts[BOOK].partition(b"?>")
        return parts | {BOOK: head + b"?>" + entity + rest.replace(b"<sheets>", b"&e;" * 1900 + b"<sheets>")}

    _workbook(path, edit)


def _blanks(path: Path) -> None:
    _workbook(path, lambda parts: parts | {"xl/styles.xml": b" " * 1_500_000_000})


def _deep_sheet(path: Path) -> None:
    _workbook(path, _sheet(b'<row r="6">' + b"<c>" * 2_000_000 + b"</c>" * 2_000_000 + b"</row>"))


# Folders ------------------------------------------------------------------------------------------------


def _long_items(path: Path) -> None:
    """A model one of whose parameters claims items of two gigabytes."""
    _model(path, {"array": ["a"] * 6, "shape": [6], "dtype": "S2000000000"})


def _deep_model(path: Path) -> None:
    _model(path, "place", lambda text: text.replace('"place"', "[" * 1_000_000 + "]" * 1_000_000))


def _model(path: Path, decision: object, edit: Callable[[str], str] = str) -> None:
    import numpy as np

    from ordinoise import OrdinalMLPClassifier

    x, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    OrdinalMLPClassifier(max_iter=1, random_state=0).fit(x, y).save(path)
    plain = json.loads((path / "model.json").read_text())
    plain["settings"]["parameters"]["decision"] = decision
    (path / "model.json").write_text(edit(json.dumps(plain)))


def _large_record(path: Path) -> None:
    path.mkdir()
    with (path / "audit.json").open("wb") as file:
        file.truncate(2**40)


def _hard_rule(path: Path) -> None:
    """A database whose rules make text of two gigabytes when they are checked."""
    import sqlite3

    from ordinoise.app.review.decisions import APPLICATION_ID, FORMAT_VERSION

    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE events (id, CHECK (length(hex(zeroblob(450000000))) > id));"
        f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT_VERSION};"
        "PRAGMA ignore_check_constraints = on; INSERT INTO events VALUES (1), (2), (3);"
    )
    connection.close()


BOMBS = (
    Bomb("two gigabytes of rows t.csv.gz", _rows),
    Bomb("one line of two gigabytes t.csv.gz", _one_line),
    Bomb("the same as a noise matrix.csv.gz", _rows, NOISE),
    Bomb("100 MB of digits as a noise matrix.csv", _digits, NOISE),
    Bomb("a million columns t.csv", _wide),
    Bomb("blank lines under a wide header t.csv", _blank_lines),
    Bomb("another key on every line t.jsonl", _other_keys),
    Bomb("4000 keys on the first of 90000 lines t.jsonl", _few_keys),
    Bomb("a million brackets t.jsonl", _brackets),
    Bomb("another key in every task t.json", _other_data),
    Bomb("30000 tags t.json", _tags),
    Bomb("a million brackets as tasks t.json", _deep_tasks),
    Bomb("a million brackets as ratings t.json", _deep_tasks, RATINGS),
    *(
        Bomb(f"{what}, {by} t{suffix}", make, way)
        for what, make in (("a list of 200 million numbers", _nested), ("20 texts of 100 MB", _long))
        for suffix in (".parquet", ".feather")
        for by, way in (("table", TABLE), ("embeddings", EMBEDDINGS), ("part", PARTS))
        if by != "part" or suffix == ".parquet"
    ),
    Bomb("two billion rows t.parquet", _many_rows),
    Bomb("a claim of 480 GB vectors.npy", _numpy, EMBEDDINGS),
    Bomb("a far cell t.xlsx", _far),
    Bomb("cells without places t.xlsx", _without_places),
    Bomb("a text of 3 MB in 2000 cells t.xlsx", _shared_text),
    Bomb("entities t.xlsx", _entities),
    Bomb("1.5 GB of blanks t.xlsx", _blanks),
    Bomb("two million cells in one another t.xlsx", _deep_sheet),
    Bomb("items of 2 GB model", _long_items, MODEL),
    Bomb("a million brackets model", _deep_model, MODEL),
    Bomb("a terabyte audit", _large_record, RECORD),
    Bomb("rules that take 2 GB decisions.sqlite", _hard_rule, DECISIONS),
)


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if a file is not refused cheaply."""
    parser = argparse.ArgumentParser(prog="python -m tools.bombs", description="What refusing small files costs.")
    parser.add_argument("--only", default="", help="files whose name contains this")
    only = parser.parse_args(arguments).only
    print("bytes".rjust(12), "seconds".rjust(8), "MB".rjust(7), "file")  # noqa: T201
    code = 0
    for bomb in BOMBS:
        if only not in bomb.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = refusal(bomb, Path(folder))
        code |= not found.is_cheap
        figures = f"{found.n_bytes:12,} {found.seconds:8.1f} {found.megabytes:7.0f}"
        print(f"{figures} {bomb.name}{'' if found.is_cheap else ' FAILS'}: {found.said[:150]}", flush=True)  # noqa: T201
    return code


if __name__ == "__main__":
    raise SystemExit(main())
