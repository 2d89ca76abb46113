"""A gate for data: whether few enough grades are wrong, judged by a spot check or by the ends of an interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ordinoise._text import percent
from ordinoise.app.records.audit import AuditRecord, read_record
from ordinoise.app.records.labels import CountedLabels, counted_record
from ordinoise.app.records.ratings import is_of_ratings
from ordinoise.app.records.reviewers import slip_rates
from ordinoise.app.report.words import printable
from ordinoise.app.rounds.history import history_for
from ordinoise.app.tables import GradedTable
from ordinoise.app.verbs.audit import audit_record
from ordinoise.app.verbs.fit import learn
from ordinoise.app.verbs.request import Request
from ordinoise.audit.prevalence.gate import gate
from ordinoise.estimate import Estimate
from ordinoise.finding import between

PASSED, FAILED, UNKNOWN = "passed", "failed", "cannot be told"
FEWEST_MORE = 10  # random rows that are worth another sample; a round number, chosen by no run
SECONDS_PER_ROW = 15  # that a person looks at a row; a round number, chosen by no run


@dataclass(frozen=True)
class Verdict:
    """The answer of the gate.

    Attributes
    ----------
    answer : {"passed", "failed", "cannot be told"}
    source : str
        Name of the file.
    max_wrong : float
        Largest share of wrong grades that passes.
    share : Estimate or None
        Ends of the share of wrong grades in the file with its settled grades; None if they are not known.
    judged_by : {"random rows", "spot check", "range", "matrix", "nothing"}
    confidence : float
    reason : str
        One sentence.
    n_more : int
        If it cannot be told: random rows that would tell, beside those that were verified, if as many of them are wrong
        as is now expected; -1 if no sample would.
    """

    answer: str
    source: str
    max_wrong: float
    share: Estimate | None
    judged_by: str
    confidence: float
    reason: str
    n_more: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        low, high = (None, None) if self.share is None else self.share.ends
        return {name: value for name, value in vars(self).items() if name != "share"} | {"low": low, "high": high}


def verdict_of(record: AuditRecord, max_wrong: float) -> Verdict:
    """Whether the share of wrong grades is at most `max_wrong`, of all grades of the file, settled ones included.

    It passes only on an upper end, fails only on a lower end, and cannot be told in between. The ends are those of the
    number that random rows give, else those of a spot check with strata, else those of the range; settled grades that
    are wrong by the reviewers' own errors are added.
    """
    n_graded = max(record.n_graded, 1)
    if record.stage != "random" and record.spot_check is not None and record.certified is not None:
        found = record.spot_check
        least = max(found.at_least - found.n_wrong - (found.n_labels - found.n_checked - record.n_left), 0)
        ends = Estimate(math.nan, least / n_graded, record.certified / n_graded, found.confidence)
        return _judged(record, max_wrong, ends, "spot check", f"spot check, {found}")
    known = record.finding
    if known.wrong is None:
        return Verdict(UNKNOWN, _name(record), max_wrong, None, "nothing", record.confidence, f"{known.phrase}.")
    own = record.settled_wrong
    low, high = ((end + own) / n_graded for end in known.wrong.ends)
    by, how = JUDGES.get(record.stage, ("range", "range that columns and verified rows allow"))
    how = how.format(level=percent(record.confidence))
    how += f", {own:.1f} of the settled ones among them" if own >= 0.05 else ""
    value = known.wrong.value / n_graded
    return _judged(record, max_wrong, Estimate(value, low, high, record.confidence), by, how)


JUDGES = {
    "random": ("random rows", "{level} interval by rows that were drawn at random"),
    "given": ("matrix", "{level} interval if the given matrix is right"),
}


def _judged(record: AuditRecord, max_wrong: float, share: Estimate, by: str, how: str) -> Verdict:
    verdict = gate(share, 1, max_wrong, (1 - share.confidence) / 2)
    n_seen = sum(one.drawn == "random" for one in record.settled) if record.stage == "random" else 0
    # Of a sample that would tell, the rows that were drawn already are a part; a few more than that always help.
    n_more = max(verdict.n_rows - n_seen, FEWEST_MORE) if verdict.n_rows > 0 and n_seen else verdict.n_rows
    words = between(share, partial(_beside, limit=max_wrong), f"{record.n_graded:,} grades")
    reason = f"{words} ({how}); at most {percent(max_wrong)} may be."
    if n_more:
        reason += f" {_advice(n_more, 'more rows' if n_seen else 'rows')}"
    return Verdict(verdict.answer, _name(record), max_wrong, share, by, share.confidence, reason, n_more)


def _advice(n_rows: int, rows: str) -> str:
    if n_rows < 0:
        return "The share may be too near the limit for any sample to tell."
    minutes = max(1, round(n_rows * SECONDS_PER_ROW / 60))
    took = f"about {minutes} minute{'s' * (minutes != 1)}"
    return f"Verify {n_rows:,} {rows} drawn at random to tell ({took}): ordinoise next --spot-check --budget {n_rows}."


def _beside(share: float, limit: float) -> str:
    """A share as a percentage, with the decimals that tell it from the limit."""
    texts = [(percent(one), *(f"{100 * one:.{decimals}f}%" for decimals in (1, 2, 3))) for one in (share, limit)]
    return next((own for own, other in zip(*texts, strict=True) if own != other), texts[0][0])


def _name(record: AuditRecord) -> str:
    return Path(record.source).name


def checked_record(
    request: Request,
    reviewed: Path | None,
    *,
    on_table: Callable[[GradedTable], None] = lambda _: None,
    verbose: bool = False,
) -> AuditRecord:
    """What is known about the grades of a file: by a reviewed folder, without a fit, else by a new audit."""
    history = None if reviewed is None else history_for(reviewed, request, may_be_empty=True)
    if reviewed is not None and history is not None and not is_of_ratings(reviewed):
        record = replace(read_record(reviewed), spot_check=history.spot_check)
        labels = CountedLabels.of(reviewed, record)
        if labels is not None:
            slips = slip_rates(history.settled, history.repeats, record.classes)
            return counted_record(record, labels.count(history.settled, record.confidence, slips), history.settled)
        if history.spot_check is not None:
            return replace(record, suspects=(), settled=history.settled)
    return audit_record(learn(request, history=history, on_table=on_table, verbose=verbose), 0, history)


def junit_xml(verdict: Verdict, is_passed: bool) -> bytes:
    """The verdict as JUnit XML: one test case, with a failure if the gate is shut."""
    counts = {"tests": "1", "failures": str(int(not is_passed)), "errors": "0"}
    suite = ElementTree.Element("testsuite", counts, name="ordinoise check")
    name = printable(f"wrong grades in {verdict.source} are at most {percent(verdict.max_wrong)}")
    case = ElementTree.SubElement(suite, "testcase", classname="ordinoise.check", name=name)
    sentence = printable(f"{verdict.answer}: {verdict.reason}")
    if not is_passed:
        ElementTree.SubElement(case, "failure", message=sentence, type=verdict.answer.replace(" ", "-")).text = sentence
    else:
        ElementTree.SubElement(case, "system-out").text = sentence
    return ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
