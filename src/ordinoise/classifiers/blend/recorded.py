"""The fit of the front door to one label per row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ordinoise._validation import Ints
from ordinoise.classifiers._progress import fit_progress
from ordinoise.classifiers.blend.candidates import CLASS_SHARES, SharesCandidate
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.evidence import (
    ENOUGH_VERIFIED,
    NOTHING_LEARNED,
    Evidence,
    choose,
    gains_of_correction,
    gains_over_shares,
)
from ordinoise.classifiers.blend.mixture import Blend, fitted_blend
from ordinoise.estimation.base import warn_of_doubts
from ordinoise.estimation.score.estimator import noise_from_probabilities
from ordinoise.labels import Verified
from ordinoise.noise import Noise

if TYPE_CHECKING:
    from ordinoise.classifiers.ordinal import OrdinalClassifier


def recorded_blend(
    model: OrdinalClassifier, plain: Recorded, raters: Any, trusted: Verified | None, rng: np.random.Generator
) -> Blend:
    """The blend that the answer calls for, of the folds `folds_`; sets `noise_`."""
    noise_seed, seed = (int(each) for each in rng.integers(2**31, size=2))
    assert model.folds_ is not None
    folds, estimates = model.folds_, model._estimates()
    with fit_progress(model.verbose, (2 if estimates else 1) * model._n_fits(folds, plain)) as on_fit:
        if estimates:
            Noise.of(None, plain.n_classes).index_of(raters, len(plain.ranks))  # refuses raters: one matrix for all
            trusting = model._fitted_blend(plain, folds, seed, on_fit)
            found = noise_estimate(model, trusting, plain, trusted, noise_seed)
            return _chosen_blend(model, found, trusting, plain, trusted, seed, on_fit)
        model.noise_, index = model._resolved_noise(plain, raters, noise_seed)
        blend = model._fitted_blend(_under(model.noise_, plain, index, trusted), folds, seed, on_fit)
    is_trusted = model.noise_.source == "trusted" and trusted is None
    if is_trusted and not shares_evidence(blend, plain, model.decision).has_learned:
        return _class_shares(plain, folds, seed)
    return blend


def noise_estimate(
    model: OrdinalClassifier, trusting: Blend, plain: Recorded, trusted: Verified | None, seed: int
) -> Noise:
    """The noise under which the out-of-fold predictions of a blend that trusts the labels explain them best."""
    rows = np.arange(len(plain.ranks))
    if trusted is not None:  # rows that were graded by their verification alone say nothing about the records
        rows = np.setdiff1d(rows, trusted.rows[~trusted.is_recorded])
        trusted = trusted.among(rows)
    found = noise_from_probabilities(
        trusting.out_of_fold[rows], plain.ranks[rows], plain.weights[rows],
        features=(lambda some: plain.table.rows(rows[some]).dense) if plain.table.features.shape[1] else None,
        trusted=trusted, prior_rate=model.prior_rate,
        random_state=seed, groups=None if plain.groups is None else plain.groups[rows],
    )  # fmt: skip
    warn_of_doubts(found)
    return found


def _chosen_blend(
    model: OrdinalClassifier,
    found: Noise,
    trusting: Blend,
    plain: Recorded,
    trusted: Verified | None,
    seed: int,
    on_fit: Callable[[], None],
) -> Blend:
    """The blend that the evidence prefers, or that was asked for; sets `noise_`."""
    corrected: list[Blend] = []
    verified = trusted is not None and len(trusted.rows) >= ENOUGH_VERIFIED
    assert model.folds_ is not None
    folds = model.folds_

    def correct() -> Evidence:
        under = _under(found, plain, None, trusted)
        corrected.append(model._fitted_blend(under, folds, seed, on_fit, start=trusting))
        return correction_evidence(trusting, corrected[0], found, plain)

    evidence = shares_evidence(trusting, plain, model.decision)
    model.noise_ = choose(model.answer, found, evidence, correct, verified=verified)
    if model.noise_.reason == NOTHING_LEARNED:
        return _class_shares(plain, folds, seed)
    if corrected and model.noise_.answer != "trusting":
        return corrected[0]
    # What was verified is known, whatever is made of the other labels.
    return trusting if trusted is None else model._fitted_blend(plain.with_trusted(trusted), folds, seed, on_fit)


def shares_evidence(trusting: Blend, data: Recorded, decision: Any) -> Evidence:
    """What the held-out rows gain over the class shares."""
    shares = np.bincount(data.ranks, data.weights, minlength=data.n_classes) / data.weights.sum()
    gains = gains_over_shares(trusting.out_of_fold, data.ranks, shares, decision)
    return Evidence.of(*gains, weights=data.weights, groups=data.groups)


def correction_evidence(trusting: Blend, corrected: Blend, noise: Noise, data: Recorded) -> Evidence:
    """What the held-out rows gain by the correction."""
    gains = gains_of_correction(trusting.out_of_fold, corrected.out_of_fold, noise.matrix, data.ranks)
    return Evidence.of(gains, weights=data.weights, groups=data.groups)


def _class_shares(data: Recorded, folds: Ints, seed: int) -> Blend:
    return fitted_blend({CLASS_SHARES: SharesCandidate()}, data, folds, seed=seed, n_jobs=1, drop=False)


def _under(noise: Noise, plain: Recorded, index: Ints | None, trusted: Verified | None) -> Recorded:
    """The same rows, recorded under this noise, with the verified ones known."""
    data = replace(plain, matrices=noise.matrices, index=index)
    return data if trusted is None else data.with_trusted(trusted)
