"""Whatever is passed to a public function: an answer without NaN, or one sentence of ours; never a changed argument."""

from __future__ import annotations

import importlib
import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from ordinoise.noise import adjacent, inverse_decay
from ordinoise.scoring.metrics import METRICS

MODULES = ("noise", "levels", "scoring", "audit", "datasets")
# Arithmetic for arrays that others have checked, or what reads files: those have tests of their own.
TRUSTING = {"decide", "entry_levels", "calibrated", "deconvolved", "posterior", "wrong_count", "scorer", "evaluate"}
TRUSTING |= {"similar_rows"}
READING = {"abalone", "boston", "california", "computer", "lidc", "load", "mslr", "ordinal_benchmark", "web_search"}
FITTING = {"find_label_issues", "column_contributions"}
# An interval without end, where the matrix has no inverse to speak of, is an answer.
UNBOUNDED = {
    "low", "high", "standard_error", "value", "m", "condition_number", "lipschitz_cross_entropy", "lipschitz_hinge", "dominance_limit",
    "invertibility_limit",
}  # fmt: skip
# Numbers and classes that only our own functions pass, and have checked.
OWN = {
    ("as_decision", "n_classes"),
    ("noise_matrix", "n_classes"),
}
OWN |= {("ranks_of", "classes"), ("trusted_ranks", "classes"), ("trusted_ranks", "n_samples")}
# The logarithm of a probability of nothing; what a matrix without an inverse costs.
INFINITE = {"log_class_probabilities", "steepness", "noisy_labels_per_clean_label", "excess_risk_bound"}
# Kendall's tau has no corrected value, and a metric of one class only may have none.
UNDEFINED = {
    "as_column",
    "ordered_classes",
    "find_label_issues",  # nobody knows the chance that a label is wrong before rows are verified
    "issues_from_probabilities",
    "kendall_tau",
    "evaluate_probabilities",
    "linear_weighted_kappa",
    "quadratic_weighted_kappa",
    "noise_corrected",
}

SENTENCE = re.compile(r".+ must .+, got .+")
K, N = 4, 12
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, K, size=N)
LABELS[:K] = range(K)
TABLE = RNG.dirichlet(np.ones(K), size=N)
MATRIX = adjacent(K, up=0.2, down=0.05)
GOOD: dict[str, list[Any]] = {
    "noise_matrix": [MATRIX, inverse_decay(K, 0.1).tolist(), np.eye(K)],
    "matrix": [MATRIX, MATRIX.T],
    "noise": [MATRIX],
    "n_classes": [K, 2, 7],
    "n_samples": [N, 1000],
    "n_bins": [10, 1],
    "n_per_class": [1, 20],
    "rate": [0.1, 0.0, [0.1, 0.2, 0.05, 0.1]],
    "up": [0.2],
    "down": [0.05],
    "power": [1.0, 0.0, 3.0],
    "factor": [0.5],
    "largest_m": [6.0],
    "class_frequencies": [None, [0.1, 0.2, 0.3, 0.4]],
    "logits": [np.sort(RNG.normal(size=(N, K - 1)))[:, ::-1], RNG.normal(size=(N, K - 1))],
    "labels": [LABELS, None],
    "y_true": [LABELS],
    "y_pred": [RNG.integers(0, K, size=N)],
    "y": [LABELS, list("abca")],
    "noisy_labels": [LABELS],
    "recorded": [LABELS],
    "probabilities": [TABLE],
    "y_proba": [TABLE],
    "values": [TABLE],
    "sample_weight": [None, np.ones(N), RNG.random(N)],
    "raters": [None],
    "replicates": [None, np.stack([MATRIX] * 3)],
    "confidence": [0.9, 0.95, 1.0],
    "metric": list(METRICS),
    "metrics": [None, ["mean_absolute_error"]],
    "weights": ["linear", "quadratic"],
    "loss": ["cross_entropy", "hinge"],
    "constant": ["tight", "paper"],
    "complexity": [1.0, 0.0],
    "delta": [0.05, 1.0],
    "score_bound": [1.0],
    "excess_risk": [0.1, 5.0],
    "decision": ["median", "mode", "mean", np.abs(np.subtract.outer(range(K), range(K)))],
    "classes": [np.arange(K)],
    "trusted": [([0, 3], [1, 2])],
    "recorded_probabilities": [None, np.full((N, K), 1 / K)],
    "random_state": [None, 0, np.random.default_rng(1)],
    "argument": ["y"],
    "of": ["true", "recorded"],
    "calibrate": [True, False],
    "rank_by": ["expected_distance", "probability_wrong"],
    "target": [RNG.normal(size=30), np.arange(30)],
    "strategy": ["equal_frequency", "equal_width", "edges"],
    "edges": [None, [-0.5, 0.5]],
    "quantity": ["x"],
    "name": ["abalone", "diabetes"],
    "calibration": [],
    "positions": [RNG.normal(size=6), [0.0, 1.0]],
    "cuts": [[-1.0, 0.3, 1.1], np.array([0.0])],
    "spread": [0.5, 0.0],
    "width": [0.2, 1.0],
    "is_inside": [np.array([True, False, True])],
    "inside": [MATRIX, np.eye(K)],
    "outside": [None, MATRIX],
    "judge": [LABELS, RNG.random(N)],
    "human": [[0, None, 1, None, 2, 3, 1, None, None, 2, 0, None], [LABELS, LABELS[::-1]]],
    "systems": [None, list("ab" * 6)],
    "items": [None, list("aabbccddeeff"), np.arange(N)],
    "judge_classes": [None, range(K)],
    "n_next": [20, 0, 3],
    "sizes": [100, [40, 60]],
    "checked": [20, [10, 15]],
    "wrong": [2, [1, 0], 0],
    "undecided": [0, 3, [1, 2]],
    "probability_wrong": [RNG.random(N), np.zeros(N)],
    "n_checks": [5, 1, 50],
    "groups": [None, list("aabbccddeeff"), np.arange(N)],
    "graders": [list("ab" * 6), np.arange(N) % 3],
    "features": [RNG.normal(size=(N, 2))],
    "model": [LogisticRegression()],
    "X": [RNG.normal(size=(N, 2))],
    "cv": [2, 3],
    "n_jobs": [None, 1],
    "noise_by": [None, list("ab" * 6)],
    "contrast": [None, np.arange(N) % 2 == 0],
    "assurance": [None, 0.9],
    "by_grade": [False, True],
}
WEIRD: list[Any] = [
    None, True, "", "text", b"bytes", -1, 0, 1, 2.5, 10**30, math.nan, math.inf, -math.inf, [], [[]], [None], [math.nan], ["a", "b"],
    {}, {"a": 1}, object(), (1, 2), [[1, 2], [3]], np.array(0.3), np.empty((0, 4)), np.full((4, 4), np.nan), np.full((4, 4), 0.25),
    np.eye(3), np.eye(4)[::-1], -np.eye(4), np.ones((2, 2, 2)), np.zeros(12), np.arange(12) - 5, np.array([1, "x", None], dtype=object),
    np.array(["2020-01-01"], dtype="datetime64[D]"), 1j, np.zeros((12, 4)), np.full(12, 1e308), range(4), lambda: 0,
]  # fmt: skip


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in MODULES:
        module = importlib.import_module(f"ordinoise.{name}")
        for public in module.__all__:
            function = getattr(module, public)
            if inspect.isfunction(function) and public not in TRUSTING | READING | FITTING:
                yield f"{name}.{public}", function


