"""Reviewed grades on their way into the models: weighed by what repeats say, and for rows without a grade too."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.conftest import request_for
from app.cli.graded import GRADES, RECORDED, TRUE, write_graded
from ordinoise.app.finding import reviewer_words
from ordinoise.app.records.audit import read_record
from ordinoise.app.records.history import Repeat, Settled
from ordinoise.app.rounds.history import History
from ordinoise.app.rounds.training import training_rows
from ordinoise.app.tables import ColumnRoles, graded_table
from ordinoise.app.verbs.audit import audit_file
from ordinoise.app.verbs.fit import learn


def _bare(folder: Path, rows: list[int]) -> Path:
    """The table without the grades of some rows."""
    stored = pl.read_csv(write_graded(folder / "table.csv"), separator=";")
    grades = [None if row in rows else grade for row, grade in enumerate(stored["quality"])]
    stored.with_columns(pl.Series("quality", grades)).write_csv(folder / "table.csv", separator=";")
    return folder / "table.csv"


def _settled(rows: Iterable[int]) -> tuple[Settled, ...]:
    return tuple(Settled(row, None, GRADES[TRUE[row]], "Ada") for row in sorted(rows))


def test_grades_are_weighed_by_their_reviewer_and_by_a_second_look(tmp_path: Path) -> None:
    table = graded_table(write_graded(tmp_path / "table.csv"), ColumnRoles("quality", order=",".join(GRADES)))
    settled = _settled(range(10))
    once = History(settled).verified(table)
    assert once.noise is None  # nothing is known about the reviewer
    repeats = [Repeat(row, GRADES[TRUE[row]], GRADES[TRUE[row]], "Ada", "Ben") for row in range(5)]
    repeats[0] = replace(repeats[0], again=GRADES[(TRUE[0] + 1) % 4])
    twice = History(settled, repeats=tuple(repeats)).verified(table)
    right = np.array([matrix[TRUE[row], TRUE[row]] for row, matrix in enumerate(twice.noise)])
    assert right[0] == 1  # the two differed and decided together
    assert (right[1:5] > right[5:].max()).all()
    assert (right[5:] < 0.99).all()


@pytest.mark.slow
def test_models_learn_from_grades_that_a_review_gave_to_rows_without_one(tmp_path: Path) -> None:
    bare = list(range(0, 240, 4))
    request = request_for(_bare(tmp_path, bare))
    history = History(_settled((*bare[:30], 1, 2)))
    table = graded_table(request.file, ColumnRoles("quality", order=request.order))
    rows = training_rows(request, table, history)
    assert rows["X"].height == len(rows["y"]) == 180 + 30
    assert rows["y"][180:].tolist() == [GRADES[TRUE[row]] for row in bare[:30]]
    assert rows["X"][180:].equals(table.ungraded[:30])
    assert sorted(np.array(rows["trusted"].rows)[~rows["trusted"].is_recorded]) == list(range(180, 210))
    found = learn(request, history=history)
    assert len(found.probabilities) == 180
    assert found.model.out_of_fold_ is not None
    assert len(found.model.out_of_fold_) == 210


@pytest.mark.slow
def test_an_audit_says_how_many_settled_grades_are_wrong_and_marks_added_ones(tmp_path: Path) -> None:
    bare = list(range(0, 240, 4))
    request = request_for(_bare(tmp_path, bare))
    wrong = [row for row in np.flatnonzero(RECORDED != TRUE).tolist() if row not in bare]
    settled = _settled((*bare[:10], *wrong))
    repeats = [Repeat(row, GRADES[TRUE[row]], GRADES[TRUE[row]], "Ada", "Ada") for row in wrong[:12]]
    repeats[0] = replace(repeats[0], again=repeats[0].first if TRUE[wrong[0]] == 3 else "best")
    audit_file(request, tmp_path / "audit", history=History(settled, repeats=tuple(repeats)))
    record = read_record(tmp_path / "audit")
    assert record.repeats == tuple(repeats)
    assert 0 < record.settled_wrong < 5
    assert f"some {record.settled_wrong:.1f} of the {len(record.settled)} settled ones" in reviewer_words(record)
    agreed = reviewer_words(replace(record, repeats=tuple(one for one in repeats if not one.is_differing)))
    assert "0 differed: at most " in agreed
    labels = pl.read_csv(tmp_path / "audit" / "labels.csv", separator=";")
    added = labels.filter(pl.col("settled") == "added")
    assert added["row"].to_list() == bare[:10]
    assert added["suggested"].to_list() == [GRADES[TRUE[row]] for row in bare[:10]]
