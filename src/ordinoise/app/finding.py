"""Sentences on the rounds of review and the columns, which the terminal and the pages share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ordinoise._text import percent
from ordinoise.columns.findings import ColumnFindings
from ordinoise.columns.names import LISTED

if TYPE_CHECKING:
    from ordinoise.app.records.audit import AuditRecord


def certified_words(record: AuditRecord) -> str:
    """What the last spot check shows, and what that means for the grades that are left; empty without one."""
    found = record.spot_check
    if found is None or record.certified is None or record.stage == "random":
        return ""
    most, share = f"{record.certified:,}", percent(record.certified / max(record.n_left, 1))
    return f"Spot check: {found}. So at most {most} of the remaining {record.n_left:,} are wrong ({share})."


def reviewer_words(record: AuditRecord) -> str:
    """How often reviewers err themselves, by rows that they graded twice; empty without any."""
    if not record.repeats:
        return ""
    from ordinoise.audit.certificate import repeat_error  # here: a prediction needs none of it
    from ordinoise.audit.reviewers import reviewers_from_repeats

    n_repeated, rank = len(record.repeats), {grade: rank for rank, grade in enumerate(record.classes)}
    who = [(one.reviewer, one.again_by) for one in record.repeats]
    found = reviewers_from_repeats(who, [(rank[one.first], rank[one.again]) for one in record.repeats], len(rank))
    share = repeat_error(n_repeated, record.n_differing, agreeing=found.agreeing)
    twice = f"{n_repeated:,} rows were graded twice, blind; {record.n_differing:,} differed"
    error = f"about {percent(share.value)} of a reviewer's grades are wrong ({share.span('%')})"
    if not record.n_differing:  # "about 0%" would contradict the number of settled grades that are expected to be wrong
        error = f"at most {percent(share.high)} of a reviewer's grades are wrong"
    n_wrong = f"{record.settled_wrong:,.1f}" if record.settled_wrong < 10 else f"{record.settled_wrong:,.0f}"
    of_settled = f"some {n_wrong} of the {len(record.settled):,} settled ones"
    return f"{twice}: {error}, {of_settled}; more if errors gather on the same hard rows."


def left_out_words(columns: Sequence[ColumnFindings]) -> str:
    """Which columns were left out and why, or that none was, and what to do."""
    if not columns:
        return "None was left out. Add columns that the grade depends on."
    named = "; ".join(f"{column.name!r} ({column.note})" for column in columns[:LISTED])
    more = f" and {len(columns) - LISTED} more" if len(columns) > LISTED else ""
    return f"Left out: {named}{more}. Add columns that the grade depends on."
