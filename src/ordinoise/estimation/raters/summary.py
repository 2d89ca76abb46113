"""What is said about a fit of raters: noise rate, intervals, gain over chance, doubts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.raters.model import RaterFit, Ratings, Settings, Votes, maximise

RESAMPLE_ITERATIONS = 25
"""A resample starts at the fit, so few steps carry it to its own."""
FEW_LABELS = 20
LARGEST_START_GAP = 0.05


def noise_rate(fit: RaterFit) -> float:
    """Share of labels that are wrong."""
    return float(1 - fit.class_prior @ np.diag(fit.average_matrix))


def resampled(
    votes: Votes,
    settings: Settings,
    fit: RaterFit,
    item_prior: Floats | None,
    n_bootstrap: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Average matrix and noise rate of `n_bootstrap` resamples of the items, each fitted from where `fit` ended."""
    n_items, n_classes = fit.posterior.shape
    matrices, rates = np.empty((n_bootstrap, n_classes, n_classes)), np.empty(n_bootstrap)
    quick = Settings(settings.shrinkage, RESAMPLE_ITERATIONS, 10 * settings.tol)
    for resample in range(n_bootstrap):
        weight = np.bincount(rng.integers(n_items, size=n_items), minlength=n_items).astype(float)
        refit = maximise(votes, quick, fit.posterior, fit.raters, item_prior, weight)
        matrices[resample], rates[resample] = refit.average_matrix, noise_rate(refit)
    return matrices, rates


def interval(resamples: Floats, confidence: float) -> Floats:
    """Lower and upper end; not a number where there are no resamples."""
    if len(resamples) == 0:
        return np.full((2, *resamples.shape[1:]), np.nan)
    return np.quantile(resamples, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)


def chance_log_likelihood(ratings: Ratings) -> float:
    """Of all ratings if every rater drew labels from the rater's own frequencies."""
    _, n_raters, n_classes = ratings.shape
    counts = np.bincount(ratings.raters * n_classes + ratings.labels, minlength=n_raters * n_classes)
    table = counts.reshape(n_raters, n_classes).astype(float)
    share = table / table.sum(axis=1, keepdims=True)
    return float((table * np.log(np.where(table > 0, share, 1.0))).sum())


def pooled_share(n_labels: Ints, n_classes: int, fit: RaterFit, shrinkage: float, pooled: bool) -> Floats:
    """How much of a rater's matrix is the pooled one: its share of the ordinal matrix, times that one's of all."""
    if pooled:
        return np.ones(len(n_labels))
    ordinal = 1.0 if np.isinf(shrinkage) else shrinkage / (shrinkage + n_labels / n_classes)
    return fit.raters.uncertainty * ordinal


def doubts(fit: RaterFit, ratings: Ratings, start_gap: float, classes: NDArray[Any]) -> list[str]:
    """What keeps the matrices from being known, a clause each; none where the ratings suffice."""
    per_item = np.bincount(ratings.items)
    clauses = []
    if per_item.max() == 1:
        clauses.append("not identified: no item has two ratings, so raters cannot be seen to agree or differ")
    elif (per_item >= 3).mean() < 0.1:
        clauses.append(f"only {(per_item >= 3).mean():.0%} of the items have three ratings, which matrices take")
    if start_gap > LARGEST_START_GAP:
        clauses.append(f"two starts disagree by {start_gap:.2f} in an entry of the matrix")
    labels = np.bincount(ratings.items, minlength=len(fit.posterior)) @ fit.posterior
    if labels.min() < FEW_LABELS:
        scarce = classes[int(labels.argmin())]
        clauses.append(f"about {labels.min():.0f} labels fall on true class {scarce}, too few for its row")
    strange = classes[fit.average_matrix.argmax(axis=1) != np.arange(len(classes))].tolist()
    if strange:
        clauses.append(
            f"items of true class {strange} mostly bear another label, so that class may not be the grade meant"
        )
    return clauses
