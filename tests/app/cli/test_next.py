"""`ordinoise next`: which rows to verify, and spot checks, from the audit to the next audit."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from app.cli.conftest import request_for
from app.cli.graded import GRADES, RECORDED, TRUE
from ordinoise.app.records.audit import read_record
from ordinoise.app.records.plan import read_plans
from ordinoise.app.review.decisions import open_decisions
from ordinoise.app.review.desk import ReviewDesk
from ordinoise.app.rounds.history import History, history_for
from ordinoise.app.verbs.audit import audit_file
from ordinoise.audit import spot_check


@pytest.fixture
def folder(rounds: Path, tmp_path: Path) -> Path:
    """A copy of two rounds that a test may change."""
    return Path(shutil.copytree(rounds, tmp_path / "rounds"))


def test_next_takes_rows_that_are_not_settled_and_review_shows_them_first(folder: Path) -> None:
    done = run("next", folder / "two", "--budget", "15", "--json")
    assert done.code == 0, done.err
    record = read_record(folder / "two")
    rows = done.json["rows"]
    assert len(rows) == 15
    assert not set(rows) & {one.row for one in record.settled}
    assert done.json["gains"] == sorted(done.json["gains"], reverse=True)
    with (folder / "two" / "next-1.csv").open() as file:
        lines = list(csv.DictReader(file, delimiter=";"))
    assert [int(line["row"]) for line in lines] == rows
    assert "quality" not in lines[0]
    desk = ReviewDesk(folder / "two")
    items = desk.overview()["items"]
    desk.close()
    assert [item["row"] for item in items[:15]] == rows
    assert {item["row"] for item in items} == {*rows, *(one.row for one in record.suspects)}


def test_a_spot_check_is_blind_and_certifies_what_the_next_audit_says(folder: Path) -> None:
    done = run("next", folder / "two", "--budget", "60", "--spot-check", "--seed", "3", "--json")
    assert done.code == 0, done.err
    rows = done.json["rows"]
    record = read_record(folder / "two")
    (plan,) = read_plans(folder / "two", record)
    assert sum(plan.sizes) == record.n_left
    desk = ReviewDesk(folder / "two")
    overview = desk.overview()
    target = [column["role"] for column in overview["columns"]].index("target")
    for item in overview["items"][:60]:
        assert (item["recorded"], item["suggested"], item["graded"], item["cells"][target]) == ("", "", (), None)
    assert "60 not decided" in overview["certificates"][0]
    for at, row in enumerate(rows):
        body = {"row": row, "grade": GRADES[TRUE[row]], "reviewer": "Ada", "key": f"key-{at:08}"}
        answer = desk.decide(body)
    assert answer["state"]["status"] == "settled"
    n_wrong = int((TRUE != RECORDED)[rows].sum())
    assert f"60 checked, {n_wrong} wrong" in desk.changes(1)["certificates"][0]
    desk.close()
    request = request_for(folder / "table.csv")
    history = history_for(folder / "two", request)
    assert {one.row for one in history.settled if one.drawn == "random"} == set(rows)
    assert all(one.recorded == GRADES[RECORDED[one.row]] for one in history.settled)
    found = history.spot_check
    assert found is not None
    assert (found.n_checked, found.n_wrong, found.n_labels) == (60, n_wrong, record.n_left)
    left = int((TRUE != RECORDED).sum()) - record.n_fixed - n_wrong
    assert left <= found.at_most - n_wrong


@pytest.mark.slow
def test_an_audit_after_a_spot_check_carries_its_certificate(folder: Path, tmp_path: Path) -> None:
    run("next", folder / "two", "--budget", "60", "--spot-check")
    record = read_record(folder / "two")
    (plan,) = read_plans(folder / "two", record)
    with open_decisions(folder / "two", record) as store:
        for one in plan.rows:
            store.decide("Ada", one.row, GRADES[TRUE[one.row]])
    request = request_for(folder / "table.csv")
    _, third = audit_file(request, tmp_path / "three", history=history_for(folder / "two", request))
    assert third.spot_check is not None
    assert third.certified == third.spot_check.at_most - third.spot_check.n_wrong
    assert "Spot check: 60 checked" in (tmp_path / "three" / "report.html").read_text()
    assert read_record(tmp_path / "three").spot_check == third.spot_check


@pytest.mark.slow
def test_rows_without_a_grade_are_suggested_and_may_be_chosen(folder: Path, tmp_path: Path) -> None:
    stored = pl.read_csv(folder / "table.csv", separator=";")
    bare = np.arange(0, 240, 4)
    grades = [None if row in bare else grade for row, grade in enumerate(stored["quality"])]
    stored.with_columns(pl.Series("quality", grades)).write_csv(tmp_path / "table.csv", separator=";")
    audit_file(request_for(tmp_path / "table.csv"), tmp_path / "audit")
    labels = pl.read_csv(tmp_path / "audit" / "labels.csv", separator=";")
    assert labels["row"].to_list() == list(range(240))
    assert labels["recorded"].null_count() == len(bare)
    right = labels["suggested"].to_numpy()[bare] == np.array(GRADES)[TRUE[bare]]
    assert right.mean() > 0.7
    done = run("next", tmp_path / "audit", "--budget", "100", "--json")
    assert done.code == 0, done.err
    assert set(done.json["rows"]) & set(bare.tolist())
    checked = run("next", tmp_path / "audit", "--budget", "50", "--spot-check", "--json")
    assert not set(checked.json["rows"]) & set(bare.tolist())
    desk = ReviewDesk(tmp_path / "audit")
    item = next(item for item in desk.overview()["items"] if item["row"] in bare)
    desk.close()
    assert item["reasons"][0].startswith("No grade was recorded.")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda folder: (folder / "labels.csv").unlink(), "must hold a whole labels.csv"),
        (lambda folder: _cut(folder / "labels.csv"), "must hold the labels.csv of its audit"),
        (lambda folder: _edit(folder / "next-1.json", digest="other"), "must hold a complete next-1.json"),
        (lambda folder: _edit(folder / "next-1.json", drawn=[]), "must hold a complete next-1.json"),
    ],
)
def test_damaged_folders_are_refused_in_one_sentence(change: object, sentence: str, folder: Path) -> None:
    assert run("next", folder / "two", "--budget", "5", "--spot-check").code == 0
    assert callable(change)
    change(folder / "two")
    done = run("next", folder / "two", "--budget", "5")
    done = (
        done if done.code else run("audit", folder / "table.csv", "--target", "quality", "--reviewed", folder / "two")
    )
    assert done.code == 2
    assert sentence in done.err


def _rows(history: History) -> set[int]:
    return {one.row for one in history.settled}


def _cut(path: Path) -> None:
    path.write_text("\n".join(path.read_text().splitlines()[:-3]) + "\n")


def _edit(path: Path, **content: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | content))


def test_the_terminal_says_what_a_clean_spot_check_would_show(folder: Path) -> None:
    done = run("next", folder / "one", "--budget", "40", "--spot-check")
    assert done.code == 0, done.err
    assert "40 rows drawn at random from 228" in done.out
    hope = spot_check(228, 40, 0).at_most / 228
    assert f"at most {hope:.1%}" in done.out or "two strata" in done.out


def test_settled_rows_are_shown_again_blind_and_differing_answers_come_up_once_more(folder: Path) -> None:
    done = run("next", folder / "one", "--repeat", "--budget", "6", "--json")
    assert done.code == 0, done.err
    rows, request = done.json["rows"], request_for(folder / "table.csv")
    before = history_for(folder / "one", request)
    desk = ReviewDesk(folder / "one")
    overview = desk.overview()
    assert [item["row"] for item in overview["items"][:6]] == rows
    assert all(item["recorded"] == "" and item["plan"] == "shown again" for item in overview["items"][:6])
    assert {state["row"]: state["status"] for state in overview["states"] if state["row"] in rows} == dict.fromkeys(
        rows, "open"
    )
    assert desk.history(rows[0]) == {"events": []}
    assert before.settled == history_for(folder / "one", request).settled  # the first answers count meanwhile
    other = GRADES[(TRUE[rows[0]] + 1) % 4]
    for at, row in enumerate(rows):
        grade = GRADES[TRUE[row]] if at else other
        answer = desk.decide({"row": row, "grade": grade, "reviewer": "Ben", "key": f"again-{at:06}"})
        assert answer["state"]["is_disputed"] == (at == 0)
    assert len(desk.history(rows[0])["events"]) == 2
    found = history_for(folder / "one", request)
    assert [(one.row, one.is_differing) for one in found.repeats] == [(row, row == rows[0]) for row in rows]
    assert {(one.reviewer, one.again_by) for one in found.repeats} == {("Ada", "Ben")}
    assert _rows(before) - _rows(found) == {rows[0]}
    together = {"row": rows[0], "grade": GRADES[TRUE[rows[0]]], "reviewer": "Ben", "key": "together-1"}
    assert not desk.decide(together)["state"]["is_disputed"]
    desk.close()
    found = history_for(folder / "one", request)
    assert (len(found.repeats), _rows(found)) == (6, _rows(before))
    assert run("next", folder / "one", "--repeat", "--spot-check").code == 2
    left = run("next", folder / "one", "--repeat", "--budget", "50", "--json").json["rows"]
    assert not set(left) & set(rows)


def test_a_level_is_refused_where_nothing_would_use_it(folder: Path) -> None:
    for options in ((), ("--spot-check",)):
        refused = run("next", folder / "one", *options, "--confidence", "0.9")
        assert (refused.code, refused.err) == (2, "confidence must be given with --strata, got without it\n")
    assert run("next", folder / "one", "--spot-check", "--strata", "--confidence", "0.9", "--json").code == 0
