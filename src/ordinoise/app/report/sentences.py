"""The findings in sentences, and the table of scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ordinoise._text import NOTHING, percent
from ordinoise.app.finding import certified_words, left_out_words, reviewer_words
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.records.history import Round
from ordinoise.app.report.action import Baseline
from ordinoise.app.report.matrix import RARE, Directions
from ordinoise.app.report.words import count, grades_in_words, number, printable, shortened
from ordinoise.scoring.evaluation import Evaluation
from ordinoise.scoring.metrics import TITLES, CorrectedScore

# The thresholds of these sentences are round numbers, chosen by no run.
CLEAR, NEARLY_ALL = 0.6, 0.95  # shares that are called "mostly" and "nearly always"
MEANINGS = {
    "mean_absolute_error": "grades between prediction and label, lower is better",
    "zero_one_loss": "predictions that differ from the label, lower is better",
    "accuracy_off1_score": "predictions at most one grade off, higher is better",
    "average_mean_absolute_error": "each grade has the same weight, lower is better",
    "linear_weighted_kappa": "agreement beyond chance, 1 is best",
    "quadratic_weighted_kappa": "agreement beyond chance, large errors weigh more, 1 is best",
    "ranked_probability_score": "error of the predicted distribution, lower is better",
    "kendall_tau": "agreement in order, 1 is best; no correction for noise is known",
}
ANSWERS = {
    "corrected": "Predictions are corrected for the noise that was estimated, as held-out grades speak for it.",
    "cautious": (
        "Predictions are cautious: they were learned with the estimated errors in mind, but are of the grade as it "
        "would be recorded, since the estimate is in doubt; see below what would help."
    ),
    "trusting": "Predictions take the grades as they are; see below why, and what would help.",
}
IF_RIGHT = "if the noise matrix is right"
# A corrected score is not shown with an interval of a larger half-width, in units of 1 or of the observed score if that
# is larger; a round number, chosen by no run.
WIDEST = 2.0


def summary(
    record: AuditRecord, scores: Evaluation, directions: Directions, baseline: Baseline | None = None
) -> list[str]:
    """Sentences of the opening paragraph."""
    found = record.finding
    if found.kind == "no signal":
        left_out = printable(left_out_words(record.left_out))
        return [*found.sentences, left_out, *how_good(scores, baseline, is_known=False)]
    return [
        *found.sentences,
        *settled_so_far(record),
        *(which_way(record, directions) if found.kind == "given" and not found.is_clean else []),
        *how_good(scores, baseline, is_known=found.wrong is not None),
        *_caution(record),
    ]


def settled_so_far(record: AuditRecord) -> list[str]:
    """How many grades were settled in earlier rounds."""
    if not record.settled:
        return []
    return [
        f"Reviewed so far: {record.settled_words}.",
        *filter(None, (reviewer_words(record), certified_words(record))),
    ]


def progress_lines(record: AuditRecord) -> list[tuple[str, ...]]:
    """One row per round, this audit last: fixed, confirmed, not reviewed, and how many of those are wrong."""
    if not record.rounds:
        return []
    return [
        (str(at), count(one.n_fixed), count(one.n_confirmed), count(one.n_left), _wrong_cell(one))
        for at, one in enumerate((*record.rounds, record.as_round), start=1)
    ]


def _wrong_cell(one: Round) -> str:
    wrong = one.estimate()
    return NOTHING if wrong is None else wrong.words(count)


def which_way(record: AuditRecord, directions: Directions) -> list[str]:
    """In which direction and how far labels are wrong, and which grade is wrong most often."""
    if directions.wrong <= 0:
        return []
    grades = grades_in_words(record.classes)
    worst = directions.worst
    most = (
        f"Most often wrong is {grades[worst]}: {percent(1 - directions.right[worst])} of the rows with this true grade "
        f"are recorded as another, mostly as {grades[directions.confused_with(worst)]}."
    )
    if len(grades) == 2:
        return [
            f"Of the rows that are truly {grades[0]}, {percent(directions.too_high[0])} are recorded as {grades[1]}; "
            f"of those that are truly {grades[1]}, {percent(directions.too_low[1])} as {grades[0]}."
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


def directions_in_words(record: AuditRecord, directions: Directions) -> str:
    """The directions of the wrong labels as counts out of 100."""
    if record.finding.kind == "too few rows":
        return "There are too few rows to estimate in which direction grades are wrong."
    if not record.finding.is_known:
        return "Too little is known to say in which direction grades are wrong; this is what an estimate would say."
    if directions.wrong <= 0:
        return "According to this matrix every grade is recorded right."
    grades, common = grades_in_words(record.classes), np.flatnonzero(directions.prior >= RARE)
    low = round(100 * directions.low_share)
    of = "Of" if record.finding.kind == "given" else "By the fitted matrix, which nothing verifies: of"
    counts = f"{of} 100 wrong grades, about {low} are too low and {100 - low} too high"
    if len(grades) > 2:
        counts += f"; {round(100 * directions.far_share) or 'none'} are off by two grades or more"
    if len(common) < 2:
        return f"{counts}."
    best, worst = common[directions.right[common].argmax()], common[directions.right[common].argmin()]
    extremes = f"{grades[best]} is recorded right most often ({percent(directions.right[best])}), "
    extremes += f"{grades[worst]} least often ({percent(directions.right[worst])})"
    return f"{counts}. Apart from rare grades, {extremes}."


def matrix_in_words(record: AuditRecord) -> str:
    """Where the noise matrix comes from."""
    found = record.finding
    if found.kind == "too few rows":
        return f"{found.sentences[0]} So the labels are used as they are."
    return found.origin or "It was estimated from these rows."


def how_good(scores: Evaluation, baseline: Baseline | None = None, *, is_known: bool = True) -> list[str]:
    """The mean absolute error on the recorded labels beside the baseline and, if the noise is known, on clean ones."""
    score = scores.scores.get("mean_absolute_error")
    if score is None:
        return []
    observed = f"Compared with the recorded grades, out-of-fold predictions are off by {number(score.observed)}"
    observed += " grades on average"
    if baseline is not None and "mean_absolute_error" in baseline.scores:
        observed += f" (always “{baseline.grade}”: {number(baseline.scores['mean_absolute_error'])})"
    if not is_known or not math.isfinite(score.value):
        return [f"{observed}."]
    if scores.in_doubt:
        return [f"{observed}; compared with the true ones, {IF_RIGHT}, by {score.span(number)}."]
    clean = f"compared with the true ones, {IF_RIGHT}, by about {number(score.value)}"
    if is_precise(score):
        clean += f" ({score.span(number)})"
    return [f"{observed}; {clean}."]


def _caution(record: AuditRecord) -> list[str]:
    found = record.finding
    if found.kind == "too few rows":
        return [f"{record.noise.doubt_text.capitalize()}. The labels were used as they are."]
    if found.kind == "trusted":
        return []
    return [found.origin or ANSWERS[record.noise.answer]]


def title_of(metric: str) -> str:
    """What a metric is called, with a capital letter."""
    title = shortened(TITLES.get(metric, metric.replace("_", " ")), 30)
    return title[:1].upper() + title[1:]


def is_precise(score: CorrectedScore) -> bool:
    """Whether a corrected score is precise enough to show."""
    return math.isfinite(score.value) and score.half_width <= WIDEST * max(1.0, abs(score.observed))


def score_lines(scores: Mapping[str, CorrectedScore]) -> list[dict[str, Any]]:
    """One row per metric, in the order of the scores; an interval is left out if it is too wide to be worth showing."""
    lines = []
    for name, score in scores.items():
        interval = score.span(number) if is_precise(score) else "too wide to show"
        lines.append({
            "title": title_of(name), "meaning": MEANINGS.get(name, ""), "is_precise": is_precise(score),
            "observed": number(score.observed), "clean": number(score.value),
            "interval": interval if math.isfinite(score.value) else NOTHING,
        })  # fmt: skip
    return lines


def scores_words(scores: Mapping[str, CorrectedScore]) -> str:
    """Observed and corrected scores in one sentence."""
    parts = [
        f"{title_of(name)} {number(score.observed)} on recorded grades, {number(score.value)} on clean grades"
        for name, score in scores.items()
        if name in TITLES and math.isfinite(score.value)
    ]
    return f"Observed and corrected scores: {'; '.join(parts)}."
