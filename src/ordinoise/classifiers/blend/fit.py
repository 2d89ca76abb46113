"""The fit of the front door: trust, estimate, correct, answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ordinoise._validation import Ints
from ordinoise.classifiers._progress import fit_progress
from ordinoise.classifiers.blend.candidates import CLASS_SHARES, SharesCandidate
from ordinoise.classifiers.blend.coding import TableCoding
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.evidence import (
    Evidence,
    Trusting,
    course,
    gains_of_correction,
    gains_over_shares,
    rated_answer,
    with_first_answer,
)
from ordinoise.classifiers.blend.fitted import FittedBlend
from ordinoise.classifiers.blend.items import Consensus, Items
from ordinoise.classifiers.blend.mixture import Blend, fitted_blend
from ordinoise.classifiers.blend.plan import BlendPlan
from ordinoise.classifiers.blend.scored import candidates
from ordinoise.classifiers.blend.table import Table
from ordinoise.estimation.base import warn_of_doubts
from ordinoise.estimation.resolution import needs_data, resolve_noise
from ordinoise.estimation.score.estimator import noise_from_probabilities
from ordinoise.labels import Verified
from ordinoise.noise import Noise


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The rows that a blend learns from, all with positive weight.

    Attributes
    ----------
    coding : TableCoding
        How their table was made.
    rows : Recorded
        With the identity as noise matrix.
    raters : column or None
        Who recorded each label, if that matters.
    verified : Verified or None
    items : Items or None
        If the rows are ratings of items, of which some have several.
    """

    coding: TableCoding
    rows: Recorded
    raters: Any = None
    verified: Verified | None = None
    items: Items | None = None

    def under(self, noise: Noise, index: Ints | None = None) -> Recorded:
        """The rows, recorded under this noise, with the verified ones known."""
        rows = replace(self.rows, matrices=noise.matrices, index=index)
        return rows if self.verified is None else rows.with_trusted(self.verified)


Fit = Callable[..., Blend]
"""Fits a blend to `rows`; optionally from the blend `start`, or to rows that are ratings of the items `item`."""


def fit_blend(data: TrainingData, plan: BlendPlan, rng: np.random.Generator) -> FittedBlend:
    """The blend that the evidence prefers, or that was asked for."""
    if data.items is not None:
        return _blend_of_ratings(data, data.items, plan, rng)
    folds, noise_seed, seed = _drawn(data.rows, plan, rng)
    with _fits(plan, data.rows.table, folds, seed, 2 if plan.estimates else 1) as fit:
        noise, blend, trusting = (_by_estimate if plan.estimates else _by_given)(data, plan, fit, noise_seed)
    if blend is None:
        blend = fitted_blend({CLASS_SHARES: SharesCandidate()}, data.rows, folds, plan, seed=seed)
        trusting = trusting and blend
    recorded_out_of_fold = None if trusting is None else trusting.out_of_fold
    return replace(FittedBlend.of(data.coding, blend, noise, folds), recorded_out_of_fold=recorded_out_of_fold)


def estimated_noise(data: TrainingData, plan: BlendPlan, rng: np.random.Generator) -> Noise:
    """The noise that `fit_blend` would correct for, without the fits that correct for it."""
    if data.items is not None:
        return _consensus(data, data.items, plan, _seeds(rng)[0]).noise
    folds, noise_seed, seed = _drawn(data.rows, plan, rng)
    if not plan.estimates:
        return _given_noise(plan, data.rows, data.raters, noise_seed)[0]
    with _fits(plan, data.rows.table, folds, seed) as fit:
        estimate = _noise_estimate(fit(data.rows), data, plan, noise_seed)
    return with_first_answer(estimate)


def _drawn(rows: Recorded, plan: BlendPlan, rng: np.random.Generator) -> tuple[Ints, int, int]:
    return plan.folds(rows.ranks, rows.groups, rng), *_seeds(rng)


def _seeds(rng: np.random.Generator) -> tuple[int, int]:
    """Of the estimate of the noise, and of the fits."""
    noise_seed, seed = rng.integers(2**31, size=2).tolist()
    return noise_seed, seed


@contextmanager
def _fits(plan: BlendPlan, table: Table, folds: Ints, seed: int, n_blends: int = 1) -> Iterator[Fit]:
    """A function that fits a blend to rows of this table, of the same folds and from the same seed each time."""
    n_fits = len(candidates(plan.learner, table)) * sum(int(drawn.max()) + 1 for drawn in folds)
    with fit_progress(plan.verbose, n_blends * n_fits) as on_fit:

        def fit(rows: Recorded, start: Blend | None = None, item: Ints | None = None) -> Blend:
            drawn, chosen = folds if item is None else folds[:, item], candidates(plan.learner, rows.table)
            return fitted_blend(chosen, rows, drawn, plan, seed=seed, on_fit=on_fit, start=start)

        yield fit


Outcome = tuple[Noise, Blend | None, Blend | None]
"""The noise with its answer, the blend that it calls for, and the blend that trusts the labels if there is one."""


def _by_given(data: TrainingData, plan: BlendPlan, fit: Fit, seed: int) -> Outcome:
    """The blend under noise that is known; none if labels are trusted and nothing is learned."""
    noise, index = _given_noise(plan, data.rows, data.raters, seed)
    blend = fit(data.under(noise, index))
    is_trusted = noise.source == "trusted" and data.verified is None
    return noise, None if is_trusted and not _over_shares(blend, data.rows, plan).has_learned else blend, None


