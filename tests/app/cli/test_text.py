"""Reviews with stars: text columns from the file to the words that speak for a grade."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from ordinoise.app.records.audit import read_record

pytestmark = pytest.mark.usefixtures("few_models")

FAST = ("--learner", "mlp", "--noise", "none", "--jobs", "1")
GOOD, BAD, IDLE = "great love perfect sturdy", "broken awful slow useless", "the phone works today with my case"


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    rows = []
    for number in range(160):
        grade = int(rng.integers(3))
        share = (2 * grade + 1) / 6
        pools = [GOOD if rng.random() < share else BAD if rng.random() < 0.8 else IDLE for _ in range(9)]
        recorded = 2 - grade if number % 20 == 0 else grade
        rows.append((" ".join(rng.choice(pool.split()) for pool in pools), f"kind {number % 4}", recorded + 1))
    path = tmp_path_factory.mktemp("reviews") / "reviews.csv"
    pl.DataFrame(rows, schema=["text", "code", "stars"], orient="row").write_csv(path)
    return path


@pytest.mark.slow
def test_words_speak_for_the_suggestion(reviews: Path, tmp_path: Path) -> None:
    noise = tmp_path / "noise.csv"
    noise.write_text("0.8,0.1,0.1\n0.1,0.8,0.1\n0.1,0.1,0.8\n")
    words = ("--target", "stars", *FAST[:2], "--noise", noise, "--jobs", "1", "--out", tmp_path / "audit")
    result = run("audit", reviews, *words)
    assert result.code == 0, result.err
    record = read_record(tmp_path / "audit")
    assert [column.kind for column in record.columns] == ["text", "category", "number"]
    worst = record.suspects[0]
    assert worst.recorded != worst.suggested
    said = {(worst.cells[0] or "")[word.start : word.end]: word.value for word in worst.words}
    speaking = GOOD if worst.suggested > worst.recorded else BAD
    assert max(said, key=lambda word: said[word]) in speaking.split()
    assert len(worst.similar) == 3
    assert '<mark class="for">' in (tmp_path / "audit" / "report.html").read_text()


def test_a_named_text_column_is_read_as_text_whatever_it_looks_like(reviews: Path, tmp_path: Path) -> None:
    words = ("--target", "stars", *FAST, "--text", "code", "--json", "--out", tmp_path / "model")
    found = run("fit", reviews, *words)
    assert found.code == 0, found.err
    assert {column["name"]: column["kind"] for column in found.json["columns"]}["code"] == "text"
    assert run("predict", tmp_path / "model", reviews).code == 0
    refused = run("noise", reviews, "--target", "stars", "--text", "stars")
    assert refused.err == "text must name columns with no other use, got 'stars'\n"
    assert "did you mean 'text'" in run("noise", reviews, "--target", "stars", "--text", "texts").err
