"""Invented results in the form of `run_plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinoise.jobs import StoredResult, trial_key, trial_record
from studies.accuracy import CONTESTANTS, Contest


def stored(
    contestant: str,
    error: float | Sequence[float],
    *,
    dataset: str = "boston",
    cut: str = "standard",
    noise: str = "uniform",
    split: int = 0,
    score: float | None = None,
    max_rows: int | None = None,
) -> StoredResult:
    """A result whose decisions have these mean absolute errors, and other metrics derived from them."""
    contest = Contest(dataset, cut, noise, contestant, split, max_rows)
    decisions = CONTESTANTS[contestant].decisions
    errors = [error] * len(decisions) if isinstance(error, float) else error
    result: dict[str, Any] = {
        "fit_seconds": 0.5,
        "n_training_rows": 404,
        "share_wrong": 0.3,
        "decisions": {
            decision: {"mean_absolute_error": own, "zero_one_loss": own / 2, "quadratic_weighted_kappa": 1 - own}
            for decision, own in zip(decisions, errors, strict=True)
        },
    }
    if score is not None:
        result["ranked_probability_score"] = score
    return StoredResult(trial_key(contest), trial_record(contest), result, 1.0)
