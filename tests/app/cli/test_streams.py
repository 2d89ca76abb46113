"""Standard streams that cannot take what a verb prints: its work is done, and it says what was lost."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ordinoise.app.cli import main

pytestmark = pytest.mark.usefixtures("few_models")

FAST = ("--noise", "none", "--learner", "mlp", "--jobs", "1")
ORDER = ("--target", "评分", "--order", "低,中,高")
GRADES = ("低", "中", "高")
VERBS = {
    "raters": ("raters", "ratings.csv", "--item", "item", "--rater", "who", "--grade", "stars", "--out", "out"),
    "judge": ("judge", "scores.csv", "--judge", "machine", "--human", "person", "--by", "who", "--out", "out"),
    "corrupt": ("corrupt", "table.csv", *ORDER, "--out", "out.csv"),
    "fit": ("fit", "table.csv", *ORDER, *FAST, "--out", "out"),
    "audit": ("audit", "table.csv", *ORDER, *FAST, "--out", "out"),
    "predict": ("predict", "model", "table.csv", "--out", "out.csv"),
    "evaluate": ("evaluate", "model", "table.csv"),
    "check": ("check", "table.csv", *ORDER, *FAST, "--max-wrong", "1"),
    "next": ("next", "王", "--budget", "3"),
    "plan": ("plan", "--classes", "3", "--rate", "0.1"),
    "data": ("data",),
}
FULL = Path("/dev/full")
ENCODINGS = ("ascii", "cp1252", "latin-1", "utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables whose names no narrow encoding holds, a model and an audit of one."""
    folder, rng = tmp_path_factory.mktemp("streams"), np.random.default_rng(0)
    x = rng.normal(size=60)
    ranks = np.digitize(x, [-0.5, 0.5])
    pl.DataFrame({"尺寸": x, "评分": [GRADES[rank] for rank in ranks]}).write_csv(folder / "table.csv")
    people = [
        (f"物{item}", f"王{who}", (item + (item + who) % 3 // 2) % 3 + 1) for item in range(20) for who in range(3)
    ]
    pl.DataFrame(people, schema=["item", "who", "stars"], orient="row").write_csv(folder / "ratings.csv")
    scores = {"machine": ranks + 1, "person": ranks + 1, "who": ["王"] * 30 + ["李"] * 30}
    pl.DataFrame(scores).write_csv(folder / "scores.csv")
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for verb, out in (("fit", "model"), ("audit", "王")):
            with contextlib.suppress(SystemExit):
                main([*VERBS[verb][:-1], out])
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("table.csv", "ratings.csv", "scores.csv", "model", "王"):
        (tmp_path / name).symlink_to(made / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(words: tuple[str, ...], out: io.TextIOWrapper, err: io.TextIOWrapper | None = None) -> tuple[int, str]:
    """Exit code and standard error of a verb, once both streams are flushed."""
    said = err or io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            main(list(words))
        except SystemExit as ending:
            code = int(ending.code or 0)
    with contextlib.suppress(OSError):
        said.flush()
    return code, _written(said).decode() if err is None else ""


def _written(stream: io.TextIOWrapper) -> bytes:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()


def _is_done(folder: Path, words: tuple[str, ...]) -> bool:
    return not words[-1].startswith("out") or (folder / words[-1]).exists()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("verb", ["raters", "judge"])
def test_names_that_a_console_cannot_show_cost_no_work(folder: Path, verb: str, encoding: str) -> None:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    assert _run(VERBS[verb], out, err)[0] == 0
    assert _is_done(folder, VERBS[verb])
    shown = "\\u738b" if encoding != "utf-8" else "王"
    assert shown in _written(out).decode(encoding)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_ends_well_on_a_console_that_shows_ascii_alone(folder: Path, verb: str) -> None:
    code, said = _run(VERBS[verb], io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert (code, said.count("must")) == (0, 0), said
    assert _is_done(folder, VERBS[verb])


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("verb", ["raters", "judge", "audit", "corrupt", "predict", "plan"])
def test_a_full_standard_output_costs_no_work_and_is_one_sentence(folder: Path, verb: str) -> None:
    with FULL.open("w", encoding="utf-8") as full:
        code, said = _run(VERBS[verb], full)
    assert (code, said) == (
        2,
        "standard output must be writable, got: No space left on device; what was written to files is complete\n",
    )
    assert _is_done(folder, VERBS[verb])


@pytest.mark.parametrize("verb", ["raters", "judge"])
def test_a_full_standard_error_costs_nothing(folder: Path, verb: str) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with FULL.open("w", encoding="utf-8") as full:
        assert _run(VERBS[verb], out, full)[0] == 0
    assert _is_done(folder, VERBS[verb])


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_closed_stream_costs_nothing(folder: Path, closed: str) -> None:
    words = " ".join([sys.executable, "-m", "ordinoise.app.cli", *VERBS["corrupt"], closed])
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert _is_done(folder, VERBS["corrupt"])


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["raters", "judge", "corrupt"])
def test_a_process_says_it_once_and_ends_with_2(folder: Path, verb: str) -> None:
    words = " ".join([sys.executable, "-m", "ordinoise.app.cli", *VERBS[verb], ">/dev/full"])
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("standard output must be writable, got: No space left on device")
    assert done.stderr.count("\n") == 1
    assert _is_done(folder, VERBS[verb])


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_predictions_in_a_pipe_are_utf_8_whatever_the_console_shows(folder: Path, json: tuple[str, ...]) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    assert _run(("predict", "model", "table.csv", *json), out)[0] == 0
    assert "评分" in _written(out).decode()
