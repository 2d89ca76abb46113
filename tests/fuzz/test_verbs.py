"""Whatever a file holds and whatever options say: exit code 0 or 2, one sentence for 2, and no traceback."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.cli.command import files_below, run

SENTENCE = re.compile(r".+ must .+, got .+\n|╭─ Error .*", re.S)
QUIET = settings(
    max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True
)
CELLS = st.sampled_from(
    ["1", "2", "3", "-1.5", "red", "", "NA", '"a,b"', "inf", "é", "=1+1", "1e400", "2020-01-02", "x" * 300, "\x00"]
)
NAMES = st.sampled_from(["a", "b", "stars", "", "a", "<b>", "predicted_stars", "row"])


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """Something like a table, or bytes."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=200))
    width = draw(st.integers(1, 4))
    delimiter = draw(st.sampled_from([",", ";", "\t", "|"]))
    lines = [draw(st.lists(NAMES, min_size=width, max_size=width))]
    for _ in range(draw(st.integers(0, 6))):
        length = width if draw(st.integers(0, 9)) else draw(st.integers(0, 5))
        lines.append(draw(st.lists(CELLS, min_size=length, max_size=length)))
    return draw(st.sampled_from(["\n", "\r\n"])).join(delimiter.join(line) for line in lines).encode()


OPTIONS = st.lists(
    st.sampled_from(
        [
            ("--order", "1,2,3"), ("--order", ""), ("--order", ","), ("--seed", "3"), ("--seed", "x"), ("--rate", "nan"), ("--rate", "9"),
            ("--kind", "adjacent"), ("--kind", "odd"), ("--noise", "nosuch"), ("--json",), ("--target", "b"), ("--bogus",), ("",),
        ]
    ),
    max_size=3,
)  # fmt: skip


def _check(words: list[str], folder: Path, may_write: str) -> None:
    before = files_below(folder)
    result = run(*words)
    assert result.code in (0, 2), result
    assert "Traceback" not in result.err
    if result.code == 2:
        assert SENTENCE.fullmatch(result.err), result.err
        assert files_below(folder) == before
    (folder / may_write).unlink(missing_ok=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_corrupt_takes_or_refuses_any_table(folder: Path) -> None:
    @QUIET
    @given(tables(), OPTIONS)
    def check(content: bytes, options: list[tuple[str, ...]]) -> None:
        (folder / "t.csv").write_bytes(content)
        words = [
            "corrupt",
            "t.csv",
            "--target",
            "stars",
            "--out",
            "out.csv",
            *[word for option in options for word in option],
        ]
        _check(words, folder, "out.csv")

    check()


@pytest.mark.parametrize("verb", ["audit", "fit", "noise"])
def test_bytes_are_no_table_to_learn_from(verb: str, folder: Path) -> None:
    out = [] if verb == "noise" else ["--out", "out"]

    @QUIET
    @given(st.binary(max_size=300), OPTIONS)
    def check(content: bytes, options: list[tuple[str, ...]]) -> None:
        (folder / "t.csv").write_bytes(content)
        _check(
            [verb, "t.csv", "--target", "stars", *out, *[word for option in options for word in option]], folder, "x"
        )

    check()


@pytest.mark.parametrize("verb", ["predict", "evaluate", "export", "review"])
def test_a_folder_of_anything_is_no_model_and_no_audit(verb: str, folder: Path) -> None:
    (folder / "t.csv").write_text("a,stars\n1,1\n2,2\n")
    (folder / "m").mkdir()
    rest = {"predict": ["t.csv"], "evaluate": ["t.csv"], "export": ["out.onnx"], "review": ["--no-browser"]}[verb]

    @QUIET
    @given(
        st.sampled_from(["model.json", "audit.json", "task.json"]),
        st.binary(max_size=60) | st.just(b"{}") | st.just(b"[]"),
    )
    def check(name: str, content: bytes) -> None:
        (folder / "m" / name).write_bytes(content)
        _check([verb, "m", *rest], folder, "out.onnx")
        os.remove(folder / "m" / name)  # noqa: PTH107

    check()


def test_plan_takes_or_refuses_any_numbers() -> None:
    @QUIET
    @given(st.integers(-3, 60) | st.text(max_size=4), st.floats(allow_nan=True) | st.text(max_size=4))
    def check(classes: object, rate: object) -> None:
        result = run("plan", "--classes", str(classes), "--rate", str(rate), "--json")
        assert result.code in (0, 2), result
        assert result.code == 0 or SENTENCE.fullmatch(result.err), result.err

    check()


@pytest.mark.parametrize(
    "content", [b"", b"\x08\x08\x12\x07pytorch", b"\x00" * 500, b"PK\x03\x04"], ids=["empty", "onnx", "zeros", "zip"]
)
@pytest.mark.parametrize("verb", ["predict", "evaluate", "export"])
def test_a_file_is_no_model_folder(verb: str, content: bytes, folder: Path) -> None:
    (folder / "t.csv").write_text("a,stars\n1,1\n2,2\n")
    (folder / "model.onnx").write_bytes(content)
    _check([verb, "model.onnx", "out.onnx" if verb == "export" else "t.csv"], folder, "out.onnx")
    assert run(verb, "model.onnx", "t.csv").code == 2
