"""How sure the findings are, and what would make them surer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from ordinoise.app.record import AuditRecord
from ordinoise.app.report.sentences import is_clean
from ordinoise.app.report.wording import count, counted, percent, printable

FAIR, ROUGH = 0.03, 0.08
"""Half-widths of the interval, as shares of all labels, that still count as known well and known roughly."""
FEW_ROWS = 500
WANTED = 0.03

# What the estimators say of their doubts, by words that are in it.
MEANINGS = {
    "leans on its priors": (
        "There are few rows. With so little to go by, the estimate leans on what is usual elsewhere."
    ),
    "likelihood is nearly flat": (
        "Very different amounts of noise would explain these grades nearly as well. The features do not tell the "
        "grades apart sharply enough to choose between them."
    ),
    "two starts end": (
        "Two searches from different starting points ended at different amounts of noise, and the data hardly prefer "
        "either."
    ),
    "noise is between neighbours": (
        "Nearly all suspected slips are of a single grade. Seen through the features, such slips look just like "
        "neighbouring grades that truly overlap."
    ),
    "may also be free of noise": "It is also possible that the grades hold no noise at all.",
}


@dataclass(frozen=True)
class Sureness:
    """A verdict, its reasons, and advice.

    Attributes
    ----------
    verdict : str
        In two or three words.
    tone : {"good", "fair", "doubt"}
        Which colour the verdict has.
    explanation : str
        What the verdict rests on.
    doubts : tuple of (str, str)
        Each doubt in plain words and in the estimator's own.
    advice : tuple of (str, str)
        What to do, and what it would bring.
    """

    verdict: str
    tone: str
    explanation: str
    doubts: tuple[tuple[str, str], ...]
    advice: tuple[tuple[str, str], ...]


def sureness_of(record: AuditRecord) -> Sureness:
    """How sure the number of wrong labels is, and what would make it surer."""
    noise = record.noise
    doubts = () if noise.is_identifiable or not noise.is_estimated else _in_plain_words(noise.identifiability)
    verdict, tone = _verdict(record)
    return Sureness(verdict, tone, _explanation(record), doubts, tuple(_advice(record)))


def _verdict(record: AuditRecord) -> tuple[str, str]:
    if not record.noise.is_estimated:
        return "As sure as the given matrix", "fair"
    if not record.noise.is_identifiable:
        return "In doubt", "doubt"
    reach = (record.wrong_high - record.wrong_low) / 2 / max(record.n_graded, 1)
    if reach > ROUGH:
        return "Known roughly", "doubt"
    return ("Known well", "good") if reach <= FAIR else ("Known fairly well", "fair")


def _explanation(record: AuditRecord) -> str:
    reach = (record.wrong_high - record.wrong_low) / 2
    within = f"the number of wrong grades is known to within about {count(reach)} either way"
    within += f" ({percent(reach / max(record.n_graded, 1))} of all grades)."
    if not record.noise.is_estimated:
        return (
            "The noise matrix was given. The interval counts the chance of each row, not a mistake in the matrix: if "
            f"the matrix is off, so are all numbers here. If it is right, {within}"
        )
    if record.noise.is_identifiable:
        return f"Nothing in these rows speaks against the estimate, and {within}"
    return f"Something speaks against taking the estimate at its word. If it is right all the same, {within}"


def _in_plain_words(identifiability: str) -> tuple[tuple[str, str], ...]:
    found = [printable(doubt.strip()) for doubt in identifiability.split(";") if doubt.strip()]
    return tuple((_meaning(doubt), doubt) for doubt in found)


def _meaning(doubt: str) -> str:
    return next((meaning for word, meaning in MEANINGS.items() if word in doubt), "")


def _advice(record: AuditRecord) -> Sequence[tuple[str, str]]:
    sample = _rows_to_grade_again(record)
    advice = [
        (
            "Ask a second rater",
            f"Have {_sample_words(record, sample)} graded again by somebody careful who does not see the first grade. "
            f"Where the second grade can be taken as right, it tells the share of wrong ones to within about "
            f"{_reach(record, sample)}, without any model.",
        )
    ]
    if record.suspects:
        advice.append(
            (
                "Settle the suspicious rows",
                "Open this audit with “ordinoise review” and decide, row by row, which grade is right. Settled rows "
                "can serve as trusted grades in the next audit.",
            )
        )
    if record.noise.is_estimated:
        advice.append(
            (
                "Say what is known already",
                "If an earlier check tells about how many grades go wrong, give that rate, or a whole noise matrix, "
                "in place of an estimate from these rows alone.",
            )
        )
    if record.n_graded < FEW_ROWS:
        text = "The estimate needs some hundreds of rows to speak for itself, and better a few thousand."
        advice.append(("Grade more rows", text))
    return advice


def _rows_to_grade_again(record: AuditRecord) -> int:
    """How many rows tell the rate to within `WANTED`, in tens, and never more than there are."""
    share = 0.05 if is_clean(record) else min(max(record.wrong / record.n_graded, 0.02), 0.5)
    needed = (_quantile(record) / WANTED) ** 2 * share * (1 - share)
    return min(max(100, math.ceil(needed / 10) * 10), record.n_graded)


def _sample_words(record: AuditRecord, sample: int) -> str:
    rows = counted(sample, "row")
    return f"all {rows}" if sample == record.n_graded else f"{rows}, drawn at random,"


def _reach(record: AuditRecord, sample: int) -> str:
    share = 0.05 if is_clean(record) else min(max(record.wrong / record.n_graded, 0.02), 0.5)
    points = 100 * _quantile(record) * math.sqrt(share * (1 - share) / max(sample, 1))
    return f"{points:.0f} percentage points" if round(points) > 1 else "one percentage point"


def _quantile(record: AuditRecord) -> float:
    return NormalDist().inv_cdf((1 + min(record.confidence, 0.999)) / 2)
