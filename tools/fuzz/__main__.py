"""Run fuzzed inputs over readers and verbs, and count what happens to them.

Every input follows from the seed, the reader and its number, and is read in a process of its reader, which is started
again if it crashes or hangs. Inputs that break a rule are written to a folder; moved to ``tests/fuzz/corpus/<reader>``,
they are read again by the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import IO

from tools.fuzz import doors, folders, paths, readers, rounds
from tools.fuzz.seeds import corpus, write_seeds

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
READERS: dict[str, type[readers.Reader]] = {
    "csv": readers.CsvReader, "layout": readers.LayoutReader, "spelling": readers.SpellingReader, "tsv": readers.TsvReader, "gzip": readers.GzipReader, "parquet": readers.ParquetReader, "parts": readers.PartsReader,
    "feather": readers.FeatherReader, "excel": readers.ExcelReader, "lines": readers.LinesReader, "matrix": readers.MatrixReader, "embeddings": readers.EmbeddingsReader, "svmlight": readers.SvmlightReader,
    "audit": folders.AuditReader, "noise": folders.NoiseReader, "model": folders.ModelReader,
    "boosting": folders.BoostingReader, "blend": folders.BlendReader, "arrays": folders.ArraysReader,
    "trees": folders.TreesReader, "task": folders.TaskReader, "checkpoint": folders.CheckpointReader,
    "decisions": folders.DecisionsReader, "results": folders.ResultsReader, "request": doors.RequestReader,
    "socket": doors.SocketReader, "verbs": doors.VerbReader, "learn": doors.LearnReader,
    "tasks": rounds.TasksReader, "rounds": rounds.RoundsReader, "names": paths.NamesReader, "console": paths.ConsoleReader,
    "settled": paths.SettledReader, "replaced": paths.ReplacedReader,
}  # fmt: skip
WITHOUT_MODELS = ("csv", "layout", "spelling", "tsv", "gzip", "parquet", "parts", "feather", "excel", "lines", "tasks", "matrix", "embeddings", "svmlight", "audit", "noise", "decisions", "results", "request", "socket", "names", "settled", "replaced")  # fmt: skip
OUTCOMES = ("refused", "accepted", "traceback", "crash", "hang", "lost")
MOST_MEMORY = 12 * 2**30  # bytes of address space, far above what an input needs; a round number, chosen by no run
SECONDS_TO_START = 300.0
PATIENCE = (
    10  # times the limit of a reader that a process without the processor may take; a round number, chosen by no run
)
INPUTS_PER_SECOND = 50  # below the 80 of the first 100,000 inputs, on two busy processors


def outcome_of(reader: readers.Reader, data: bytes) -> tuple[str, str]:
    """What happens to an input, and the words of a failure."""
    try:
        reader.read(data)
    except ValueError as error:
        words = str(error)
        is_sentence = " must " in words and ", got " in words and "\n" not in words
        return ("refused", "") if is_sentence else ("traceback", f"{type(error).__name__}: {words[:300]}")
    except readers.LostError as error:
        return "lost", str(error)
    except BaseException as error:
        return "traceback", f"{type(error).__name__}: {str(error)[:300]}"
    return "accepted", ""


def input_of(reader: readers.Reader, name: str, seed: int, number: int) -> bytes:
    """The input of this number; the corpus comes first."""
    return reader.corpus[number] if number < len(reader.corpus) else reader.draw(Random(f"{seed}/{name}/{number}"))


def work(name: str, seeds: Path, seed: int, first: int, last: int) -> None:
    """Read inputs and print one line of JSON each: the body of a reader's process."""
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with tempfile.TemporaryDirectory() as scratch:
        reader = READERS[name](seeds, Path(scratch), corpus(CORPUS).get(name, ()))
        report.write("ready\n")
        for number in range(first, last):
            report.write(json.dumps([number, *outcome_of(reader, input_of(reader, name, seed, number))]) + "\n")
        reader.close()
        os.chdir("/")
    report.close()
    os._exit(0)  # threads of the server may wait for connections


class Supervisor:
    """Runs one reader's inputs in processes, and keeps count."""

    def __init__(self, seeds: Path, seed: int, failures: Path) -> None:
        self.seeds, self.seed, self.failures = seeds, seed, failures

    def run(self, name: str, n_inputs: int, deadline: float) -> Counter[str]:
        """Counts of outcomes of a reader's inputs, fewer if the time is over."""
        counts: Counter[str] = Counter()
        number = 0
        while number < n_inputs and time.monotonic() < deadline:
            number = self._batch(name, number, n_inputs, deadline, counts)
        return counts

    def _batch(self, name: str, first: int, last: int, deadline: float, counts: Counter[str]) -> int:
        """Read inputs until the end, a crash, a hang or the deadline; returns the number of the next."""
        words = [sys.executable, "-W", "ignore", "-m", "tools.fuzz", "--work", name, str(self.seeds), str(self.seed), str(first), str(last)]  # fmt: skip
        number = first
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=said, cwd=ROOT)
            assert process.stdout is not None
            lines = Lines(process.stdout)
            try:
                if lines.next(SECONDS_TO_START) != "ready":
                    said.seek(0)
                    raise RuntimeError(f"the process of {name} does not start: {said.read().decode()[-2000:]}")
                while number < last and time.monotonic() < deadline:
                    line = answer_of(lines, process.pid, READERS[name].seconds)
                    if line:
                        _, outcome, words_of = json.loads(line)
                    else:
                        outcome, words_of = ("hang", "") if line is None else ("crash", f"exit {process.wait()}")
                    counts[outcome] += 1
                    if outcome not in ("refused", "accepted"):
                        self._keep(name, number, outcome, words_of)
                    number += 1
                    if outcome in ("hang", "crash"):
                        break
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
        return number

    def _keep(self, name: str, number: int, outcome: str, words: str) -> None:
        """Write the input of a failure to a file, and say so."""
        sys.stderr.write(f"{name} {number} {outcome}: {words}\n")
        folder = self.failures / name
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            reader = READERS[name](self.seeds, Path(scratch), corpus(CORPUS).get(name, ()))
            (folder / f"{outcome}-{number}").write_bytes(input_of(reader, name, self.seed, number))
            reader.close()


