"""Scores as recorded and as clean labels would show them, in words a reader knows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ordinoise.app.report.wording import number, shortened
from ordinoise.scoring.metrics import CorrectedScore

MEASURES = {
    "mean_absolute_error": ("Mean distance", "grades between prediction and label, lower is better"),
    "zero_one_loss": ("Share missed", "predictions that are not the label, lower is better"),
    "accuracy_off1": ("Share within one", "predictions at most one grade off, higher is better"),
    "average_mean_absolute_error": ("Mean distance by grade", "each grade counts alike, lower is better"),
    "linear_weighted_kappa": ("Kappa, linear", "agreement beyond chance, 1 is best"),
    "quadratic_weighted_kappa": ("Kappa, quadratic", "the same, far misses count more, 1 is best"),
    "ranked_probability_score": ("Ranked probability", "distance of the predicted distribution, lower is better"),
    "kendall_tau": ("Kendall's tau", "agreement in order, 1 is best; it has no known correction"),
}  # fmt: skip
TITLES = {name: title for name, (title, _) in MEASURES.items()}
WIDEST = 2.0
"""A corrected score whose interval reaches further, in grades or in itself, tells nothing."""


@dataclass(frozen=True)
class ScoreLine:
    """A measure in a table: its names, its numbers as text, and whether the corrected one tells anything."""

    title: str
    meaning: str
    observed: str
    clean: str
    interval: str
    is_telling: bool


def is_telling(score: CorrectedScore) -> bool:
    """Whether a corrected score is known well enough to be told."""
    reach = (score.high - score.low) / 2
    return math.isfinite(score.value) and reach <= WIDEST * max(1.0, abs(score.observed))


def score_lines(scores: Mapping[str, CorrectedScore]) -> list[ScoreLine]:
    """A line a measure, in the order of the scores."""
    return [_score_line(name, score) for name, score in scores.items()]


def _score_line(name: str, score: CorrectedScore) -> ScoreLine:
    title, meaning = MEASURES.get(name, (shortened(name.replace("_", " ")), ""))
    if not math.isfinite(score.value):
        return ScoreLine(title, meaning, number(score.observed), number(math.nan), number(math.nan), False)
    interval = f"{number(score.low)} to {number(score.high)}" if is_telling(score) else "too wide to tell"
    return ScoreLine(title, meaning, number(score.observed), number(score.value), interval, is_telling(score))


def scores_words(scores: Mapping[str, CorrectedScore]) -> str:
    """Observed and corrected numbers in one sentence."""
    told = [
        f"{MEASURES[name][0].lower()} {number(score.observed)} as recorded, {number(score.value)} on clean grades"
        for name, score in scores.items()
        if name in MEASURES and math.isfinite(score.value)
    ]
    return f"Observed and corrected scores: {'; '.join(told)}."
