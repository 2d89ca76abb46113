"""A blend: every candidate fitted on all folds but one in turn, weighted by its likelihood on the held-out rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from ordinoise._validation import Floats, Ints
from ordinoise._warning import for_caller
from ordinoise.classifiers.blend.candidates import MANY_ROWS, Candidate, Fitted, continued
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.evidence import FLOOR, logs
from ordinoise.classifiers.blend.finished import FinishedFits
from ordinoise.classifiers.blend.models import Model
from ordinoise.classifiers.blend.plan import BlendPlan
from ordinoise.classifiers.blend.table import DENSE_ROWS, Table
from ordinoise.threads import n_workers

LEAST = 1e-300  # a share of zero would have no logarithm
PSEUDO_COUNT = 3.0
"""Prior rows in favor of each candidate: with few rows the weights stay near equal (decision 0011)."""
LEAST_SHARE = 0.05
"""``learner="auto"`` drops candidates with less weight. A round number, chosen by no run."""


FEWEST_FOR_THREADS = 500  # rows: below, models take about as long as threads take to start; a round number


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


def average(
    models: Mapping[str, tuple[Model, ...]], weights: Mapping[str, float], table: Table, n_jobs: int | None = 1
) -> Floats:
    """The weighted average over candidates of the plain average over their models, `n_jobs` of them at a time."""
    parts = [(weights[name] / len(some), model) for name, some in models.items() if weights[name] > 0 for model in some]
    n_threads = 1 if len(table.features) < FEWEST_FOR_THREADS else n_workers(n_jobs, len(parts))
    total = np.zeros(1)
    if len(table.features) <= DENSE_ROWS:
        _ = table.dense  # cached here, before threads read it
    with ThreadPoolExecutor(n_threads) as pool:  # ends with the call: a process forked later inherits no threads
        for one in pool.map(lambda part: part[0] * part[1].probabilities(table), parts):
            total = total + one
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def fitted_blend(
    candidates: Mapping[str, Candidate],
    data: Recorded,
    folds: Ints,
    plan: BlendPlan,
    *,
    seed: int,
    on_fit: Callable[[], None] = lambda: None,
    start: Blend | None = None,
) -> Blend:
    """Fit every candidate on all folds but one, and weight the candidates by the likelihood of the held-out rows.

    Parameters
    ----------
    folds : array of shape (n_rounds, n_samples)
        Fold of every row, one line per draw of the folds.
    plan : BlendPlan
        If it drops candidates: those with a weight below `LEAST_SHARE`, at once those without weight in `start`, or
        without it in a large table after the first fold.
    on_fit : callable
        Called after every fit, to show progress.
    start : Blend, optional
        A blend of the same folds and candidates whose networks are where training begins, if there are enough rows.
    """
    drop, start = plan.drops, start if len(data.ranks) >= plan.continues_from else None
    work = _Work(candidates, data, folds, seed, plan, on_fit, start)
    kept = [name for name in candidates if start is None or not drop or start.weights[name] > 0]
    # Of many rows the trees take so long, and the networks so short, that a race would leave processors without work.
    if drop and start is None and plan.races_from <= len(data.ranks) <= MANY_ROWS:
        kept = work.race(kept)
    work.fit([task for task in work.tasks if task.name in kept])
    models, out_of_fold, curves = work.models, {name: work.out_of_fold[name] for name in kept}, work.curves
    evidence = {name: (table * data.likelihood).sum(axis=1) for name, table in out_of_fold.items()}
    weights = blend_weights(evidence, data.weights, drop=drop)
    together = np.sum([weights[name] * table for name, table in out_of_fold.items()], axis=0)
    evidence["blend"] = (together * data.likelihood).sum(axis=1)
    log_likelihoods = {
        name: float(np.average(logs(likelihood), weights=data.weights)) for name, likelihood in evidence.items()
    }
    return Blend(models, {**dict.fromkeys(candidates, 0.0), **weights}, log_likelihoods, together, curves)


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
        # A long step of the search may take a share to zero.
        value = -rows @ np.log(mixture) - PSEUDO_COUNT * np.log(np.maximum(shares, LEAST)).sum()
        return float(value), counts.sum() * shares - counts

    shares = softmax(minimize(loss_and_slope, np.zeros(len(evidence)), jac=True, method="BFGS").x)
    if drop:
        shares = np.where(shares < LEAST_SHARE, 0.0, shares)
    return dict(zip(evidence, (shares / shares.sum()).tolist(), strict=True))


class _Task(NamedTuple):
    """One fit: a candidate without one fold of one draw; `number` counts the models of a candidate."""

    name: str
    number: int
    drawn: Ints
    fold: int
    seed: int


class _Work:
    """The fits of all candidates: models, out-of-fold probabilities averaged over the draws, and validation curves."""

    def __init__(
        self,
        candidates: Mapping[str, Candidate],
        data: Recorded,
        folds: Ints,
        seed: int,
        plan: BlendPlan,
        on_fit: Callable[[], None],
        start: Blend | None,
    ) -> None:
        self._candidates, self._data, self._start, self._plan = candidates, data, start, plan
        self._share, self._on_fit, self._finished = 1 / len(folds), on_fit, None
        if plan.folder is not None:
            before = None if start is None else start.log_likelihoods
            self._finished = FinishedFits.of(plan.folder, candidates, data, folds, seed, before)
        places = [(drawn, fold) for drawn in folds for fold in range(int(drawn.max()) + 1)]
        seeds = iter(np.random.default_rng(seed).integers(2**31, size=len(candidates) * len(places)).tolist())
        self.tasks = [
            _Task(name, number, *place, next(seeds)) for name in candidates for number, place in enumerate(places)
        ]
        self.out_of_fold = {name: np.zeros((len(data.ranks), data.n_classes)) for name in candidates}
        self.models: dict[str, tuple[Model, ...]] = dict.fromkeys(candidates, ())
        self.curves: dict[str, tuple[Sequence[float], ...]] = dict.fromkeys(candidates, ())
        if len(data.ranks) <= MANY_ROWS:  # above, no learner reads all rows of it
            _ = data.table.dense  # cached here, before threads read it

    def race(self, names: Sequence[str]) -> list[str]:
        """Fit the first fold of these candidates; returns those that have weight there."""
        self.fit([task for task in self.tasks if task.number == 0 and task.name in names])
        held_out = np.flatnonzero(self.tasks[0].drawn == self.tasks[0].fold)
        likelihood = self._data.likelihood_of(held_out)
        evidence = {name: (self.out_of_fold[name][held_out] * likelihood).sum(axis=1) for name in names}
        weights = blend_weights(evidence, self._data.weights[held_out], drop=True)
        return [name for name in names if weights[name] > 0]

    def fit(self, tasks: Sequence[_Task]) -> None:
        """Make these fits, unless they are made already."""
        # The last candidates take longest: begun first, none of them is left for one core at the end.
        places = {name: place for place, name in enumerate(self._candidates)}
        tasks = [task for task in tasks if task.number >= len(self.models[task.name])]
        tasks.sort(key=lambda task: -places[task.name])
        with ThreadPoolExecutor(n_workers(self._plan.n_jobs, max(len(tasks), 1))) as pool:
            for task, (fitted, held_out, found) in zip(tasks, pool.map(for_caller(self._fit), tasks), strict=True):
                self.models[task.name] = (*self.models[task.name], fitted.model)
                self.curves[task.name] = (*self.curves[task.name], fitted.curve)
                self.out_of_fold[task.name][held_out] += found * self._share
                self._on_fit()

    def _fit(self, task: _Task) -> tuple[Fitted, Ints, Floats]:
        held_out = np.flatnonzero(task.drawn == task.fold)
        fitted = None if self._finished is None else self._finished.read(task.name, task.number)
        if fitted is None:
            fitted = self._fit_anew(task, held_out)
        found = fitted.held_out
        if found is None:
            found = fitted.model.probabilities(self._data.table.rows(held_out))
        return fitted, held_out, found

    def _fit_anew(self, task: _Task, held_out: Ints) -> Fitted:
        candidate, begun = self._candidates[task.name], time.monotonic()
        before = () if self._start is None else self._start.models[task.name]
        if task.number < len(before):
            candidate = continued(candidate, before[task.number], self._data)
        fitted = candidate.fit(self._data, np.flatnonzero(task.drawn != task.fold), held_out, task.seed)
        is_long = time.monotonic() - begun >= self._plan.kept_seconds and len(task.drawn) >= self._plan.keeps_from
        if self._finished is not None and is_long:
            self._finished.write(task.name, task.number, fitted)
        return fitted
