"""Hidden files of killed runs: the next run to the same place removes them, and no others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.cli.command import run
from ordinoise import _files
from ordinoise._files import write_whole
from ordinoise._interrupts import waiting_signals

WRITING = """
import os, signal, sys
from pathlib import Path
from ordinoise._files import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _killed(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WRITING, str(path)], capture_output=True)
    assert done.returncode == -signal.SIGKILL


def test_the_next_write_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    for _ in range(2):
        _killed(tmp_path / "out.csv")
        assert len(list(tmp_path.glob(".out.csv-????????"))) == 1
    write_whole(tmp_path / "other.csv", b"whole")
    assert len(_names(tmp_path)) == 2
    write_whole(tmp_path / "out.csv", b"whole")
    assert _names(tmp_path) == {"other.csv", "out.csv"}


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["corrupt", "predict"])
def test_the_next_run_of_a_verb_removes_what_a_killed_one_left(verb: str, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,stars\n" + "".join(f"{i / 7:.3f},{i % 3 + 1}\n" for i in range(60)))
    words: list[str | Path] = ["corrupt", table, "--target", "stars", "--out", tmp_path / "out.csv"]
    if verb == "predict":
        fit = ("fit", table, "--target", "stars", "--learner", "mlp", "--noise", "none", "--out", tmp_path / "model")
        assert run(*fit).code == 0
        words = ["predict", tmp_path / "model", table, "--out", tmp_path / "out.csv"]
    before = _names(tmp_path)
    dying = (
        "import os, signal, sys; os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from ordinoise.app.cli import main; main(sys.argv[1:])"
    )
    assert subprocess.run([sys.executable, "-c", dying, *map(str, words)]).returncode == -signal.SIGKILL
    assert len(_names(tmp_path) - before) == 1
    assert run(*words).code == 0
    assert _names(tmp_path) == before | {"out.csv"}


def test_a_file_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    with _files.whole_file(tmp_path / "out.csv") as file:
        file.write(b"first")
        write_whole(tmp_path / "out.csv", b"second")
        assert len(_names(tmp_path)) == 2
    assert (tmp_path / "out.csv").read_bytes() == b"first"
    assert _names(tmp_path) == {"out.csv"}


def test_other_files_and_links_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    (tmp_path / ".out.csv-mine").write_text("text")
    (tmp_path / ".out.csv-0123abcdef").write_text("text")
    (tmp_path / ".out.csv-0123abcd").symlink_to(tmp_path / "precious")
    os.mkfifo(tmp_path / ".out.csv-11111111")
    before = _names(tmp_path)
    write_whole(tmp_path / "out.csv", b"whole")
    assert _names(tmp_path) == before | {"out.csv"}


def test_without_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "takes_lock", lambda _: None)
    (tmp_path / ".out.csv-0123abcd").write_text("text")
    write_whole(tmp_path / "out.csv", b"whole")
    assert _names(tmp_path) == {".out.csv-0123abcd", "out.csv"}


def _write_often(path: Path, content: bytes) -> None:
    for _ in range(300):
        write_whole(path, content)


def test_writers_at_once_do_not_remove_each_others_files(tmp_path: Path) -> None:
    # A thread here and a process there: locks hold between open files, not between processes only.
    words = "from pathlib import Path; from ordinoise._files import write_whole"
    words += f"; [write_whole(Path({str(tmp_path / 'out')!r}), b'a' * 999) for _ in range(300)]"
    process = subprocess.Popen([sys.executable, "-c", words])
    threads = [threading.Thread(target=_write_often, args=(tmp_path / "out", b"b" * 999)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert process.wait(60) == 0
    assert _names(tmp_path) == {"out"}
    assert len(set((tmp_path / "out").read_bytes())) == 1


def test_a_signal_waits_until_a_picture_is_drawn() -> None:
    steps = []

    def draw() -> None:
        with waiting_signals():
            signal.raise_signal(signal.SIGINT)
            steps.append("drawn")
        steps.append("after")

    with pytest.raises(KeyboardInterrupt):
        draw()
    assert steps == ["drawn"]
    with pytest.raises(KeyboardInterrupt):  # as before
        signal.raise_signal(signal.SIGINT)
