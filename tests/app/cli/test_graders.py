"""A column that says who gave the one grade of each row: offered, left out of the features, and compared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from app.report.pages import Page
from ordinoise.app.records.audit import read_record
from ordinoise.app.records.labels import CountedLabels
from ordinoise.audit import GraderEffects
from ordinoise.finding import UNSEEN, as_sentence

pytestmark = pytest.mark.usefixtures("few_models")
N = 480


def write_cases(path: Path, *, by_difficulty: bool = False) -> Path:
    """Cases graded by four clerks; clerk D grades higher, and the others alike. Two rows name nobody."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=N)
    latent = 2 * size + rng.logistic(size=N)
    order = latent + rng.normal(size=N) if by_difficulty else rng.random(N)
    who = np.argsort(np.argsort(order)) * 4 // N
    grade = np.digitize(latent + 1.5 * (who == 3), [-1.5, 0.0, 1.5]) + 3
    names: list[Any] = [f"clerk {'ABCD'[at]}" for at in who]
    names[:5] = [None, "", "new", "new", "new"]
    pl.DataFrame({"size": size.round(3), "clerk": names, "urgency": grade}).write_csv(path)
    return path


@pytest.fixture(scope="module", name="folder")
def fixture_of_audits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graders")
    write_cases(folder / "cases.csv")
    return folder


@pytest.fixture(scope="module", name="audited")
def fixture_of_one_audit(folder: Path, few_models: None) -> tuple[Path, str]:
    words: list[str | Path] = [
        "--target",
        "urgency",
        "--grader",
        "clerk",
        "--learner",
        "mlp",
        "--out",
        folder / "audit",
    ]
    result = run("audit", folder / "cases.csv", *words)
    assert result.code == 0, result.err
    return folder / "audit", result.out + result.err


def test_the_terminal_says_who_differs_in_two_sentences(audited: tuple[Path, str]) -> None:
    words = " ".join(audited[1].split())
    effects = read_record(audited[0]).graders
    assert isinstance(effects, GraderEffects)
    assert "".join(effects.headline) in words
    assert as_sentence(UNSEEN) in words
    assert "2 rows without a grader are left out where graders are compared." in words
    assert "column 'clerk' would be a feature" not in words


def test_the_record_and_its_json_say_the_same(audited: tuple[Path, str]) -> None:
    record = read_record(audited[0])
    effects = record.graders
    assert effects is not None
    assert effects.effects[0].grader == "clerk D"
    assert effects.effects[0].differs
    assert [one.grader for one in effects.unknown] == ["new"]
    assert effects.first == 3
    assert record.to_dict()["graders"]["sentences"] == effects.sentences
    assert {column.name: column.role for column in record.columns}["clerk"] == "id"


def test_the_report_has_a_section_with_chart_and_sentences(audited: tuple[Path, str]) -> None:
    html = (audited[0] / "report.html").read_text()
    effects = read_record(audited[0]).graders
    assert effects is not None
    page = Page(html)
    section = next(one for one in page.elements if one.attributes.get("aria-labelledby") == "graders")
    for sentence in (*effects.sentences_of(effects.effects[0]), *effects.closing):
        assert sentence in section.text
    assert any(one.attributes.get("aria-label") == "".join(effects.headline) for one in page.all("svg"))
    forbidden = r"\bwrong\b|\bsevere\b(?! one)|\bstrict|\blenient|guess"
    assert not re.search(forbidden, section.text.removesuffix("Nothing here says who is right."))


def test_prediction_and_ranking_are_those_without_the_column(audited: tuple[Path, str], folder: Path) -> None:
    words: list[str | Path] = [
        "--target",
        "urgency",
        "--learner",
        "mlp",
        "--ignore",
        "clerk",
        "--out",
        folder / "ignored",
    ]
    assert run("audit", folder / "cases.csv", *words).code == 0
    named, ignored = (pl.read_csv(each / "labels.csv") for each in (audited[0], folder / "ignored"))
    assert named.equals(ignored)
    assert read_record(audited[0]).suspects == read_record(folder / "ignored").suspects
    assert read_record(folder / "ignored").graders is None
    assert 'aria-labelledby="graders"' not in (folder / "ignored" / "report.html").read_text()


