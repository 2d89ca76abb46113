"""What follows from a fit of raters: noise rate, intervals, likelihood of chance agreement, doubts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.raters.model import RaterFit, Ratings, Settings, Votes, maximize
from ordinoise.noise import Doubt

RESAMPLE_ITERATIONS = 25
"""A refit starts from the fit of all items, so few steps suffice (held by a test)."""
FEW_LABELS = 20
"""With fewer labels of a true class its row has standard errors above .1."""
LARGEST_START_GAP = 0.05
"""Two starts disagree if an entry differs by more. A round number, chosen by no run."""


def noise_rate(fit: RaterFit) -> float:
    """Share of labels that are wrong."""
    return float(1 - fit.class_shares @ np.diag(fit.average_matrix))


def bootstrap(
    votes: Votes,
    settings: Settings,
    fit: RaterFit,
    item_prior: Floats | None,
    n_bootstrap: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Average matrix and noise rate of `n_bootstrap` resamples of the items, each refitted from the result `fit`."""
    n_items, n_classes = fit.posterior.shape
    matrices, rates = np.empty((n_bootstrap, n_classes, n_classes)), np.empty(n_bootstrap)
    quick = Settings(settings.shrinkage, RESAMPLE_ITERATIONS, 10 * settings.tol)
    for resample in range(n_bootstrap):
        weight = np.bincount(rng.integers(n_items, size=n_items), minlength=n_items).astype(float)
        refit = maximize(votes, quick, fit.posterior, fit.raters, item_prior, weight)
        matrices[resample], rates[resample] = refit.average_matrix, noise_rate(refit)
    return matrices, rates


def chance_log_likelihood(ratings: Ratings) -> float:
    """Log-likelihood of all ratings if every rater drew labels from the rater's own frequencies."""
    _, n_raters, n_classes = ratings.shape
    counts = np.bincount(ratings.raters * n_classes + ratings.labels, minlength=n_raters * n_classes)
    table = counts.reshape(n_raters, n_classes).astype(float)
    share = table / table.sum(axis=1, keepdims=True)
    return float((table * np.log(np.where(table > 0, share, 1.0))).sum())


def pooled_share(n_labels: Ints, n_classes: int, fit: RaterFit, shrinkage: float, pooled: bool) -> Floats:
    """Weight of the pooled matrix in each rater's matrix: in the ordinal matrix, times that of the ordinal matrix."""
    if pooled:
        return np.ones(len(n_labels))
    ordinal = 1.0 if np.isinf(shrinkage) else shrinkage / (shrinkage + n_labels / n_classes)
    return fit.raters.uncertainty * ordinal


def doubts(fit: RaterFit, ratings: Ratings, start_gap: float, classes: NDArray[Any]) -> list[Doubt]:
    """Reasons why the ratings do not identify the matrices; empty if they suffice."""
    per_item = np.bincount(ratings.items)
    found: list[Doubt] = []
    if per_item.max() == 1:
        found.append(Doubt("no-repeats", "no item has two ratings, so agreement of raters cannot be observed"))
    elif (per_item >= 3).mean() < 0.1:
        share = f"{(per_item >= 3).mean():.0%}"
        found.append(Doubt("few-triples", f"only {share} of the items have three ratings, which the matrices need"))
    if start_gap > LARGEST_START_GAP:
        found.append(Doubt("starts-disagree", f"two starts disagree by {start_gap:.2f} in an entry of the matrix"))
    labels = np.bincount(ratings.items, minlength=len(fit.posterior)) @ fit.posterior
    if labels.min() < FEW_LABELS:
        scarce = classes[int(labels.argmin())]
        few = f"about {labels.min():.0f} labels fall on true class {scarce}, too few for its row"
        found.append(Doubt("scarce-class", few))
    strange = classes[fit.average_matrix.argmax(axis=1) != np.arange(len(classes))].tolist()
    if strange:
        moved = f"items of true class {strange} mostly have another label, so it may not be the grade meant"
        found.append(Doubt("shifted-class", moved))
    return found
