"""Readers of tables and matrices: each draws an input, and reads it in a way that raises if a rule is broken."""

from __future__ import annotations

import gzip
import io
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import ClassVar

import numpy as np

from tools.fuzz import mutations

OLD_SHARE = 0.05  # inputs made from those that once broke a reader, which may be slow; a round number, chosen by no run


class LostError(Exception):
    """Content that was changed or dropped without a word."""


class Reader(ABC):
    """One way into the package.

    Parameters
    ----------
    seeds : path
        Folder of whole inputs, by `tools.fuzz.seeds.write_seeds`.
    scratch : path
        An empty folder of its own.
    corpus : sequence of bytes
        Inputs that once broke it.
    """

    share: ClassVar[float] = 1.0
    """Weight of the reader among all readers."""
    seconds: ClassVar[float] = 20.0
    """An input that takes longer hangs; a round number, chosen by no run."""

    def __init__(self, seeds: Path, scratch: Path, corpus: Sequence[bytes] = ()) -> None:
        self.seeds, self.scratch, self.corpus = seeds, scratch, list(corpus)
        self.start()

    def start(self) -> None:  # noqa: B027 - most readers need none
        """Prepare what inputs share."""

    @abstractmethod
    def draw(self, rng: Random) -> bytes:
        """A random input."""

    @abstractmethod
    def read(self, data: bytes) -> None:
        """Read the input; ValueError if it is refused, LostError if content is lost, anything else is a fault."""

    def close(self) -> None:  # noqa: B027
        """Release what `start` took."""

    def _mutant(self, whole: Sequence[bytes], rng: Random) -> bytes:
        base = rng.choice(self.corpus if self.corpus and rng.random() < OLD_SHARE else whole)
        return mutations.changed_bytes(base, rng, [*whole, *self.corpus])

    def _written(self, name: str, data: bytes) -> Path:
        path = self.scratch / name
        path.write_bytes(data)
        return path


class TableReader(Reader):
    """A table in one of the formats."""

    name: ClassVar[str]

    def start(self) -> None:
        self.whole = [(self.seeds / self.name).read_bytes()]

    def drawn(self, rng: Random) -> bytes:
        """A table that was never damaged."""
        return mutations.drawn_csv(rng)

    def draw(self, rng: Random) -> bytes:
        kind = rng.random()
        if kind < 0.03:
            return rng.randbytes(rng.randrange(300))
        if kind < 0.5:
            return self.drawn(rng)
        return self._mutant(self.whole if kind < 0.8 else [self.drawn(rng)], rng)

    def read(self, data: bytes) -> None:
        from ordinoise.app.tables import ColumnRoles, graded_table, read_table, read_text, write_table

        path = self._written(self.name, data)
        text, typed = read_text(path), read_table(path)
        if text.shape != typed.shape or text.columns != typed.columns:
            raise LostError("the text and the values of a table have another shape")
        copy = self.scratch / "copy.csv"
        copy.unlink(missing_ok=True)
        write_table(text, copy)
        if not text.equals(read_text(copy)):
            raise LostError("a table that is written and read again differs")
        if path.read_bytes() != data:
            raise LostError("reading changed the file")
        graded_table(path, ColumnRoles("stars"))


class EmbeddingsReader(Reader):
    """A matrix of vectors beside the table."""

    share = 3

    def start(self) -> None:
        self.whole = [(self.seeds / "vectors.npy").read_bytes()]

    def draw(self, rng: Random) -> bytes:
        out = io.BytesIO()
        kind = rng.choice(("<f4", ">f8", "<i2", "|u1", "<c8", "|S3", "<M8[s]", "?"))
        np.save(out, np.zeros(rng.choice(((60, 3), (60, 0), (0, 3), (60,), (60, 1, 2))), dtype=kind))
        return self._mutant(self.whole if rng.random() < 0.7 else [out.getvalue()], rng)

    def read(self, data: bytes) -> None:
        from ordinoise.app.tables.embeddings import read_embeddings

        if read_embeddings(self._written("vectors.npy", data), 60).shape[0] != 60:
            raise LostError("vectors for another number of rows")


class CsvReader(TableReader):
    """CSV."""

    share, name = 17, "t.csv"


class LayoutReader(TableReader):
    """CSV as spreadsheets save it: what lies around the table, its encoding and its names."""

    share, name = 6, "layout.csv"

    def start(self) -> None:
        self.whole = [(self.seeds / "t.csv").read_bytes()]

    def drawn(self, rng: Random) -> bytes:
        return mutations.drawn_spreadsheet(rng)

    def read(self, data: bytes) -> None:
        from ordinoise.app.tables.reader import open_stored
        from ordinoise.app.tables.source import open_source

        path = self._written(self.name, data)
        opened = open_stored(path)
        again = open_stored(path, asked=opened.reading)
        if again.reading != opened.reading or not again.frame.equals(opened.frame):
            raise LostError("a file that is read as it was read differs")
        n_lines = sum(bool(line.strip()) for line in open_source(path).text.split(b"\n"))
        n_around = opened.reading.rows_above + opened.reading.rows_below + opened.reading.has_header
        if opened.frame.width > 1 and b'"' not in data and opened.frame.height + n_around != n_lines:
            raise LostError(f"{n_lines} lines, of which {opened.frame.height} are rows and {n_around} others")
        if n_around > 1 and not opened.said:
            raise LostError("lines around the table are not said")