def test_rows_given_out_by_lot_raise_the_lower_end(audited: tuple[Path, str], folder: Path) -> None:
    words: list[str | Path] = ["--target", "urgency", "--grader", "clerk", "--by-lot", "--learner", "mlp"]
    result = run("audit", folder / "cases.csv", *words, "--out", folder / "by lot")
    record, plain = read_record(folder / "by lot"), read_record(audited[0])
    assert record.by_lot is not None
    assert plain.wrong_low is not None
    assert record.wrong_low == record.by_lot > plain.wrong_low
    assert record.wrong_high == plain.wrong_high
    sentence = f"at least {record.by_lot:,} of all grades are wrong"
    assert sentence in " ".join(result.out.split())
    assert sentence in " ".join(Page((folder / "by lot" / "report.html").read_text()).all("body")[0].text.split())
    assert record.suspects == plain.suspects
    counted = CountedLabels.of(folder / "by lot", record)
    assert counted is not None
    assert counted.count((), 0.95, {}).left.low == record.by_lot
    write_cases(folder / "hard.csv", by_difficulty=True)
    run("audit", folder / "hard.csv", *words, "--out", folder / "not by lot")
    refuted = read_record(folder / "not by lot")
    assert refuted.by_lot is None
    assert any("rows were not given out at random" in doubt for doubt in refuted.count_doubts)


def test_a_column_that_says_who_graded_is_offered(folder: Path) -> None:
    result = run("audit", folder / "cases.csv", "--target", "urgency", "--learner", "mlp", "--out", folder / "offered")
    words = " ".join((result.out + result.err).split())
    assert "looks like the names of who graded; --grader clerk leaves it out" in words


def test_raters_with_one_grade_per_item_points_to_the_audit(tmp_path: Path) -> None:
    table = pl.read_csv(write_cases(tmp_path / "cases.csv")).drop_nulls().with_row_index("case")
    table.write_csv(tmp_path / "numbered.csv")
    words = ["--item", "case", "--rater", "clerk", "--grade", "urgency"]
    result = run("raters", tmp_path / "numbered.csv", *words, "--out", tmp_path / "one")
    said = " ".join((result.out + result.err).split())
    assert "ordinoise audit numbered.csv --target urgency --grader clerk" in said
    assert "by the columns that describe the items ('size')" in said
    table.drop("size").write_csv(tmp_path / "bare.csv")
    result = run("raters", tmp_path / "bare.csv", *words, "--out", tmp_path / "two")
    assert "by columns that describe the items, of which the file has none" in " ".join(
        (result.out + result.err).split()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--by-lot"], "by-lot must come with --grader"),
        (["--grader", "nobody"], "grader must name a column of the file"),
        (["--grader", "urgency"], "grader must not name the target"),
        (["--grader", "clerk", "--item", "size"], "grader must be left out where items have several grades"),
        (["--grader", "clerk", "--ignore", "size"], "file must have a column to learn from"),
    ],
)
def test_bad_graders_are_one_sentence(folder: Path, words: list[str], message: str) -> None:
    result = run("audit", folder / "cases.csv", "--target", "urgency", *words, "--out", folder / "refused")
    assert result.code == 2
    assert message in result.err
    assert not (folder / "refused").exists()


def test_one_grader_is_refused_before_any_fit(tmp_path: Path) -> None:
    table = pl.read_csv(write_cases(tmp_path / "cases.csv")).with_columns(pl.lit("Ada").alias("clerk"))
    table.write_csv(tmp_path / "one.csv")
    words: list[str | Path] = ["--target", "urgency", "--grader", "clerk", "--out", tmp_path / "out"]
    result = run("audit", tmp_path / "one.csv", *words)
    assert result.code == 2
    assert "grader must hold at least 2 graders" in result.err