def _by_estimate(data: TrainingData, plan: BlendPlan, fit: Fit, seed: int) -> Outcome:
    """Trust the labels, estimate the noise, correct for it, and answer; no blend if nothing is learned."""
    rows = data.rows
    Noise.of(None, rows.n_classes).index_of(data.raters, len(rows.ranks))  # refuses raters: one matrix for all
    trusting = fit(rows)
    estimate = _noise_estimate(trusting, data, plan, seed)

    def correct(noise: Noise) -> tuple[Blend, Evidence]:
        corrected = fit(data.under(noise), start=trusting)
        return corrected, _by_correction(trusting, corrected, noise, rows)

    first = Trusting(trusting, estimate, _over_shares(trusting, rows, plan))
    noise_and_blend = course(plan.answer, first, correct)
    noise, blend = noise_and_blend
    if blend is trusting and data.verified is not None:
        blend = fit(rows.with_trusted(data.verified))  # what was verified is known, whatever is made of other labels
    return noise, blend, trusting


def _blend_of_ratings(data: TrainingData, items: Items, plan: BlendPlan, rng: np.random.Generator) -> FittedBlend:
    """Compare what the ratings say together with the vote, and answer."""
    noise_seed, seed = _seeds(rng)
    found = _consensus(data, items, plan, noise_seed)
    folds = plan.folds(found.ranks, items.groups, rng)
    joint = items.jointly(found.likelihood, found.ranks), np.arange(len(items.names))
    is_estimated, verified = found.noise.is_estimated, data.verified is not None
    compares = is_estimated and plan.answer == "auto" and data.raters is not None and not verified
    with _fits(plan, joint[0].table, folds, seed, 3 if compares else 1) as fit:

        def fitted(rows: Recorded, item: Ints) -> Blend:
            return items.expanded(fit(rows, item=item), item)

        corrected = fitted(*joint) if compares else None
        gain = None
        if corrected is not None:
            gain = _by_correction(fitted(*items.trusting()), corrected, found.noise, items.rows).gain
        answer, reason = plan.answer, "asked for"
        if answer == "auto":
            answer, reason = rated_answer(found.noise, gain, verified=verified or not is_estimated)
        blend = fitted(*items.voting()) if answer == "trusting" else corrected or fitted(*joint)
    noise = replace(found.noise, answer=answer, reason=reason)
    return FittedBlend.of(data.coding, blend, noise, folds[:, items.numbers])


def _consensus(data: TrainingData, items: Items, plan: BlendPlan, seed: int) -> Consensus:
    """What the ratings alone say about the items, by raters that are estimated or known."""
    from ordinoise.estimation.raters.estimator import RepeatedLabels  # here: a prediction needs none of it

    asked = plan.noise
    if isinstance(asked, str) or (isinstance(asked, RepeatedLabels) and needs_data(asked)):
        estimator = RepeatedLabels() if isinstance(asked, str) else clone(asked)
        estimator.set_params(classes=np.arange(items.rows.n_classes), random_state=seed)
        return items.by_raters(estimator, data.raters, data.verified)
    return items.by_matrices(*_given_noise(plan, items.rows, data.raters, seed), data.verified)


def _given_noise(plan: BlendPlan, rows: Recorded, raters: Any, seed: int) -> tuple[Noise, Ints | None]:
    """Noise that is known, or that an estimator finds without a blend."""
    return resolve_noise(plan.noise, rows.table.columns, rows.ranks, rows.n_classes, raters, seed, groups=rows.groups)


def _noise_estimate(trusting: Blend, data: TrainingData, plan: BlendPlan, seed: int) -> Noise:
    """The noise under which the out-of-fold predictions of a blend that trusts the labels explain them best."""
    recorded, trusted = data.rows, data.verified
    rows = np.arange(len(recorded.ranks))
    if trusted is not None:  # rows that were graded by their verification alone say nothing about the records
        rows = np.setdiff1d(rows, trusted.rows[~trusted.is_recorded])
        trusted = trusted.among(rows)
    found = noise_from_probabilities(
        trusting.out_of_fold[rows], recorded.ranks[rows], recorded.weights[rows],
        features=(lambda some: recorded.table.rows(rows[some]).dense) if recorded.table.features.shape[1] else None,
        trusted=trusted, prior_rate=plan.prior_rate,
        random_state=seed, groups=None if recorded.groups is None else recorded.groups[rows],
    )  # fmt: skip
    warn_of_doubts(found)
    return found


def _over_shares(blend: Blend, rows: Recorded, plan: BlendPlan) -> Evidence:
    """What the held-out rows gain over the class shares."""
    shares = np.bincount(rows.ranks, rows.weights, minlength=rows.n_classes) / rows.weights.sum()
    gains = gains_over_shares(blend.out_of_fold, rows.ranks, shares, plan.decision)
    return Evidence.of(*gains, weights=rows.weights, groups=rows.groups)


def _by_correction(trusting: Blend, corrected: Blend, noise: Noise, rows: Recorded) -> Evidence:
    """What the held-out rows gain by the correction."""
    gains = gains_of_correction(trusting.out_of_fold, corrected.out_of_fold, noise.matrix, rows.ranks)
    return Evidence.of(gains, weights=rows.weights, groups=rows.groups)
