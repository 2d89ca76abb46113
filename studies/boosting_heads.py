"""Alternative heads for boosting, measured by `studies.boosting` and not part of the library: K-1 scores, in numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.crossfit import split_rows
from ordinoise.levels import corrected_levels

# Floor of probabilities and second derivatives: a round number, chosen by no run.
SMALLEST = 1e-6
# The defaults of `OrdinalBoostingClassifier`.
ROUNDS, PATIENCE, VALIDATION_FRACTION = 3000, 50, 0.125

Slopes = Callable[[Floats, Ints, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Head:
    """Initial scores, class probabilities, and gradient and Hessian given recorded labels and noise matrix."""

    name: str
    first_scores: Callable[[Floats], Floats]
    probabilities: Callable[[Floats], Floats]
    slopes: Slopes


def fitted_probabilities(
    head: Head, X: Any, noisy: Ints, X_test: Any, matrix: Floats, frequencies: Floats, params: dict[str, Any], seed: int
) -> Floats:
    """Class probabilities of the test rows; an eighth of the rows chooses the number of rounds for all rows."""
    training, held_out = split_rows(noisy, np.ones(len(noisy)), VALIDATION_FRACTION, np.random.default_rng(seed))
    assert held_out is not None
    first = head.first_scores(frequencies)
    settings = params | {"num_class": len(first), "metric": "None", "verbosity": -1, "num_threads": 1, "seed": seed}
    settings |= {"deterministic": True, "force_row_wise": True}

    def data(rows: Ints, reference: Any = None) -> Any:
        start = np.tile(first, (len(rows), 1))
        return lightgbm.Dataset(X[rows], noisy[rows], init_score=start, reference=reference)

    def grown(rows: Ints, n_rounds: int, **stopping: Any) -> Any:
        objective = lambda scores, _: head.slopes(scores, noisy[rows], matrix)  # noqa: E731
        return lightgbm.train(settings | {"objective": objective}, data(rows), n_rounds, **stopping)

    def loss(scores: Floats, _: Any) -> tuple[str, float, bool]:
        recorded = (head.probabilities(scores) @ matrix)[np.arange(len(held_out)), noisy[held_out]]
        return "loss", float(-np.log(np.maximum(recorded, SMALLEST)).mean()), False

    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    chosen = grown(training, ROUNDS, valid_sets=[data(held_out, data(training))], feval=loss, callbacks=[stop])
    final = grown(np.arange(len(noisy)), chosen.best_iteration)
    return head.probabilities(first + final.predict(X_test, raw_score=True))


def _sigmoid(scores: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(scores, -50, 50)))


def _tails(probabilities: Floats) -> Floats:
    """Probability of each class or a higher one."""
    return probabilities[..., ::-1].cumsum(axis=-1)[..., ::-1]


def _posterior(probabilities: Floats, recorded: Ints, matrix: Floats) -> Floats:
    joint = np.maximum(probabilities, 1e-12) * matrix[:, recorded].T
    return joint / joint.sum(axis=1, keepdims=True)


def _exceedance_logits(frequencies: Floats) -> Floats:
    above = _tails(frequencies)[1:]
    return np.log(above / (1 - above))


def _cumulative(scores: Floats) -> Floats:
    """Class probabilities as differences of sorted exceedance probabilities."""
    above, column = -np.sort(-_sigmoid(scores), axis=1), np.ones((len(scores), 1))
    return -np.diff(np.hstack([column, above, 0 * column]), axis=1)


def _unbiased_slopes(scores: Floats, recorded: Ints, matrix: Floats) -> tuple[Floats, Floats]:
    above = _sigmoid(scores)
    return above - corrected_levels(matrix)[recorded], np.maximum(above * (1 - above), SMALLEST)


def _cumulative_slopes(scores: Floats, recorded: Ints, matrix: Floats) -> tuple[Floats, Floats]:
    above, posterior = _sigmoid(scores), _posterior(_cumulative(scores), recorded, matrix)
    return above - _tails(posterior)[:, 1:], np.maximum(above * (1 - above), SMALLEST)


def _sequential(scores: Floats) -> Floats:
    """Class probabilities where score j is the logit of P(y > j | y >= j)."""
    beyond, column = _sigmoid(scores), np.ones((len(scores), 1))
    return np.cumprod(np.hstack([column, beyond]), axis=1) * np.hstack([1 - beyond, column])


def _sequential_slopes(scores: Floats, recorded: Ints, matrix: Floats) -> tuple[Floats, Floats]:
    beyond, reached = _sigmoid(scores), _tails(_posterior(_sequential(scores), recorded, matrix))
    return beyond * reached[:, :-1] - reached[:, 1:], np.maximum(beyond * (1 - beyond) * reached[:, :-1], SMALLEST)


def _sequential_logits(frequencies: Floats) -> Floats:
    reached = _tails(frequencies)
    return np.log(reached[1:] / frequencies[:-1])


HEADS = (
    Head("K-1 cumulative scores, unbiased", _exceedance_logits, _cumulative, _unbiased_slopes),
    Head("K-1 cumulative scores, forward", _exceedance_logits, _cumulative, _cumulative_slopes),
    Head("K-1 sequential scores, forward", _sequential_logits, _sequential, _sequential_slopes),
)
