"""A blend: every candidate fitted without each fold in turn, weighed by what it says of the rows it did not see."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from ordinoise._validation import Floats, Ints, as_count
from ordinoise.classifiers.blend.members import Candidate, Fitted, Model, Recorded
from ordinoise.classifiers.blend.table import Table

FLOOR = 1e-12
PSEUDO_COUNT = 3.0
"""Rows that speak for each candidate beforehand: with few rows the weights stay near equal."""
LEAST_SHARE = 0.05
"""A candidate of less weight is left out of the blend that was chosen automatically."""


@dataclass(frozen=True, eq=False)
class Blend:
    """Fitted candidates, their weights, and what they said out of fold.

    Attributes
    ----------
    models : mapping of str to tuple
        Models of each candidate, one a fold; their average is the candidate's prediction.
    weights : mapping of str to float
        Share of each candidate.
    log_likelihoods : mapping of str to float
        Mean log-likelihood of the recorded labels, out of fold, of every candidate and of the blend.
    out_of_fold : array of shape (n_samples, n_classes)
        Probabilities of the true label by models that did not see the row.
    curves : mapping of str to tuple
        Loss of the rows left out after each epoch or round, for every model; empty where nothing was stopped by it.
    """

    models: Mapping[str, tuple[Model, ...]]
    weights: Mapping[str, float]
    log_likelihoods: Mapping[str, float]
    out_of_fold: Floats
    curves: Mapping[str, tuple[Sequence[float], ...]]

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        return average(self.models, self.weights, table)


def average(models: Mapping[str, tuple[Model, ...]], weights: Mapping[str, float], table: Table) -> Floats:
    """The weighted average over candidates of the plain average over their models."""
    parts = [
        weights[name] / len(some) * model.probabilities(table)
        for name, some in models.items()
        if weights[name] > 0
        for model in some
    ]
    total = np.sum(parts, axis=0)
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def fitted_blend(
    candidates: Mapping[str, Candidate],
    data: Recorded,
    folds: Ints,
    *,
    seed: int,
    n_jobs: int | None,
    drop: bool,
    on_fit: Callable[[], None] = lambda: None,
) -> Blend:
    """Fit every candidate without each fold, and weigh the candidates by the likelihood of the rows left out.

    Parameters
    ----------
    folds : array of shape (n_rounds, n_samples)
        Fold of every row, as often as the folds were drawn.
    drop : bool
        Whether candidates of hardly any weight are left out.
    on_fit : callable
        Called after every fit, to show progress.
    """
    models, out_of_fold, curves = _fitted(candidates, data, folds, seed, n_jobs, on_fit)
    evidence = {name: (table * data.likelihood).sum(axis=1) for name, table in out_of_fold.items()}
    weights = blend_weights(evidence, data.weights, drop=drop)
    together = np.sum([weights[name] * table for name, table in out_of_fold.items()], axis=0)
    evidence["blend"] = (together * data.likelihood).sum(axis=1)
    log_likelihoods = {
        name: float(np.average(np.log(np.maximum(chance, FLOOR)), weights=data.weights))
        for name, chance in evidence.items()
    }
    return Blend(models, weights, log_likelihoods, together, curves)


def blend_weights(evidence: Mapping[str, Floats], sample_weight: Floats, *, drop: bool) -> dict[str, float]:
    """Shares under which the mixture of candidates gives the records the greatest likelihood.

    `evidence` holds the probability that each candidate gives each record.
    """
    chances = np.maximum(np.stack(list(evidence.values()), axis=1), FLOOR)
    rows = sample_weight * len(sample_weight) / sample_weight.sum()

    def lack(free: Floats) -> tuple[float, Floats]:
        shares = softmax(free)
        mixture = chances @ shares
        counts = rows @ (chances * shares / mixture[:, None]) + PSEUDO_COUNT
        value = -rows @ np.log(mixture) - PSEUDO_COUNT * np.log(shares).sum()
        return float(value), counts.sum() * shares - counts

    shares = softmax(minimize(lack, np.zeros(len(evidence)), jac=True, method="BFGS").x)
    if drop:
        shares = np.where(shares < LEAST_SHARE, 0.0, shares)
    return dict(zip(evidence, (shares / shares.sum()).tolist(), strict=True))


def _fitted(
    candidates: Mapping[str, Candidate],
    data: Recorded,
    folds: Ints,
    seed: int,
    n_jobs: int | None,
    on_fit: Callable[[], None],
) -> tuple[dict[str, tuple[Model, ...]], dict[str, Floats], dict[str, tuple[Sequence[float], ...]]]:
    """Models of every candidate, its out-of-fold probabilities, averaged over the rounds, and its curves."""
    tasks = [(name, drawn, fold) for name in candidates for drawn in folds for fold in range(int(drawn.max()) + 1)]
    seeds = np.random.default_rng(seed).integers(2**31, size=len(tasks)).tolist()
    out_of_fold = {name: np.zeros((len(data.ranks), data.n_classes)) for name in candidates}
    _ = data.table.dense  # made once, before threads ask for it

    def fit(task: tuple[str, Ints, int], task_seed: int) -> tuple[Fitted, Ints, Floats]:
        name, drawn, fold = task
        held_out = np.flatnonzero(drawn == fold)
        fitted = candidates[name].fitted(data, np.flatnonzero(drawn != fold), held_out, task_seed)
        return fitted, held_out, fitted.model.probabilities(data.table.rows(held_out))

    workers = min(len(tasks), os.cpu_count() or 1) if n_jobs is None else as_count("n_jobs", n_jobs, 1)
    models: dict[str, tuple[Model, ...]] = dict.fromkeys(candidates, ())
    curves: dict[str, tuple[Sequence[float], ...]] = dict.fromkeys(candidates, ())
    with ThreadPoolExecutor(workers) as pool:
        for (name, _, _), (fitted, held_out, found) in zip(tasks, pool.map(fit, tasks, seeds), strict=True):
            models[name] = (*models[name], fitted.model)
            curves[name] = (*curves[name], fitted.curve)
            out_of_fold[name][held_out] += found / len(folds)
            on_fit()
    return models, out_of_fold, curves
