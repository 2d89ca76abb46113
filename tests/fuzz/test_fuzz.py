"""The fuzzer itself, a few inputs of every reader, and every input that once broke one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import ClassVar

import pytest

from tools.fuzz import __main__ as fuzz
from tools.fuzz import readers
from tools.fuzz.seeds import corpus, write_seeds

ROOT = Path(__file__).parents[2]
KEPT = corpus(fuzz.CORPUS)
FEW = 20
# Faults that a fuzzer must notice, by the number of the input.
FAULTS = {3: "traceback", 5: "crash", 7: "hang", 9: "lost"}


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeds")
    write_seeds(folder, models=False)
    return folder


@pytest.mark.parametrize("name", [name for name in fuzz.WITHOUT_MODELS if name not in ("socket", "matrix")])
def test_a_few_inputs_of_a_reader_break_nothing(name: str, seeds: Path, tmp_path: Path) -> None:
    reader = fuzz.READERS[name](seeds, tmp_path, KEPT.get(name, ()))
    n_inputs = len(reader.corpus) + FEW
    found = Counter(fuzz.outcome_of(reader, fuzz.input_of(reader, name, 0, number)) for number in range(n_inputs))
    reader.close()
    assert {outcome for outcome, _ in found} <= {"refused", "accepted"}, found


@pytest.mark.slow
def test_ten_thousand_inputs_break_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tools.fuzz", "--inputs", "10000", "--failures", str(tmp_path / "failures")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout


def test_an_input_follows_from_its_number(seeds: Path, tmp_path: Path) -> None:
    reader = fuzz.READERS["csv"](seeds, tmp_path)
    first, again = ([fuzz.input_of(reader, "csv", 5, number) for number in range(20)] for _ in range(2))
    assert first == again
    assert len(set(first)) == 20


class FaultyReader(readers.Reader):
    """Breaks a rule at some inputs."""

    share: ClassVar[float] = 1.0
    seconds: ClassVar[float] = 2.0

    def draw(self, rng: Random) -> bytes:  # noqa: ARG002 - as in every reader
        return b"input"

    def read(self, data: bytes) -> None:  # noqa: ARG002
        self.n_read = getattr(self, "n_read", self.first) + 1
        fault = FAULTS.get(self.n_read)
        if fault == "traceback":
            raise KeyError("x")
        if fault == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if fault == "hang":
            time.sleep(60)
        if fault == "lost":
            raise readers.LostError("a cell")
        if self.n_read % 2 == 0:
            raise ValueError("x must be odd, got even")

    first = -1


WORKING = """
import sys
sys.path[:0] = ["tests", "."]
from fuzz.test_fuzz import FaultyReader
from tools.fuzz import __main__ as fuzz
fuzz.READERS["csv"] = FaultyReader
FaultyReader.first = int(sys.argv[5]) - 1
fuzz.work("csv", fuzz.Path(sys.argv[3]), *map(int, sys.argv[4:]))
"""


@pytest.mark.slow
def test_every_fault_is_counted_and_its_input_kept(
    seeds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    starting = subprocess.Popen

    def start(words: list[str], **more: object) -> subprocess.Popen[bytes]:
        at = words.index("--work")
        return starting([sys.executable, "-W", "ignore", "-c", WORKING, "--work", *words[at + 1 :]], **more)  # type: ignore[call-overload]

    monkeypatch.setitem(fuzz.READERS, "csv", FaultyReader)
    monkeypatch.setattr(subprocess, "Popen", start)
    counts = fuzz.Supervisor(seeds, 0, tmp_path / "failures").run("csv", 12, float("inf"))
    assert counts == {"traceback": 1, "crash": 1, "hang": 1, "lost": 1, "refused": 6, "accepted": 2}
    kept = {path.name for path in (tmp_path / "failures" / "csv").iterdir()}
    assert kept == {f"{fault}-{number}" for number, fault in FAULTS.items()}
    table = fuzz.table_of({"csv": counts}).splitlines()
    assert table[1].split() == ["csv", "12", "6", "2", "1", "1", "1", "1"]
    assert table[2].split()[1:] == table[1].split()[1:]
    assert "csv 5 crash: exit -11" in capsys.readouterr().err


def test_an_unknown_reader_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        fuzz.main(["--readers", "nosuch"])
    assert end.value.code == 2
    assert "got 'nosuch'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "answer"),
    [("while True: pass", None), ("time.sleep(60)", None), ("time.sleep(0.5); print('answer')", "answer")],
)
def test_a_hang_is_told_by_processor_time_and_not_by_a_busy_computer(body: str, answer: str | None) -> None:
    command = [sys.executable, "-S", "-u", "-c", f"import time\n{body}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert fuzz.answer_of(fuzz.Lines(process.stdout), process.pid, 0.2) == answer
        finally:
            process.kill()
