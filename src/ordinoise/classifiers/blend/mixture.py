"""A blend: every candidate fitted on all folds but one in turn, weighted by its likelihood on the held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from ordinoise._validation import Floats, Ints
from ordinoise._warning import for_caller
from ordinoise.classifiers.blend.members import Candidate, Fitted, Model, Recorded
from ordinoise.classifiers.blend.table import Table
from ordinoise.crossfit import n_workers

FLOOR = 1e-12  # a record of predicted probability 0 then costs 28 in log-likelihood instead of infinity
PSEUDO_COUNT = 3.0
"""Prior rows in favor of each candidate: with few rows the weights stay near equal (decision 0011)."""
LEAST_SHARE = 0.05
"""``learner="auto"`` drops candidates with less weight. A round number, chosen by no run."""


@dataclass(frozen=True, eq=False)
class Blend:
    """Fitted candidates, their weights and their out-of-fold predictions.

    Attributes
    ----------
    models : mapping of str to tuple
        Models of each candidate, one per fold; their average is the candidate's prediction.
    weights : mapping of str to float
        Weight of each candidate; they sum to one.
    log_likelihoods : mapping of str to float
        Mean out-of-fold log-likelihood of the recorded labels, of every candidate and of the blend.
    out_of_fold : array of shape (n_samples, n_classes)
        Probabilities of the true label by models that did not see the row.
    curves : mapping of str to tuple
        Loss of the held-out rows after each epoch or round, for every model; empty if it was not stopped by it.
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
    """Fit every candidate on all folds but one, and weight the candidates by the likelihood of the held-out rows.

    Parameters
    ----------
    folds : array of shape (n_rounds, n_samples)
        Fold of every row, one line per draw of the folds.
    drop : bool
        Whether to drop candidates with a weight below `LEAST_SHARE`.
    on_fit : callable
        Called after every fit, to show progress.
    """
    models, out_of_fold, curves = _fit_candidates(candidates, data, folds, seed, n_jobs, on_fit)
    evidence = {name: (table * data.likelihood).sum(axis=1) for name, table in out_of_fold.items()}
    weights = blend_weights(evidence, data.weights, drop=drop)
    together = np.sum([weights[name] * table for name, table in out_of_fold.items()], axis=0)
    evidence["blend"] = (together * data.likelihood).sum(axis=1)
    log_likelihoods = {
        name: float(np.average(np.log(np.maximum(likelihood, FLOOR)), weights=data.weights))
        for name, likelihood in evidence.items()
    }
    return Blend(models, weights, log_likelihoods, together, curves)


def blend_weights(evidence: Mapping[str, Floats], sample_weight: Floats, *, drop: bool) -> dict[str, float]:
    """Weights that maximize the likelihood of the records under the mixture of candidates.

    `evidence` holds the probability of each record under each candidate. With sample weights w and s = softmax(free),
    ``sum_i w_i log(evidence_i @ s) + PSEUDO_COUNT sum_c log s_c`` is maximized over `free`.
    """
    likelihoods = np.maximum(np.stack(list(evidence.values()), axis=1), FLOOR)
    rows = sample_weight * len(sample_weight) / sample_weight.sum()

    def loss_and_slope(free: Floats) -> tuple[float, Floats]:
        shares = softmax(free)
        mixture = likelihoods @ shares
        counts = rows @ (likelihoods * shares / mixture[:, None]) + PSEUDO_COUNT
        value = -rows @ np.log(mixture) - PSEUDO_COUNT * np.log(shares).sum()
        return float(value), counts.sum() * shares - counts

    shares = softmax(minimize(loss_and_slope, np.zeros(len(evidence)), jac=True, method="BFGS").x)
    if drop:
        shares = np.where(shares < LEAST_SHARE, 0.0, shares)
    return dict(zip(evidence, (shares / shares.sum()).tolist(), strict=True))


def _fit_candidates(
    candidates: Mapping[str, Candidate],
    data: Recorded,
    folds: Ints,
    seed: int,
    n_jobs: int | None,
    on_fit: Callable[[], None],
) -> tuple[dict[str, tuple[Model, ...]], dict[str, Floats], dict[str, tuple[Sequence[float], ...]]]:
    """Models of every candidate, out-of-fold probabilities averaged over the rounds, and validation curves."""
    tasks = [(name, drawn, fold) for name in candidates for drawn in folds for fold in range(int(drawn.max()) + 1)]
    seeds = np.random.default_rng(seed).integers(2**31, size=len(tasks)).tolist()
    out_of_fold = {name: np.zeros((len(data.ranks), data.n_classes)) for name in candidates}
    _ = data.table.dense  # cached here, before threads read it

    def fit(task: tuple[str, Ints, int], task_seed: int) -> tuple[Fitted, Ints, Floats]:
        name, drawn, fold = task
        held_out = np.flatnonzero(drawn == fold)
        fitted = candidates[name].fit(data, np.flatnonzero(drawn != fold), held_out, task_seed)
        return fitted, held_out, fitted.model.probabilities(data.table.rows(held_out))

    models: dict[str, tuple[Model, ...]] = dict.fromkeys(candidates, ())
    curves: dict[str, tuple[Sequence[float], ...]] = dict.fromkeys(candidates, ())
    with ThreadPoolExecutor(n_workers(n_jobs, len(tasks))) as pool:
        for (name, _, _), (fitted, held_out, found) in zip(tasks, pool.map(for_caller(fit), tasks, seeds), strict=True):
            models[name] = (*models[name], fitted.model)
            curves[name] = (*curves[name], fitted.curve)
            out_of_fold[name][held_out] += found / len(folds)
            on_fit()
    return models, out_of_fold, curves
