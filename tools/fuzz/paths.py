"""Ways that a file or a verb can be met: its name, its folder, the console, a change in between.

A reader of the list `UPLOADS` is one line: a name, the bytes of a whole file, and a function that reads a path.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from tools.fuzz import mutations
from tools.fuzz.doors import VerbReader
from tools.fuzz.readers import LostError, Reader
from tools.fuzz.seeds import CLASSES

STEMS = (
    "x", "x[1]", "x*", "x?", "{a,b}", "~", "$HOME", "a b", "a\nb", "-x", "--out", "%41", "é", "王", "\u202ex", ".x", "x.csv", "http:",
    "x'\"", "a;b", "#", "CON", "\\x", "x" * 200,
)  # fmt: skip
ENCODINGS = ("utf-8", "ascii", "cp1252", "latin-1", "utf-16")
KINDS = (
    ".csv",
    ".jsonl",
    "keyless.jsonl",
    ".xlsx",
    ".parquet",
    ".feather",
    "choices.json",
    "rating.json",
    "empty.json",
)


@dataclass(frozen=True)
class Upload:
    """A way in: the seed that a mutant is made from, and what reads a path."""

    seed: str
    read: Callable[[Path], object]


def _table(path: Path) -> object:
    from ordinoise.app.tables import read_table

    return read_table(path)


def _embeddings(path: Path) -> object:
    from ordinoise.app.tables.embeddings import read_embeddings

    return read_embeddings(path, 60)


def _parts(path: Path) -> object:
    from ordinoise.app.out_of_core.files import parts_of

    return parts_of([path])


def _matrix(path: Path) -> object:
    from ordinoise.app.verbs.fit import matrix_from

    return matrix_from(path, 3)


UPLOADS = {
    "csv": Upload("t.csv", _table), "gzip": Upload("t.csv.gz", _table), "lines": Upload("t.jsonl", _table),
    "tasks": Upload("t.json", _table), "excel": Upload("t.xlsx", _table), "parquet": Upload("t.parquet", _table),
    "feather": Upload("t.feather", _table), "parts": Upload("t.parquet", _parts), "numpy": Upload("vectors.npy", _embeddings),
    "embeddings": Upload("t.parquet", _embeddings), "matrix": Upload("matrix.csv", _matrix),
}  # fmt: skip
"""Every way that a file of a stranger comes in: the next one is one more line."""


class NamesReader(Reader):
    """Any upload under any name, as a file, a link, a pipe, or one that is replaced by another while it is read."""

    share = 6

    def draw(self, rng: Random) -> bytes:
        kind = rng.choice(sorted(UPLOADS))
        seed = UPLOADS[kind].seed
        whole = (self.seeds / seed).read_bytes()
        data = whole if rng.random() < 0.4 else self._mutant([whole], rng)
        drawn = {
            "upload": kind, "stem": rng.choice(STEMS), "way": rng.choice(("file", "file", "link", "pipe", "folder", "no mode")),
            "data": data.decode("latin-1"),
        }  # fmt: skip
        return json.dumps(drawn).encode()

    def read(self, data: bytes) -> None:
        given = json.loads(data)
        upload, content = UPLOADS[given["upload"]], given["data"].encode("latin-1")
        folder = self.scratch / "names"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        path = folder / (given["stem"] + "".join(Path(upload.seed).suffixes))
        if given["way"] == "pipe":
            os.mkfifo(path)
        elif given["way"] == "folder":
            path.mkdir()
        elif given["way"] == "link":
            (folder / "target").write_bytes(content)
            path.symlink_to("target")
        else:
            path.write_bytes(content)
            path.chmod(0 if given["way"] == "no mode" else 0o644)
        before = sorted(folder.iterdir())
        try:
            upload.read(path)
        finally:
            path.chmod(0o755 if path.is_dir() else 0o644)
            if sorted(folder.iterdir()) != before:
                raise LostError("reading made or removed a file")
        if path.read_bytes() != content:
            raise LostError("reading changed the file")


class ConsoleReader(VerbReader):
    """A verb whose console shows little, or takes nothing: its files are those of a console that takes all."""

    share, seconds = 1.0, 120.0
    verbs = ("corrupt", "corrupt", "judge", "plan", "data", "predict", "next", "raters")

    def draw(self, rng: Random) -> bytes:
        drawn = json.loads(super().draw(rng))
        drawn["table"] = (
            drawn["table"].replace("red", rng.choice(("red", "王", "é", "\u202e"))).encode().decode("latin-1")
        )
        return json.dumps(drawn | {"console": rng.choice((*ENCODINGS, "full"))}).encode()

    def _run(self, words: list[str]) -> tuple[int, str]:
        """The verb on a console of UTF-8, then on the other one."""
        code, said = super()._run(words)
        first = self._made()
        for path in first:
            Path(path).unlink()
        shutil.rmtree(self.scratch / "made", ignore_errors=True)
        again = self._run_on(self.console, words)
        allowed = {code} if self.console != "full" else {code, 2}
        if again not in allowed or (code == 0 and set(self._made()) != set(first)):
            raise LostError(
                f"exit code {code} and {len(first)} files, then {again} and {len(self._made())} on {self.console}"
            )
        return code, said

    def read(self, data: bytes) -> None:
        self.console = json.loads(data)["console"]
        super().read(data)

    def _made(self) -> dict[str, bytes]:
        return {
            path: content
            for path, content in self._content().items()
            if path not in self.before and not path.endswith("/t.csv")
        }

    def _run_on(self, console: str, words: list[str]) -> int:
        from ordinoise.app.cli import main

        raw = Path("/dev/full").open("wb", buffering=0) if console == "full" else io.BytesIO()  # noqa: SIM115
        out = io.TextIOWrapper(raw, encoding="utf-8" if console == "full" else console, write_through=True)
        code = 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            try:
                main(words)
            except SystemExit as ending:
                code = int(ending.code or 0)
        with contextlib.suppress(OSError):
            out.close()
        return code


class SettledReader(Reader):
    """Decisions about graded and ungraded rows of a file of any kind, exported and read again."""

    share, seconds = 4, 60.0

    def draw(self, rng: Random) -> bytes:
        ungraded = sorted(rng.sample(range(60), rng.choice((1, 3, 20))))
        settled = {str(row): rng.choice(CLASSES) for row in rng.sample(range(60), rng.choice((0, 1, 5, 30)))}
        return json.dumps({"kind": rng.choice(KINDS), "ungraded": ungraded, "settled": settled}).encode()

    def read(self, data: bytes) -> None:
        from ordinoise.app.records.audit import read_record
        from ordinoise.app.review.events import RowState
        from ordinoise.app.review.export import write_corrected
        from ordinoise.app.tables import digest_of, read_stored

        given = json.loads(data)
        folder = self.scratch / "settled"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        source = self._source(folder, given["kind"], set(given["ungraded"]))
        record = replace(read_record(self.seeds / "audit"), source=str(source), digest=digest_of(source), suspects=())
        states = [RowState(int(row), "settled", grade, "Ada") for row, grade in given["settled"].items()]
        found = write_corrected(record, states)
        was, now = (read_stored(path)["stars"].to_list() for path in (source, found.path))
        wanted = {row: None if cell is None else str(cell) for row, cell in enumerate(was)}
        wanted |= {int(row): grade for row, grade in given["settled"].items()}
        if [None if cell is None else str(cell) for cell in now] != list(wanted.values()):
            raise LostError(f"the grades of {found.path.name} are not those that were settled")

    def _source(self, folder: Path, kind: str, ungraded: set[int]) -> Path:
        import polars as pl

        from ordinoise.app.tables import write_table

        grades = [None if row in ungraded else row % 3 + 1 for row in range(60)]
        frame = pl.DataFrame({"size": [row / 7 for row in range(60)], "stars": pl.Series(grades, dtype=pl.Int64)})
        name = folder / f"t{Path(f'x{kind}').suffix}"
        if kind.endswith(".json"):
            name.write_text(json.dumps([_task(row, grade, kind) for row, grade in enumerate(grades)]))
        elif kind == "keyless.jsonl":
            rows = [{key: value for key, value in row.items() if value is not None} for row in frame.to_dicts()]
            name.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            write_table(frame, name)
        return name


def _task(number: int, grade: int | None, kind: str) -> dict[str, Any]:
    result_type = "rating" if kind.startswith("rating") else "choices"
    value: Any = grade if result_type == "rating" else [str(grade)]
    result = {"from_name": "stars", "to_name": "text", "type": result_type, "value": {result_type: value}}
    empty: list[dict[str, Any]] = [{"result": []}] if kind.startswith("empty") else []
    return {
        "id": number,
        "data": {"size": number / 7},
        "annotations": empty if grade is None else [{"result": [result]}],
    }


class ReplacedReader(Reader):
    """A part that is replaced by another while it is worked on: noticed, whatever the other one is."""

    share = 1

    def start(self) -> None:
        self.whole = [(self.seeds / "t.parquet").read_bytes()]

    def draw(self, rng: Random) -> bytes:
        other = rng.choice((self.whole[0], self._mutant(self.whole, rng), mutations.drawn_csv(rng)))
        return json.dumps({"other": other.decode("latin-1"), "keeps_time": rng.random() < 0.5}).encode()

    def read(self, data: bytes) -> None:
        from ordinoise.app.out_of_core.files import parts_of
        from ordinoise.app.out_of_core.tasks import SurveyTask
        from ordinoise.app.out_of_core.work import working

        given, folder = json.loads(data), self.scratch / "replaced"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        files = [folder / f"{number}.parquet" for number in (1, 2)]
        for file in files:
            file.write_bytes(self.whole[0])
        found = parts_of(files)

        def replace_one(_: str) -> None:
            times = files[1].stat()
            (folder / "new").write_bytes(given["other"].encode("latin-1"))
            if given["keeps_time"]:
                os.utime(folder / "new", ns=(times.st_atime_ns, times.st_mtime_ns))
            (folder / "new").replace(files[1])

        with working(folder / "out", files, "", 1, None, replace_one) as work:
            tasks = [SurveyTask(part, at, "stars", None, 0, found.n_rows) for at, part in enumerate(found.parts)]
            work.done(tasks, "reading")
            raise LostError("a part was replaced and nobody noticed")
