"""`ordinoise check`: a gate with three answers and two exit codes."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from app.cli.graded import GRADES, TRUE
from ordinoise.app.records.audit import AuditRecord, read_record
from ordinoise.app.records.history import Settled
from ordinoise.app.records.plan import read_plans
from ordinoise.app.review.decisions import open_decisions
from ordinoise.app.rounds.check import FAILED, FEWEST_MORE, PASSED, UNKNOWN, junit_xml, verdict_of
from ordinoise.audit import spot_check

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def record(rounds: Path) -> AuditRecord:
    return replace(read_record(rounds / "one"), wrong=30.0, wrong_low=24.0, wrong_high=48.0)


@pytest.mark.slow
def test_the_ends_of_the_interval_decide_and_between_them_it_cannot_be_told(record: AuditRecord) -> None:
    answers = {limit: verdict_of(record, limit).answer for limit in (0.05, 0.0999, 0.1, 0.15, 0.2, 0.3)}
    assert answers == {0.05: FAILED, 0.0999: FAILED, 0.1: UNKNOWN, 0.15: UNKNOWN, 0.2: PASSED, 0.3: PASSED}


def test_settled_grades_that_are_expected_to_be_wrong_count_as_well(record: AuditRecord) -> None:
    verdict = verdict_of(replace(record, settled_wrong=12.0), 0.2)
    assert (verdict.answer, verdict.to_dict()["low"], verdict.to_dict()["high"]) == (UNKNOWN, 36 / 240, 60 / 240)
    assert "12.0 of the settled ones among them" in verdict.reason


def test_an_end_near_the_limit_is_not_printed_like_it(record: AuditRecord) -> None:
    verdict = verdict_of(replace(record, wrong_high=48.2), 0.2)
    assert verdict.answer == UNKNOWN
    assert verdict.reason.startswith("between 10% and 20.1% of 240 grades are wrong")
    assert verdict_of(record, 0.2).reason.startswith("between 10% and 20% of 240 grades")


def test_what_is_not_known_cannot_be_told(record: AuditRecord) -> None:
    few = replace(record, wrong=None, wrong_low=None, wrong_high=None)
    assert verdict_of(few, 0.99).answer == UNKNOWN
    assert verdict_of(replace(record, says_nothing=True), 0.99).answer == UNKNOWN
    assert verdict_of(replace(record, wrong=None), 0.3).answer == PASSED  # a range has ends too


def test_rows_that_were_drawn_at_random_are_part_of_the_sample_that_would_tell(record: AuditRecord) -> None:
    record = replace(record, stage="random", wrong=4.0, wrong_low=1.0, wrong_high=20.0, settled=(), suspects=())
    rows = [Settled(row, GRADES[0], GRADES[0], "Ada", drawn="random") for row in range(240)]
    alone, beside = (verdict_of(replace(record, settled=tuple(rows[:n])), 0.05) for n in (0, 60))
    assert (alone.answer, beside.answer) == (UNKNOWN, UNKNOWN)
    assert alone.n_more > 70
    assert beside.n_more == alone.n_more - 60
    assert f"Verify {beside.n_more} more rows drawn at random to tell" in beside.reason
    assert verdict_of(replace(record, settled=tuple(rows)), 0.05).n_more == FEWEST_MORE


def test_a_spot_check_is_believed_before_the_estimate(record: AuditRecord) -> None:
    found = spot_check(240, 120, 2)
    verdict = verdict_of(replace(record, spot_check=found), 0.05)
    assert (verdict.answer, verdict.judged_by) == (PASSED, "spot check")
    assert verdict.to_dict()["high"] == (found.at_most - 2) / 240  # the two that it found are settled
    bad = spot_check(240, 120, 60)
    assert verdict_of(replace(record, spot_check=bad), 0.05).answer == FAILED


def test_the_verb_gates_by_a_spot_check_without_a_fit(rounds: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(rounds, tmp_path / "rounds"))
    assert run("next", folder / "two", "--budget", "200", "--spot-check").code == 0
    record = read_record(folder / "two")
    (plan,) = read_plans(folder / "two", record)
    with open_decisions(folder / "two", record) as store:
        for one in plan.rows:
            store.decide("Ada", one.row, GRADES[TRUE[one.row]])
    words = (folder / "table.csv", "--target", "quality", "--order", ",".join(GRADES), "--reviewed", folder / "two")
    passed = run("check", *words, "--max-wrong", "0.1", "--junit", tmp_path / "check.xml", "--json")
    assert passed.code == 0, passed.err
    assert (passed.json["answer"], passed.json["judged_by"], passed.json["is_passed"]) == (PASSED, "spot check", True)
    assert ElementTree.parse(tmp_path / "check.xml").getroot().get("failures") == "0"
    unknown = run("check", *words, "--max-wrong", "0.02")
    assert (unknown.code, "Cannot be told." in unknown.out) == (3, True)
    assert run("check", *words, "--max-wrong", "0.02", "--if-unknown", "fail").code == 1
    n_settled = passed.json["n_settled"]
    assert n_settled == 12 + 200
    assert f"{n_settled} settled grades are used: " in unknown.out
    assert run("check", *words, "--max-wrong", "0.02", "--if-unknown", "pass").code == 0
    assert run("check", *words, "--max-wrong", "2").code == 2
    again = run("check", *words, "--max-wrong", "0.1", "--junit", tmp_path / "check.xml")
    assert again.code == 2


def test_junit_says_why_and_keeps_names_as_text(record: AuditRecord) -> None:
    verdict = verdict_of(replace(record, source="/tmp/<b>&\x1b.csv"), 0.01)
    case = ElementTree.fromstring(junit_xml(verdict, is_passed=False)).find("testcase")
    assert case is not None
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("type") == "failed"
    assert "between 10% and 20% of 240 grades are wrong" in str(failure.get("message"))
    assert "<b>&" in str(case.get("name"))


@pytest.mark.slow
def test_the_workflow_in_the_docs_runs_as_a_script(rounds: Path, tmp_path: Path) -> None:
    """Its steps are shell commands; the gate stays shut where ten suspects cannot tell."""
    page = (DOCS / "rounds.md").read_text()
    workflow = re.search(r"```yaml\n(.*?)```", page, flags=re.S)
    assert workflow
    step = re.search(r"run: \|\n((?: {10}.*\n)+)", workflow[1])
    assert step
    script = re.sub(r"(?m)^ {10}", "", step[1])
    shutil.copy(rounds / "table.csv", tmp_path / "ratings.csv")
    names = tmp_path / "ratings.csv"
    names.write_text(names.read_text().replace("quality", "stars", 1))
    for grade, star in zip(GRADES, "1234", strict=True):
        names.write_text(names.read_text().replace(grade, star))
    assert run("audit", names, "--target", "stars", "--out", tmp_path / "audit").code == 0
    record = read_record(tmp_path / "audit")
    with open_decisions(tmp_path / "audit", record) as store:
        for one in record.suspects[:10]:
            store.decide("Ada", one.row, str(TRUE[one.row] + 1))
    (tmp_path / "ordinoise").write_text(f'#!/bin/sh\nexec {sys.executable} -m ordinoise.app.cli "$@"\n')
    (tmp_path / "ordinoise").chmod(0o755)
    done = subprocess.run(
        ["sh", "-e", "-c", f'PATH="{tmp_path}:$PATH"\n{script}'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert ElementTree.parse(tmp_path / "wrong-grades.xml").getroot().get("tests") == "1"


def test_an_audit_that_nobody_reviewed_is_judged_by_its_range_without_a_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=200), "b": rng.normal(size=200)}
    grades = np.digitize(columns["a"] + 0.1 * columns["b"], [-0.6, 0.5])
    table = tmp_path / "t.csv"
    pl.DataFrame({**columns, "grade": grades}).write_csv(table)
    words = ("--target", "grade", "--learner", "mlp", "--jobs", "1")
    assert run("audit", table, *words, "--out", tmp_path / "audit").code == 0
    known = read_record(tmp_path / "audit")
    monkeypatch.setattr("ordinoise.app.rounds.check.learn", None)
    found = run("check", table, *words, "--max-wrong", "0.99", "--reviewed", tmp_path / "audit", "--json")
    assert found.code == 0, found.err
    assert (found.json["judged_by"], found.json["n_settled"]) == ("range", 0)
    assert 200 * found.json["high"] == pytest.approx(known.wrong_high)
