"""A table too small to tell how many of its grades are wrong: said so everywhere, never told as none."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from app.cli.command import Result, run
from ordinoise.app.records.audit import read_record

pytestmark = pytest.mark.usefixtures("few_models")

N_ROWS, N_WRONG = 40, 14
SAYS_NONE = re.compile(rf"About 0 of {N_ROWS}|\b0%|\b0\.0%|<0\.1%")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Grades 1 to 5 that follow the size, 14 of 40 of them recorded as another."""
    folder = tmp_path_factory.mktemp("few")
    rng = np.random.default_rng(0)
    size, weight = rng.normal(size=(2, N_ROWS))
    true = np.digitize(size, [-1, -0.3, 0.3, 1])
    recorded = true.copy()
    wrong = rng.permutation(N_ROWS)[:N_WRONG]
    recorded[wrong] = (true[wrong] + rng.integers(1, 5, N_WRONG)) % 5
    assert (recorded != true).sum() == N_WRONG
    assert set(recorded) == set(range(5))
    lines = [f"{one:.3f},{other:.3f},{grade + 1}" for one, other, grade in zip(size, weight, recorded, strict=True)]
    (folder / "table.csv").write_text("\n".join(["size,weight,stars", *lines]) + "\n")
    return folder


@pytest.fixture(scope="module")
def audited(folder: Path) -> Result:
    result = run("audit", folder / "table.csv", "--target", "stars", "--jobs", "1", "--out", folder / "audit")
    assert result.code == 0, result.err
    return result


def test_the_terminal_says_that_there_are_too_few_rows_and_not_that_none_is_wrong(audited: Result) -> None:
    words = " ".join(audited.out.split())
    assert "too few rows" in words
    assert "To reduce the doubt: more graded rows" in words
    assert not SAYS_NONE.search(words), words
    # Nothing is suspected, so there is nothing to list and nothing to review.
    assert "No grade is suspicious enough to list." in words
    assert "The 0 most suspicious" not in words
    assert "ordinoise review" not in words


def test_the_record_has_no_number_of_wrong_labels_but_a_doubt(audited: Result, folder: Path) -> None:
    found = json.loads((folder / "audit" / "audit.json").read_text())
    assert found["format_version"] == 6
    assert (found["wrong"], found["wrong_low"], found["wrong_high"]) == (None, None, None)
    assert found["suspects"] == []
    noise = found["noise"]
    assert (noise["source"], noise["rate"], noise["rate_interval"]) == ("too few rows", None, None)
    assert [doubt["code"] for doubt in noise["doubts"]] == ["too-few-rows"]
    record = read_record(folder / "audit")
    assert record.finding.kind == "too few rows"
    assert record.noise.doubt_codes == ("too-few-rows",)


def test_the_report_says_too_few_rows_and_not_that_a_matrix_was_given(audited: Result, folder: Path) -> None:
    page = (folder / "audit" / "report.html").read_text(encoding="utf-8")
    shown = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", page, flags=re.S)
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", shown)).split())
    assert f"There are too few rows to estimate how many of {N_ROWS} grades are wrong." in text
    assert "was given" not in text
    assert "trusted, as asked" not in text
    assert "Nothing suggests that any" not in text
    assert "every grade is recorded right" not in text
    assert "judged by the true ones" not in text
    assert not SAYS_NONE.search(text), SAYS_NONE.findall(text)


@pytest.mark.parametrize("verb", ["noise", "fit"])
def test_the_other_verbs_that_estimate_say_the_same(verb: str, folder: Path, tmp_path: Path) -> None:
    words = (folder / "table.csv", "--target", "stars", "--jobs", "1")
    more = ("--learner", "mlp", "--out", tmp_path / "model") if verb == "fit" else ()
    result = run(verb, *words, *more)
    assert result.code == 0, result.err
    shown = " ".join(result.out.split())
    assert "too few rows" in shown
    assert f"There are too few rows to estimate how many of {N_ROWS} grades are wrong." in shown
    assert not re.search(rf"of {N_ROWS} grades are probably wrong", shown), shown
    assert "How each true grade is recorded" not in shown