class Lines:
    """Lines of a pipe with a time limit each."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe, self._rest = pipe, b""

    def next(self, seconds: float) -> str | None:
        """The next line; empty at the end of the pipe, None if it does not come in time."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            more = os.read(self._pipe.fileno(), 1 << 16)
            if not more:
                return ""
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()


def answer_of(lines: Lines, process: int, seconds: float) -> str | None:
    """The next line; None if the process spends `seconds` of processor time on it, or does nothing for long.

    On a busy computer an input may wait for its turn: time that passes is no sign of a hang.
    """
    begun = _processor_seconds(process)
    for _ in range(PATIENCE):
        line = lines.next(seconds)
        if line is not None or _processor_seconds(process) - begun >= seconds:
            return line
    return None


def _processor_seconds(process: int) -> float:
    """Processor time of a process so far; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table_of(found: dict[str, Counter[str]]) -> str:
    """The counts as a table, one row per reader."""
    columns = ("inputs", *OUTCOMES)
    rows = [
        (name, [sum(counts.values()), *(counts[outcome] for outcome in OUTCOMES)]) for name, counts in found.items()
    ]
    rows.append(("all", [sum(numbers) for numbers in zip(*(numbers for _, numbers in rows), strict=True)]))
    head = "reader".ljust(12) + "".join(name.rjust(11) for name in columns)
    return "\n".join(
        [head, *(name.ljust(12) + "".join(f"{number:11,}" for number in numbers) for name, numbers in rows)]
    )


def main(arguments: list[str] | None = None) -> int:
    """Parse the options and run; the exit code is 1 if an input broke a rule."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description="Fuzzed inputs over readers and verbs.")
    parser.add_argument("--inputs", type=int, default=100_000, help="number of inputs over all readers")
    parser.add_argument("--seconds", type=float, help="go on with new seeds for this long; --inputs is one round")
    parser.add_argument("--readers", default="all", help=f"names with commas between, of {', '.join(READERS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--failures", type=Path, default=Path("fuzz-failures"), help="folder for inputs that break a rule"
    )
    parser.add_argument("--jobs", type=int, default=2, help="readers at once")
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.work:
        name, seeds, *numbers = given.work
        work(name, Path(seeds), *map(int, numbers))
    names = list(READERS) if given.readers == "all" else given.readers.split(",")
    unknown = [name for name in names if name not in READERS]
    if unknown:
        parser.error(f"readers must be among {', '.join(READERS)}, got {unknown[0]!r}")
    found = run(names, given.inputs, given.seconds or None, given.seed, given.failures, given.jobs, sys.stderr.write)
    sys.stdout.write(table_of(found) + "\n")
    return int(any(counts[outcome] for counts in found.values() for outcome in OUTCOMES[2:]))


def run(
    names: list[str],
    n_inputs: int,
    seconds: float | None,
    seed: int,
    failures: Path,
    n_jobs: int,
    say: Callable[[str], object],
) -> dict[str, Counter[str]]:
    """Counts by reader of one round of inputs, or of as many as fit into the time."""
    deadline = time.monotonic() + (seconds or float("inf"))
    if seconds:  # every reader has its turn
        n_inputs = min(n_inputs, max(len(names), int(INPUTS_PER_SECOND * seconds)))
    weight = sum(READERS[name].share for name in names)
    found: dict[str, Counter[str]] = {name: Counter() for name in names}
    with tempfile.TemporaryDirectory() as folder:
        write_seeds(Path(folder), models=bool(set(names) - set(WITHOUT_MODELS)))
        while True:
            supervisor = Supervisor(Path(folder), seed, failures)

            def one(name: str, supervisor: Supervisor = supervisor) -> None:
                begun, share = time.monotonic(), -(-n_inputs * READERS[name].share // weight)
                counts = supervisor.run(name, int(share), deadline)
                found[name] += counts
                say(f"{name}: {sum(counts.values()):,} inputs in {time.monotonic() - begun:.0f} s\n")

            with ThreadPoolExecutor(n_jobs) as pool:
                list(pool.map(one, names))
            seed += 1
            if seconds is None or time.monotonic() > deadline:
                return found


if __name__ == "__main__":
    raise SystemExit(main())