FUNCTIONS = dict(_functions())


@st.composite
def _arguments(draw: st.DrawFn, function: Callable[..., Any]) -> dict[str, Any]:
    """Mostly good values with some weird ones among them; optional ones are often left out."""
    chosen = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not inspect.Parameter.empty and draw(st.booleans()):
            continue
        if name == "calibration":
            from ordinoise.scoring.sets import calibrate_sets

            pool = [calibrate_sets(TABLE, LABELS, MATRIX)]
        else:
            is_good = name == "argument" or (function.__name__, name) in OWN or draw(st.integers(0, 3))
            pool = GOOD[name] if is_good else WEIRD
        chosen[name] = draw(st.sampled_from(pool))
    return chosen


def _numbers(answer: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every number in an answer, with the name of the field that it stands in."""
    if is_dataclass(answer) and not isinstance(answer, type):
        for field in fields(answer):
            yield from _numbers(getattr(answer, field.name), field.name)
    elif isinstance(answer, dict):
        for key, value in answer.items():
            yield from _numbers(value, name or str(key))
    elif isinstance(answer, (tuple, list)):
        for value in answer:
            yield from _numbers(value, name)
    elif isinstance(answer, (float, np.ndarray, np.floating)) and np.asarray(answer).dtype.kind == "f":
        yield name, np.asarray(answer)


def test_every_parameter_of_every_public_function_is_known_here() -> None:
    unknown = {
        f"{name}({parameter})"
        for name, function in FUNCTIONS.items()
        for parameter in inspect.signature(function).parameters
        if parameter not in GOOD
    }
    assert not unknown
    assert len(FUNCTIONS) > 35


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_argument_gives_an_answer_or_one_sentence_of_ours(name: str) -> None:
    function = FUNCTIONS[name]

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
    @given(_arguments(function))
    def check(arguments: dict[str, Any]) -> None:
        before = {key: _frozen(value) for key, value in arguments.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            answer, complaint = _answer(function, arguments)
        assert complaint is None or SENTENCE.fullmatch(complaint), complaint
        for field, numbers in _numbers(answer):
            assert function.__name__ in UNDEFINED or not np.isnan(numbers).any(), (field, answer)
            unbounded = field in UNBOUNDED or function.__name__ in INFINITE
            assert unbounded or not np.isinf(numbers).any(), (field, answer)
        assert {key: _frozen(value) for key, value in arguments.items()} == before

    check()


def _answer(function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[Any, str | None]:
    try:
        return function(**arguments), None
    except ValueError as error:
        return None, str(error)


def _frozen(value: Any) -> Any:
    """What tells whether a value was changed."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes() if value.dtype != object else repr(value)
    if isinstance(value, np.random.Generator):
        return None  # to draw from it is what it is for
    return repr(value)
