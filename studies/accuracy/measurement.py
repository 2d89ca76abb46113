"""The measurement of one contest: fit on noisy labels, score on clean ones."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ordinoise._validation import Floats, Ints, as_choice, as_count
from ordinoise.datasets import synthetic
from ordinoise.decisions import decide
from ordinoise.noise import corrupt
from ordinoise.scoring.metrics import (
    mean_absolute_error,
    quadratic_weighted_kappa,
    ranked_probability_score,
    zero_one_loss,
)
from studies.accuracy.contestants import CONTESTANTS, OWN, Contestant
from studies.accuracy.contests import Contest
from studies.accuracy.problems import Problem, noise_matrix_for, problem_of

WARM_UP_ROWS = 50
"""Rows per grade of the warm-up fit: a round number, chosen by no run."""


def run(contest: Contest, data_dir: str | None = None, package: str = "") -> Mapping[str, Any]:
    """Scores of one contestant on the clean test labels of one problem.

    Parameters
    ----------
    contest : Contest
    data_dir : str, optional
        The folder of the data; by default the environment variable ORDINOISE_DATA.
    package : str
        The state of this package, see `studies.sources.package_state`.

    Returns
    -------
    mapping
        ``fit_seconds`` (processor time without imports and compilation), ``n_training_rows``, ``share_wrong``,
        ``ranked_probability_score`` if the contestant has probabilities, and in ``decisions``, for each decision rule,
        ``mean_absolute_error``, ``zero_one_loss`` and ``quadratic_weighted_kappa``.
    """
    contestant = CONTESTANTS[as_choice("contestant", contest.contestant, CONTESTANTS)]
    problem = problem_of(contest, data_dir)
    with _one_quiet_thread():
        _warm_up(contestant.name)
        model, grades, seconds = _fitted(contestant, problem)
        scores = _scores(contestant, model, grades, problem)
    return {
        "fit_seconds": seconds,
        "n_training_rows": len(problem.labels),
        "share_wrong": problem.share_wrong,
        **scores,
        **({"package": package} if contestant.is_ours else {}),
    }


def processes(n_workers: int = 1) -> ProcessPoolExecutor:
    """An executor of `n_workers` processes, so that the processor time of each contest can be measured."""
    return ProcessPoolExecutor(as_count("n_workers", n_workers, 1), mp_context=get_context("spawn"))


def _fitted(contestant: Contestant, problem: Problem) -> tuple[Any, Ints, float]:
    """The fitted learner, the grade of each of its classes, and the processor seconds of the fit."""
    grades, codes = np.arange(problem.n_classes), problem.labels
    if not contestant.is_ours:
        # A grade may have no training row, and many learners need consecutive classes.
        grades, codes = np.unique(problem.labels, return_inverse=True)
    model = contestant.make(replace(problem, labels=codes, n_classes=len(grades)))
    started = time.process_time()
    model.fit(problem.features, codes)
    return model, grades, time.process_time() - started


def _scores(contestant: Contestant, model: Any, grades: Ints, problem: Problem) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    probabilities = None
    if hasattr(model, "predict_proba"):
        probabilities = _all_columns(model.predict_proba(problem.test_features), grades, problem.n_classes)
        scores["ranked_probability_score"] = ranked_probability_score(problem.test_labels, probabilities)
    scores["decisions"] = {}
    for decision in contestant.decisions:
        if decision == OWN:
            predicted = grades[np.asarray(model.predict(problem.test_features), dtype=np.int64)]
        else:
            assert probabilities is not None
            predicted = decide(probabilities, decision)
        scores["decisions"][decision] = _errors(problem, predicted)
    return scores


def _errors(problem: Problem, predicted: Ints) -> dict[str, float]:
    grades = np.arange(problem.n_classes).tolist()
    return {
        "mean_absolute_error": mean_absolute_error(problem.test_labels, predicted, classes=grades),
        "zero_one_loss": zero_one_loss(problem.test_labels, predicted, classes=grades),
        "quadratic_weighted_kappa": quadratic_weighted_kappa(problem.test_labels, predicted, classes=grades),
    }


def _all_columns(probabilities: NDArray[Any], grades: Ints, n_classes: int) -> Floats:
    """Probabilities with one column per grade, rows normalized to sum to one."""
    complete = np.zeros((len(probabilities), n_classes))
    complete[:, grades] = np.clip(probabilities, 0, None)
    return complete / complete.sum(axis=1, keepdims=True)


@contextmanager
def _one_quiet_thread() -> Iterator[None]:
    """Limit numerical libraries to one thread, so that times are comparable, and ignore warnings of learners."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@cache
def _warm_up(name: str) -> None:
    """Fit once to a small set, so that imports and compilation are not part of the measured time."""
    data = synthetic(WARM_UP_ROWS, random_state=0)
    matrix = noise_matrix_for("uniform", data.n_classes)
    labels = corrupt(data.labels, matrix, np.random.default_rng(0))
    problem = Problem(data.features, labels, data.features, data.labels, data.n_classes, matrix, 0.0, seed=0)
    _fitted(CONTESTANTS[name], problem)
