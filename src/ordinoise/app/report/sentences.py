"""What was found, in plain words."""

from __future__ import annotations

import math

import numpy as np

from ordinoise.app.record import AuditRecord
from ordinoise.app.report.directions import RARE, Directions
from ordinoise.app.report.findings import Findings
from ordinoise.app.report.measures import is_telling
from ordinoise.app.report.wording import count, counted, grades_in_words, number, percent
from ordinoise.scoring.evaluation import Evaluation

NO_NOISE = 0.0005
"""Share of wrong labels below which none is spoken of."""
CLEAR, NEARLY_ALL = 0.6, 0.95
WIDE = 0.5
"""An interval that reaches this far, as a share of the number in it, is called wide."""


def is_clean(record: AuditRecord) -> bool:
    """Whether hardly a label is suspected."""
    return record.wrong < 0.5 or record.wrong < NO_NOISE * record.n_graded


def summary(findings: Findings, directions: Directions) -> list[str]:
    """Sentences of the opening paragraph."""
    record = findings.record
    sentences = [*how_many(record)]
    if not is_clean(record):
        sentences += which_way(record, directions)
    sentences += [*how_good(findings.scores), *_caution(record)]
    return sentences


def how_many(record: AuditRecord) -> list[str]:
    """How many labels are wrong, and how wide the interval is."""
    of_all = f"of {counted(record.n_graded, 'grade')}"
    if is_clean(record):
        ceiling = f", though up to {count(record.wrong_high)} may be" if record.wrong_high >= 1 else ""
        return [f"Nothing suggests that any {of_all} is wrong{ceiling}."]
    # An interval that holds "none at all" allows no stronger word.
    verb = "may be" if record.wrong_low < 0.5 else "is probably" if round(record.wrong) == 1 else "are probably"
    found = f"About {count(record.wrong)} {of_all} ({percent(record.wrong / record.n_graded)}) {verb} wrong"
    sentences = [f"{found}: between {count(record.wrong_low)} and {count(record.wrong_high)}, {_level(record)}."]
    reach = (record.wrong_high - record.wrong_low) / 2
    if reach > WIDE * record.wrong:
        sentences.append("That range is wide: take the number as a hint.")
    return sentences


def which_way(record: AuditRecord, directions: Directions) -> list[str]:
    """In which direction and how far labels go wrong, and where most."""
    if directions.wrong <= 0:
        return []
    grades = grades_in_words(record.classes)
    worst = directions.worst
    most = (
        f"Most often wrong is {grades[worst]}: {percent(1 - directions.right[worst])} of the rows that deserve it are "
        f"recorded otherwise, mostly as {grades[directions.taken_for(worst)]}."
    )
    if len(grades) == 2:
        return [
            f"Of the rows that deserve {grades[0]}, {percent(directions.too_high[0])} are recorded as {grades[1]}; "
            f"of those that deserve {grades[1]}, {percent(directions.too_low[1])} as {grades[0]}."
        ]
    return [f"Wrong grades are {_direction(directions)}, {_distance(directions)}.", most]


def _direction(directions: Directions) -> str:
    low = directions.low_share
    if 1 - CLEAR < low < CLEAR:
        return f"about as often too low ({percent(low)}) as too high ({percent(1 - low)})"
    way, share = ("low", low) if low >= CLEAR else ("high", 1 - low)
    if share > 0.9995:
        return f"always too {way}"
    return f"{'nearly always' if share > NEARLY_ALL else 'mostly'} too {way} ({percent(share)} of them)"


def _distance(directions: Directions) -> str:
    near = 1 - directions.far_share
    if near > NEARLY_ALL:
        return "nearly always by a single grade" if near < 0.9995 else "always by a single grade"
    if near >= CLEAR:
        return f"mostly by a single grade ({percent(near)})"
    return f"and {percent(1 - near)} of them by two grades or more"


def of_a_hundred(record: AuditRecord, directions: Directions) -> str:
    """The directions once more, as numbers to picture."""
    if directions.wrong <= 0:
        return "By this matrix every grade is recorded right."
    grades, common = grades_in_words(record.classes), np.flatnonzero(directions.prior >= RARE)
    low = round(100 * directions.low_share)
    told = f"Of 100 wrong grades, about {low} are too low and {100 - low} too high"
    if len(grades) > 2:
        told += f"; {round(100 * directions.far_share) or 'none'} are off by two grades or more"
    if len(common) < 2:
        return f"{told}."
    best, worst = common[directions.right[common].argmax()], common[directions.right[common].argmin()]
    extremes = f"{grades[best]} is recorded right most often ({percent(directions.right[best])}), "
    extremes += f"{grades[worst]} least often ({percent(directions.right[worst])})"
    return f"{told}. Of the grades that are not rare, {extremes}."


def how_good(scores: Evaluation) -> list[str]:
    """How far predictions are off, as recorded and as clean labels would show it."""
    score = scores.scores.get("mean_absolute_error")
    if score is None:
        return []
    observed = (
        f"Judged by the recorded grades, predictions for rows not learned from are off by {number(score.observed)}"
    )
    if not math.isfinite(score.value):
        return [f"{observed} grades on average."]
    clean = f"judged by the true ones, about {number(max(score.value, 0.0))}"
    if is_telling(score):
        clean += f" ({number(max(score.low, 0.0))} to {number(score.high)})"
    return [f"{observed} grades on average; {clean}."]


def _caution(record: AuditRecord) -> list[str]:
    if not record.noise.is_estimated:
        return ["How labels go wrong was given, not estimated from these rows."]
    if not record.noise.is_identifiable:
        return ["These rows alone leave the amount of noise in doubt; what would settle it is said below."]
    return []


def _level(record: AuditRecord) -> str:
    return f"with {percent(record.confidence)} confidence"
