"""Text from outside in the terminal: no escape sequence, no markup and no line break of its own."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from app.cli.command import Result, run

pytestmark = pytest.mark.usefixtures("few_models")

RED = "\x1b[31mred"
FAST = ("--noise", "none", "--learner", "mlp", "--jobs", "1")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _table(path: Path, grades: list[str], target: str = "grade") -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    ranks = np.digitize(x, np.linspace(-1, 1, len(grades) + 1)[1:-1])
    rows = [f"{value:.4f},{grades[rank]}" for value, rank in zip(x, ranks, strict=True)]
    path.write_text("\n".join([f"x,{target}", *rows]) + "\n")
    return path


def _is_harmless(result: Result) -> bool:
    return "\x1b" not in result.out + result.err


@pytest.mark.parametrize(
    "verb", ["audit", "corrupt", *(pytest.param(verb, marks=pytest.mark.slow) for verb in ("fit", "noise"))]
)
def test_a_grade_cannot_color_the_terminal(verb: str, tmp_path: Path) -> None:
    table = _table(tmp_path / "table.csv", ["low", RED, "high"])
    out = {"noise": (), "corrupt": ("--out", tmp_path / "out.csv")}.get(verb, ("--out", tmp_path / "out"))
    fast = () if verb == "corrupt" else FAST[2:] if verb == "noise" else FAST
    result = run(verb, table, "--target", "grade", f"--order=low,{RED},high", *fast, *out)
    assert result.code == 0, result.err
    assert "\ufffd[31mred" in result.out
    assert _is_harmless(result)


def test_a_grade_cannot_color_a_complaint(tmp_path: Path) -> None:
    table = _table(tmp_path / "table.csv", ["low", RED, "high"])
    result = run("noise", table, "--target", "grade", "--order=low,high")
    assert result.code == 2
    assert "[31mred" in result.err
    assert _is_harmless(result)


def test_a_prediction_says_its_grades_without_their_colors(tmp_path: Path) -> None:
    table = _table(tmp_path / "table.csv", ["low", RED, "high"])
    words = ("--target", "grade", f"--order=low,{RED},high", *FAST)
    assert run("fit", table, *words, "--out", tmp_path / "model").code == 0
    (tmp_path / "x[").mkdir()
    result = run("predict", tmp_path / "model", table, "--out", tmp_path / "x[/].csv")
    assert result.code == 0, result.err
    assert "\ufffd[31mred: " in result.out
    assert "x[/].csv" in result.out.replace("\n", "")
    assert _is_harmless(result)
    assert RED in (tmp_path / "x[/].csv").read_text()


def test_the_name_of_a_column_is_no_markup(tmp_path: Path) -> None:
    table = _table(tmp_path / "table.csv", ["1", "2", "3"], target="[bold]\x1b[31mg")
    result = run("noise", table, "--target", "absent")
    assert result.code == 2
    assert "[bold]" in result.err
    assert _is_harmless(result)
    result = run("audit", table, "--target", "[bold]\x1b[31mg", *FAST, "--out", tmp_path / "out")
    assert result.code == 0, result.err
    assert _is_harmless(result)


@pytest.mark.parametrize("name", ["x[/].csv", "c[v2].csv", ":bug:.csv", "back\\[bold].csv"])
def test_an_output_is_reported_by_the_name_it_has(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _table(tmp_path / "table.csv", ["1", "2", "3"])
    Path(name).parent.mkdir(exist_ok=True)
    result = run("corrupt", "table.csv", "--target", "grade", "--out", name)
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith(f"written to {name}\n")
    assert (tmp_path / name).exists()


@pytest.mark.parametrize("verb", ["fit", pytest.param("audit", marks=pytest.mark.slow)])
def test_a_folder_is_reported_by_the_name_it_has(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _table(tmp_path / "table.csv", ["1", "2", "3"])
    result = run(verb, "table.csv", "--target", "grade", *FAST, "--out", "o[b]")
    assert (result.code, "Written o[b]: " in result.out) == (0, True), result.err


def test_a_line_break_in_the_name_of_a_file_breaks_no_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _table(tmp_path / "a\nb.csv", ["1", "2", "3"])
    result = run("corrupt", "a\nb.csv", "--target", "grade", "--out", "c\nd.csv")
    assert result.code == 0, result.err
    assert result.out.endswith("written to c\ufffdd.csv\n")
    result = run("audit", "a\nb.csv", "--target", "grade", *FAST, "--out", "out")
    assert result.out.startswith("a\ufffdb.csv: 60 rows")
    result = run("fit", "no\nsuch\x1b[31m.csv", "--target", "grade")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert _is_harmless(result)


@pytest.mark.parametrize(
    "words",
    [
        ("noise", "a", "--target", "b", "--{}"),
        ("{}",),
        ("plan", "--classes", "{}"),
        ("noise", "a", "{}", "--target", "b"),
    ],
)
def test_wrong_arguments_cannot_steer_the_terminal(words: tuple[str, ...]) -> None:
    result = run(*(word.format(f"{RED}\x1b]0;title\x07") for word in words))
    assert result.code == 2
    assert "[31mred" in result.err
    assert _is_harmless(result)


def test_predictions_on_a_terminal_are_printable_and_in_a_pipe_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _table(tmp_path / "table.csv", ["1", "2", "3"])
    assert run("fit", table, "--target", "grade", *FAST, "--out", tmp_path / "model").code == 0
    table.write_text(f"x,note\n0.5,{RED}\n")
    assert RED in run("predict", tmp_path / "model", table).out
    monkeypatch.setattr("app.cli.command.io.StringIO", Terminal)
    shown = run("predict", tmp_path / "model", table).out
    assert shown.count("\n") == 2
    assert "\ufffd[31mred" in shown
    assert "\x1b" not in shown
