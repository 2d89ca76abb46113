"""``ordinoise judge``: what it writes, prints and refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.command import files_below, run
from ordinoise.noise import corrupt, inverse_decay
from ordinoise.scoring import judge

SENTENCE = re.compile(r"^[\w' -]+ must .+, got .+\n$")
WORDS = ("judge", "scores.csv", "--judge", "machine", "--human", "person", "--by", "system", "--out", "new")


def scores(n_rows: int = 300) -> pl.DataFrame:
    """Machine grades of two systems, one of which has a name that a page or a spreadsheet could act on."""
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, n_rows)
    machine = corrupt(human - 1, inverse_decay(5, 0.1), random_state=1) + 1
    person = [int(grade) if row % 3 == 0 else None for row, grade in enumerate(human)]
    system = np.where(rng.random(n_rows) < 0.5, "one", "=<script>alert(1)</script>")
    return pl.DataFrame({"row": np.arange(n_rows) + 7, "system": system, "machine": machine, "person": person})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    scores().write_csv("scores.csv")
    return tmp_path


def test_it_writes_and_prints_what_python_gives(folder: Path) -> None:
    shown = run(*WORDS, "--json")
    assert shown.code == 0, shown
    frame = scores()
    expected = judge(frame["machine"], frame["person"], frame["system"], random_state=0).to_dict()
    assert {name: value for name, value in shown.json.items() if name != "out"} == json.loads(json.dumps(expected))
    assert json.loads((folder / "new" / "judge.json").read_text()) == json.loads(json.dumps(expected))
    chosen = pl.read_csv(folder / "new" / "next.csv")
    assert chosen.columns == ["row_", "row", "system", "machine", "person"]
    assert (chosen["row"] == chosen["row_"] + 7).all()
    assert chosen["person"].null_count() == len(chosen) == 20


def test_the_page_needs_no_other_file_and_runs_nothing_of_the_table(folder: Path) -> None:
    assert run(*WORDS).code == 0
    page = (folder / "new" / "report.html").read_text()
    assert page.count("<script") == 1  # that of the frame
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert page.count("<svg") == 2
    again = run(*WORDS[:-1], "other")
    assert again.code == 0
    assert (folder / "other" / "report.html").read_text() == page


def test_it_prints_means_differences_lean_and_advice(folder: Path) -> None:
    shown = run(*WORDS)
    assert shown.code == 0, shown
    for words in (
        "corrected mean",
        "more to halve",
        "one less =",
        "treats systems differently",
        "taken to be right",
        "next.csv",
    ):
        assert words in shown.out, words


def test_text_grades_and_several_people_are_read(folder: Path) -> None:
    names = {1: "awful", 2: "bad", 3: "fair", 4: "good", 5: "fine"}
    frame = scores()
    text = [pl.col(name).replace_strict(names, return_dtype=pl.String) for name in ("machine", "person")]
    frame.with_columns(text).with_columns(second=pl.col("person")).write_csv("scores.csv")
    words = [word if word != "person" else "person,second" for word in WORDS]
    found = run(*words, "--order", "awful,bad,fair,good,fine", "--json").json
    assert found["n_people"] == 2
    assert found["classes"] == list(names.values())
    means = [one["mean"]["value"] for one in found["systems"]]
    expected = judge(frame["machine"], frame["person"], frame["system"], random_state=0)
    np.testing.assert_allclose(means, [one.mean.value for one in expected.systems], atol=0.2)


def test_a_judge_with_a_scale_of_its_own_and_one_system(folder: Path) -> None:
    scores().with_columns(machine=pl.col("machine") * 20).write_csv("scores.csv")
    words = [word for word in WORDS if word not in ("--by", "system")]
    shown = run(*words)
    assert shown.code == 0, shown
    assert "cannot lean" in shown.out
    assert "scale of its own" in (folder / "new" / "report.html").read_text()


TROUBLE: dict[str, tuple[tuple[str, str], str]] = {
    "no such judge": (("--judge", "machin"), "did you mean 'machine' (5 values)?"),
    "no such human": (("--human", "person,persona"), "human must name a column"),
    "the judge among the people": (("--human", "person,machine"), "that of the judge, 'machine'"),
    "no such system": (("--by", "systems"), "did you mean 'system'?"),
    "text without order": (("--judge", "system"), "--order"),
    "an order that lacks grades": (("--order", "1,2,3"), "must hold only the grades"),
    "an empty grade in the order": (("--order", "1,,3"), "order must have a grade between any two commas"),
    "too sure": (("--confidence", "1.5"), "confidence must"),
    "a negative number of rows": (("--next", "-1"), "next must"),
    "a negative seed": (("--seed", "-1"), "seed must"),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_bad_option_is_one_sentence_and_leaves_nothing_behind(trouble: str, folder: Path) -> None:
    options, sentence = TROUBLE[trouble]
    given = dict(zip(WORDS[2::2], WORDS[3::2], strict=True)) | {options[0]: options[1]}
    before = files_below(folder)
    result = run("judge", "scores.csv", *(word for pair in given.items() for word in pair))
    assert result.code == 2, result
    assert SENTENCE.match(result.err), result.err
    assert sentence in result.err
    assert files_below(folder) == before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (pl.lit(None, pl.Int64).alias("person"), "human must have a grade in some row that the judge graded too"),
        (
            pl.when(pl.col("system") == "one").then("person").alias("person"),
            "human must have a grade for some row of every",
        ),
        (pl.lit("x").alias("machine"), "judge must hold numbers if no order is given"),
        (pl.lit(3).alias("machine").cast(pl.Float64) / 0, "must hold"),
    ],
    ids=["nobody graded", "a system that nobody graded", "text", "infinite"],
)
def test_a_table_without_what_is_needed_is_one_sentence(change: pl.Expr, sentence: str, folder: Path) -> None:
    scores().with_columns(change).write_csv("scores.csv")
    result = run(*WORDS)
    assert result.code == 2, result
    assert SENTENCE.match(result.err), result.err
    assert sentence in result.err
    assert not (folder / "new").exists()


def test_an_output_that_exists_is_never_touched(folder: Path) -> None:
    (folder / "new").mkdir()
    assert "out must not exist yet" in run(*WORDS).err
