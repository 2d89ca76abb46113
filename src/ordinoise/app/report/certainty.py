"""How certain the number of wrong labels is, and what would make it more certain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from ordinoise._text import percent
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.report.words import count, counted, printable

# Half-widths of the interval, as shares of all labels, up to which the number is precise and fairly precise.
PRECISE, FAIR = 0.03, 0.08
# Below this many rows the advice is to grade more.
FEW_ROWS = 500
# A second rater gets enough rows to estimate the rate to within this half-width. All four are round numbers, chosen by
# no run.
WANTED = 0.03

# What each doubt of the estimator means, by its code.
MEANINGS = {
    "few-samples": "There are few rows, so the estimate depends on prior assumptions about typical noise.",
    "flat-likelihood": (
        "Very different amounts of noise would explain these grades nearly as well. The features do not separate the "
        "grades well enough to choose between them."
    ),
    "starts-disagree": (
        "Two optimizations from different starting points ended at different amounts of noise, and both fit the data "
        "nearly equally well."
    ),
    "only-neighbors": (
        "Nearly all suspected errors are of a single grade. Given the features, such errors look the same as "
        "neighboring grades that truly overlap."
    ),
    "moved-grade": (
        "The estimate says that a grade is usually recorded as another one. More likely the grades depend on the "
        "columns in a way that the estimate cannot follow."
    ),
    "predicted-surprise": (
        "Some rows are recorded less reliably than others, or their grades overlap more, and the columns show which. "
        "One table of errors for all rows does not describe that."
    ),
    "verified-disagree": (
        "The verified grades are wrong more often or less often than the estimate says, so it is not used."
    ),
    "no-signal": "The columns hardly help to predict the grade, so a wrong grade cannot stand out.",
    "weak-columns": (
        "The columns explain little of the grades. What they do not show looks like noise, although the grades may be "
        "right."
    ),
    "maybe-clean": "It is also possible that the grades have no noise at all.",
    "too-few-rows": "With so few rows, noise cannot be distinguished from chance.",
}


@dataclass(frozen=True)
class Certainty:
    """A verdict, its reasons, and advice.

    Attributes
    ----------
    verdict : str
        Two or three words.
    tone : {"good", "fair", "doubt"}
        Color of the verdict.
    explanation : str
        Why this verdict.
    doubts : tuple of (str, str)
        Each doubt in plain words (may be empty) and in the words of the estimator.
    advice : tuple of (str, str)
        Title and text of each piece of advice.
    """

    verdict: str
    tone: str
    explanation: str
    doubts: tuple[tuple[str, str], ...]
    advice: tuple[tuple[str, str], ...]


def certainty_of(record: AuditRecord) -> Certainty:
    """How certain the number of wrong labels is, and what would make it more certain."""
    doubts = tuple((MEANINGS.get(doubt.code, ""), printable(doubt.sentence)) for doubt in record.noise.doubts)
    verdict, tone = _verdict(record)
    return Certainty(verdict, tone, _explanation(record), doubts, tuple(_advice(record)))


VERDICTS = {
    "too few rows": ("Unknown", "doubt"),
    "no signal": ("Unknown", "doubt"),
    "unknown": ("Unknown", "doubt"),
    "trusted": ("Not estimated", "fair"),
    "given": ("As certain as the given matrix", "fair"),
    "range": ("Known as a range", "fair"),
}


def _verdict(record: AuditRecord) -> tuple[str, str]:
    found = record.finding
    if found.kind in ("count", "range") and found.doubts:
        return "In doubt", "doubt"
    if found.kind != "count":
        return VERDICTS[found.kind]
    half_width = _half_width(record) / max(record.n_left, 1)
    if half_width > FAIR:
        return "Imprecise", "doubt"
    return ("Precise", "good") if half_width <= PRECISE else ("Fairly precise", "fair")


def _explanation(record: AuditRecord) -> str:
    found = record.finding
    if found.kind in ("too few rows", "trusted", "no signal"):
        return f"{found.sentences[0][:-1]}, so no label is flagged."
    if not found.is_known:
        return f"What was made of the estimate: {record.noise.answer}, as {printable(record.noise.reason)}."
    half_width = _half_width(record)
    within = f"the number of wrong grades is known to within about ±{count(half_width)}"
    within += f" ({percent(half_width / max(record.n_left, 1))} of all grades)."
    if found.kind == "given":
        return (
            f"{found.origin} The interval covers the randomness of the rows, not errors of the matrix: if the matrix "
            f"is wrong, so are all numbers here. If it is right, {within}"
        )
    if not found.doubts:
        return f"There is no sign that the noise is unidentifiable, and {within}"
    return f"There are reasons to doubt the estimate, listed below. If it is right, {within}"


def _half_width(record: AuditRecord) -> float:
    """Half-width of the interval of the number of wrong labels; 0 if there is none."""
    return 0.0 if record.finding.wrong is None else record.finding.wrong.half_width


def _share(record: AuditRecord) -> float:
    """Assumed share of wrong labels for the size of a second rating: 0.5, the worst case, if it is unknown.

    It is clipped to 0.02 to 0.5, and 0.05 for clean labels: round numbers, chosen by no run.
    """
    share = record.finding.share
    if share is None or not record.finding.is_known:
        return 0.5
    return 0.05 if record.finding.is_clean else min(max(share.value, 0.02), 0.5)


def _advice(record: AuditRecord) -> Sequence[tuple[str, str]]:
    sample = _rows_to_grade_again(record)
    advice = [
        (
            "Ask a second rater",
            f"Have {_sample_words(record, sample)} graded again by a careful rater who does not see the first grade. "
            f"If the second grades are right, they give the share of wrong ones to within about "
            f"{_margin(record, sample)}, without any model.",
        )
    ]
    if record.suspects:
        advice.append(
            (
                "Review the suspicious rows",
                "Open this audit with “ordinoise review” and decide row by row which grade is right. Reviewed grades "
                "can be trusted in the next audit or fit (--reviewed).",
            )
        )
    if record.noise.is_estimated:
        advice.append(
            (
                "Use what is already known",
                "If you know roughly what share of the grades is wrong, say so (--prior-rate 0.1). If an earlier study "
                "measured how often each grade is recorded as another, pass that noise matrix (--noise) in place of "
                "the estimate.",
            )
        )
    if record.n_graded < FEW_ROWS:
        text = "The estimate needs at least some hundreds of rows, better a few thousand."
        advice.append(("Grade more rows", text))
    return advice


def _rows_to_grade_again(record: AuditRecord) -> int:
    """Number of rows that give the rate to within `WANTED`: at least 100, rounded up to tens, at most all rows."""
    share = _share(record)
    needed = (_quantile(record) / WANTED) ** 2 * share * (1 - share)
    return min(max(100, math.ceil(needed / 10) * 10), record.n_left)


def _sample_words(record: AuditRecord, sample: int) -> str:
    rows = counted(sample, "row")
    return f"all {rows}" if sample == record.n_left else f"{rows}, drawn at random,"


def _margin(record: AuditRecord, sample: int) -> str:
    share = _share(record)
    points = 100 * _quantile(record) * math.sqrt(share * (1 - share) / max(sample, 1))
    return f"{points:.0f} percentage points" if round(points) > 1 else "one percentage point"


def _quantile(record: AuditRecord) -> float:
    return NormalDist().inv_cdf((1 + min(record.confidence, 0.999)) / 2)