class SpellingReader(LayoutReader):
    """The cells of such files as numbers, dates and categories."""

    share, name = 5, "spelling.csv"

    def read(self, data: bytes) -> None:
        from ordinoise.app.tables.reader import open_stored, read_opened, typed_columns

        path = self._written(self.name, data)
        stored, opened = open_stored(path), read_opened(path)
        turned = typed_columns(stored.frame.reverse().get_columns(), (), stored.reading).frame
        for name, column in zip(turned.columns, turned.get_columns(), strict=True):
            if column.dtype != opened.frame[name].dtype or not column.reverse().equals(opened.frame[name]):
                raise LostError(f"the cells of {name!r} depend on the order of the rows")
        for name in opened.frame.columns:
            made, cells = opened.frame[name], stored.frame[name]
            if (made.is_not_null() & cells.is_null()).any():
                raise LostError(f"a cell of {name!r} without text has a value")


class TsvReader(TableReader):
    """TSV."""

    share, name = 7, "t.tsv"


class GzipReader(TableReader):
    """Packed CSV."""

    share, name = 6, "t.csv.gz"

    def drawn(self, rng: Random) -> bytes:
        return gzip.compress(mutations.drawn_csv(rng), rng.randrange(10), mtime=0)


class ParquetReader(TableReader):
    """Parquet."""

    share, name = 10, "t.parquet"

    def drawn(self, rng: Random) -> bytes:
        out = io.BytesIO()
        mutations.drawn_frame(rng).write_parquet(out, compression=rng.choice(("zstd", "snappy", "uncompressed")))
        return out.getvalue()


class PartsReader(ParquetReader):
    """A Parquet file twice, as a table in parts, surveyed as every verb does first."""

    share = 5

    def start(self) -> None:
        super().start()
        (self.scratch / "parts").mkdir()

    def read(self, data: bytes) -> None:
        from ordinoise.app.out_of_core.files import parts_of, read_part
        from ordinoise.app.out_of_core.survey import Survey, surveyed
        from ordinoise.app.tables.folder import parquet_files

        files = [self._written(f"parts/{number}.parquet", data) for number in (1, 2)]
        found = parts_of(parquet_files(self.scratch / "parts"))
        parts, names, n_rows = found.parts, list(found.names), found.n_rows
        if any(read_part(part).columns != names for part in parts):
            raise LostError("a part has other columns")
        facts = [surveyed(part, at, names[-1], None, 0, n_rows, self.scratch) for at, part in enumerate(parts)]
        Survey.of(facts, n_rows).classes(names[-1], None)
        if any(file.read_bytes() != data for file in files):
            raise LostError("reading changed the file")


class FeatherReader(TableReader):
    """Feather."""

    share, name = 7, "t.feather"

    def drawn(self, rng: Random) -> bytes:
        out = io.BytesIO()
        mutations.drawn_frame(rng).write_ipc(out, compression=rng.choice(("lz4", "zstd", "uncompressed")))
        return out.getvalue()


class ExcelReader(TableReader):
    """An Excel workbook, damaged as a whole or inside of a part."""

    share, name = 7, "t.xlsx"

    def drawn(self, rng: Random) -> bytes:
        with zipfile.ZipFile(io.BytesIO(self.whole[0])) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        name = rng.choice([name for name in parts if "docProps" not in name])
        parts[name] = mutations.changed_bytes(parts[name], rng, list(parts.values()))
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in parts.items():
                archive.writestr(name, part)
        return out.getvalue()

    def read(self, data: bytes) -> None:
        from ordinoise.app.tables import read_exact, workbook_with

        super().read(data)
        path, copy = self.scratch / self.name, self.scratch / "copy.xlsx"
        copy.write_bytes(workbook_with(path, read_exact(path).columns[0], {}))
        if not read_exact(copy).equals(read_exact(path)):
            raise LostError("a workbook that is copied and read again differs")


class LinesReader(TableReader):
    """JSON lines."""

    share, name = 8, "t.jsonl"

    def drawn(self, rng: Random) -> bytes:
        return mutations.drawn_lines(rng)

    def read(self, data: bytes) -> None:
        from ordinoise.app.tables import lines_with, read_stored, write_lines

        super().read(data)
        path, copy = self.scratch / self.name, self.scratch / "copy.jsonl"
        copy.unlink(missing_ok=True)
        write_lines(lines_with(path, "", {}), copy)
        if not read_stored(copy).equals(read_stored(path)):
            raise LostError("JSON lines that are copied and read again differ")


class MatrixReader(Reader):
    """A file with a noise matrix."""

    share = 5

    def draw(self, rng: Random) -> bytes:
        if rng.random() < 0.3:
            cells = ("0.9", "0.1", "0", "1", "nan", "inf", "-1", "", "x", "1e400", "1_0", "\0")
            rows = [",".join(rng.choice(cells) for _ in range(rng.randint(1, 4))) for _ in range(rng.randint(0, 4))]
            return "\n".join(rows).encode()
        return self._mutant([(self.seeds / "matrix.csv").read_bytes()], rng)

    def read(self, data: bytes) -> None:
        from ordinoise.app.verbs.fit import matrix_from

        matrix = matrix_from(self._written("matrix.csv", data), 3)
        if matrix.shape != (3, 3) or not np.allclose(matrix.sum(axis=1), 1, atol=1e-3):
            raise LostError(f"a matrix of shape {matrix.shape} that is no noise matrix")


class SvmlightReader(Reader):
    """The archive's format of ranking features."""

    share = 4

    def draw(self, rng: Random) -> bytes:
        return self._mutant([(self.seeds / "m.txt").read_bytes()], rng)

    def read(self, data: bytes) -> None:
        from ordinoise.datasets.paper import _svmlight

        features, labels, _ = _svmlight(self._written("m.txt", data))
        if len(features) != len(labels):
            raise LostError("features and labels of another length")
