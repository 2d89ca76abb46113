"""Columns that say nothing: no number, no suspects, and a headline that says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from ordinoise.app.records.audit import read_record
from ordinoise.app.review.app import _page, review_app
from ordinoise.app.verbs.fit import FileAudit
from ordinoise.noise import Noise

FAST = ("--learner", "mlp", "--jobs", "1", "--seed", "3")
HEADLINE = "Nothing can be found from these columns"


@pytest.fixture(scope="module")
def useless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    names = [f"id-{number}" for number in range(250)]
    path = tmp_path_factory.mktemp("useless") / "t.csv"
    columns = {"a": rng.normal(size=250), "id": names, "stars": rng.integers(1, 5, size=250)}
    pl.DataFrame(columns).write_csv(path)
    return path


@pytest.mark.slow
def test_texts_that_say_nothing_are_no_reason_to_suspect_anybody(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in "bdfgklmn" for b in ("ask", "ilt", "orm", "ent")]
    texts = [" ".join(rng.choice(words, 8)) for _ in range(250)]
    pl.DataFrame({"review": texts, "stars": rng.integers(1, 5, size=250)}).write_csv(tmp_path / "t.csv")
    result = run("audit", tmp_path / "t.csv", "--target", "stars", *FAST, "--out", tmp_path / "audit")
    assert result.code == 0, result.err
    assert HEADLINE in " ".join(result.out.split())
    assert read_record(tmp_path / "audit").suspects == ()


def test_an_audit_of_useless_columns_says_so_and_suspects_nobody(useless: Path, tmp_path: Path) -> None:
    out = tmp_path / "audit"
    result = run("audit", useless, "--target", "stars", *FAST, "--out", out)
    assert result.code == 0, result.err
    words = " ".join(result.out.split())
    assert f"{HEADLINE}: they say next to nothing about the grade. Left out: 'id' (" in words
    assert "grades are" not in words
    assert "true \\ recorded" not in words
    assert "ordinoise review" not in words
    record = read_record(out)
    assert record.says_nothing
    assert record.suspects == ()
    assert pl.read_csv(out / "suspects.csv").height == 0
    page = (out / "report.html").read_text()
    assert f'<p class="lead">{HEADLINE}' in page
    assert 'class="gauge"' not in page
    assert "No row is suspicious enough to list." in page


@pytest.mark.slow
def test_a_given_matrix_does_not_make_suspects_by_chance(useless: Path, tmp_path: Path) -> None:
    (tmp_path / "noise.csv").write_text("0.7,0.1,0.1,0.1\n0.1,0.7,0.1,0.1\n0.1,0.1,0.7,0.1\n0.1,0.1,0.1,0.7\n")
    words = ("--target", "stars", *FAST, "--noise", tmp_path / "noise.csv", "--json", "--out", tmp_path / "audit")
    found = run("audit", useless, *words).json
    assert found["says_nothing"] is True
    assert found["n_suspects"] == 0
    desk = review_app(tmp_path / "audit", token="t" * 32, port=1).state.desk
    try:
        assert desk.overview()["items"] == []
        assert "Nothing to review" in _page(desk, "", "")
    finally:
        desk.close()


def test_a_table_of_which_everything_is_left_out_is_refused_with_the_reasons(useless: Path, tmp_path: Path) -> None:
    result = run("audit", useless, "--target", "stars", "--ignore", "a", "--out", tmp_path / "audit")
    assert result.code == 2
    assert result.err.startswith(
        "file must have a column to learn from, got none besides the target ('a': as requested; 'id': "
    )
    assert not (tmp_path / "audit").exists()


@pytest.mark.slow
def test_columns_that_say_something_are_not_called_useless(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    size = rng.normal(size=250)
    pl.DataFrame({"size": size, "stars": np.digitize(size, [-0.5, 0.5])}).write_csv(tmp_path / "t.csv")
    words = ("--target", "stars", *FAST, "--noise", "none", "--json", "--out", tmp_path / "audit")
    found = run("audit", tmp_path / "t.csv", *words).json
    assert found["says_nothing"] is False


def test_copies_of_a_few_rows_do_not_make_columns_say_something() -> None:
    rng = np.random.default_rng(0)
    ranks = np.repeat(rng.integers(4, size=80), 25)
    likelier = np.repeat(rng.normal(0.1, 1, size=80), 25)  # held-out records of 80 patients, 25 rows each
    probabilities = np.full((2000, 4), 0.25)
    probabilities[np.arange(2000), ranks] = 0.25 * np.exp(likelier.clip(-1, 1))
    probabilities /= probabilities.sum(axis=1, keepdims=True)

    def says_nothing(groups: np.ndarray | None) -> bool:
        table = SimpleNamespace(rows=np.arange(2000), labels=ranks, groups=groups)
        noise = replace(Noise.of(np.eye(4)), source="estimated", answer="trusting")
        model = SimpleNamespace(noise_=noise, classes_=np.arange(4), out_of_fold_=probabilities)
        return FileAudit(cast(Any, None), cast(Any, table), cast(Any, model), {}).says_nothing

    assert not says_nothing(None)
    assert says_nothing(np.repeat(np.arange(80), 25).astype(str))
