"""What was found, in sentences that are written once and printed everywhere."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from app.report.cases import findings
from app.review.sample import CLASSES
from ordinoise import finding
from ordinoise.app.cli._findings import print_record, show_noise
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.report.contents import Findings
from ordinoise.app.report.page import report_html
from ordinoise.app.review import RefitOutcome, in_words
from ordinoise.app.rounds.check import verdict_of
from ordinoise.audit import WrongCount, issues_from_probabilities
from ordinoise.estimate import Estimate
from ordinoise.finding import Finding, finding_of
from ordinoise.noise import Doubt, Noise, uniform

MARK = "HERE {all} STAND"


def found_as(kind: str) -> Findings:
    """Findings of a page whose record is of this kind."""
    usual = findings()
    noise: dict[str, Any] = {"answer": "trusting", "reason": "a reason", "rate_range": (0.05, 0.2)}
    fields: dict[str, dict[str, Any]] = {
        "too few rows": {"wrong": None, "wrong_low": None, "wrong_high": None},
        "no signal": {"says_nothing": True},
        "range": {"wrong": None},
        "count": {"wrong": 30.0},
        "unknown": {"wrong": None, "wrong_low": None, "wrong_high": None},
    }
    noise |= {"source": "too few rows"} if kind == "too few rows" else {}
    noise |= {"doubts": (Doubt("no-signal", "nothing"),)} if kind == "no signal" else {}
    noise = {} if kind == "count" else noise
    noise |= {"rate_range": None} if kind == "unknown" else {}
    whole = replace(usual.record, **fields[kind], noise=replace(usual.record.noise, **noise))
    assert whole.finding.kind == kind
    return replace(usual, record=whole)


def terminal(record: AuditRecord) -> str:
    screen = io.StringIO()
    show_noise(Console(file=screen, width=500), record)
    return screen.getvalue()


def issues_of(record: AuditRecord) -> Any:
    found = issues_from_probabilities(np.full((4, 5), 0.2), [0, 1, 2, 3], record.noise, classes=range(5))
    count = record.as_round.estimate()
    return replace(found, expected_wrong=None if count is None else WrongCount(count, record.n_left))


@pytest.mark.parametrize(
    ("kind", "sentence", "value"),
    [
        ("no signal", "NO_SIGNAL", MARK),
        ("too few rows", "TOO_FEW_ROWS", MARK),
        ("unknown", "UNKNOWN", MARK),
        ("range", "RANGE", MARK),
        ("count", "COUNT", MARK),
    ],
)
def test_a_sentence_that_is_changed_in_its_one_place_changes_everywhere(
    kind: str, sentence: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = found_as(kind)
    record = found.record
    monkeypatch.setattr(finding, sentence, value)
    print_record(record, {})
    shown = {
        "terminal": terminal(record),
        "report": report_html(found),
        "notebook, of an audit": record._repr_html_(),
        "notebook, of issues": issues_of(record)._repr_html_(),
        "JSON": json.loads(capsys.readouterr().out)["finding"]["sentences"][0],
    }
    if kind != "count":  # the gate compares the ends of an interval, whatever the number
        shown["gate"] = verdict_of(record, 0.1).reason
        shown["gate, as JSON"] = json.dumps(verdict_of(record, 0.1).to_dict())
    after = record.noise if kind != "count" else replace(record.noise, answer="corrected")
    shown["review"] = " ".join(in_words(RefitOutcome(findings().record.noise, after, 5), CLASSES[:5]))
    assert {name for name, text in shown.items() if "HERE" not in text} == set()


def test_the_ends_of_a_range_are_printed_alike_by_all() -> None:
    noise = Noise(
        uniform(3, 0.1), source="estimated", class_shares=np.full(3, 1 / 3), answer="trusting", rate_range=(0.1, 0.4)
    )
    told = "more cannot be told: a wrong grade next to the right one looks just like grades that overlap"
    assert noise.words == f"estimated: between 10.0% and 40.0% of the labels are wrong; {told}"
    count = WrongCount(Estimate(np.nan, 20, 80), 200)
    assert str(count) == f"between 20 and 80 of 200 labels are wrong (10% to 40%); {told}"
    assert (count.value, count.share, count.low, count.high) == (None, None, 20, 80)


def test_a_count_by_a_given_matrix_is_not_blamed_on_the_columns() -> None:
    noise = Noise(uniform(3, 0.1), class_shares=np.full(3, 1 / 3))
    found = finding_of(noise, Estimate(10.0, 8.0, 12.0), 100, thing="grade")
    assert found.sentences == ["About 10 of 100 grades are probably wrong (10%; 95% interval 8.0% to 12%)."]
    assert found.origin == "The noise matrix was given, not estimated from these rows."


def test_the_rest_is_called_so_and_one_label_is_one() -> None:
    assert Finding("too few rows", None, 1464, "grade", is_rest=True).phrase.endswith(
        "the remaining 1,464 grades are wrong"
    )
    assert Finding("count", Estimate(1.0, 0.9, 1.1), 1).all_of_them == "1 label"


def test_nothing_is_said_of_an_interval_that_is_not_known() -> None:
    found = Finding("count", Estimate(10.0, np.nan, np.nan), 100)
    assert found.phrase == "about 10 of 100 labels are wrong"
    assert found.sentences[0].endswith("probably wrong (10%).")


def test_a_page_of_trusted_grades_does_not_claim_that_none_is_wrong(tmp_path: Path) -> None:
    usual = findings(matrix=np.eye(5), wrong=0.0, wrong_low=0.0, wrong_high=0.0)
    trusted = replace(
        usual, record=replace(usual.record, noise=Noise(np.eye(5), "trusted", class_shares=np.full(5, 0.2)))
    )
    page = report_html(trusted)
    assert "The grades were trusted, as requested: no errors were looked for." in page
    assert "no sign that any" not in page
    assert "The grades were trusted, as requested" in terminal(trusted.record)
