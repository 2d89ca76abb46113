"""What to verify next: labels verified until a model reaches a given error, by rule.

Rows with recorded labels are verified in steps, by `verification_gain` (for a model that corrects, the entropy of the
posterior), by suspicion (the expected distance between record and truth), by distance times spread (the rule before),
or at random; after each step the model is fitted again. The model is our linear network with the softmax head under the
forward correction, with the noise matrix known: quick enough for thousands of fits, and the rules see the same model.
Sets with at most ten columns get their squares and products. `studies.verified` does the same with the front door and
the noise estimated.

    python -m studies.next --seeds 8 [--first-seed 10] [--data-dir DIR]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.sparse import csr_matrix
from scipy.special import softmax
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from ordinoise import corrupt, inverse_decay
from ordinoise._text import TextTable, markdown
from ordinoise._validation import Floats, Ints
from ordinoise.audit.gain import verification_gain
from ordinoise.audit.posterior import posterior
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.labels import decide
from ordinoise.learners.mlp import Architecture, Records, fit_linear, linear_start

SETS = ("synthetic", "computer", "california", "car", "abalone")
RATE, MOST_ROWS, STEP, N_STEPS, N_FOLDS = 0.12, 2000, 60, 8, 3
STRENGTHS = (10**-2.5, 10**-3)  # of the penalty: the first only starts the second


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows with recorded and true labels, and a test set."""

    features: Floats
    true: Ints
    recorded: Ints
    matrix: Floats
    test_features: Floats
    test_labels: Ints
    folds: Ints


def pool_of(name: str, seed: int, data_dir: str | None, most_rows: int = MOST_ROWS, *, products: bool = True) -> Pool:
    """At most half of the rows of a data set, with corrupted labels, and other rows to test on.

    With `products`, sets with at most ten columns get their squares and products.
    """
    data = load(name, data_dir)
    assert isinstance(data, OrdinalDataset)
    rng = np.random.default_rng([seed, 1])
    order = rng.permutation(len(data.labels))
    features = StandardScaler().fit_transform(np.asarray(data.features, dtype=np.float64))
    if products and features.shape[1] <= 10:
        features = StandardScaler().fit_transform(PolynomialFeatures(2, include_bias=False).fit_transform(features))
    size = min(most_rows, len(order) // 2)
    rows, test = order[:size], order[size : size + 4000]
    matrix = inverse_decay(int(data.labels.max()) + 1, RATE)
    true = data.labels[rows]
    recorded = corrupt(true, matrix, random_state=seed)
    folds = rng.integers(0, N_FOLDS, size)
    return Pool(features[rows], true, recorded, matrix, features[test], data.labels[test], folds)


def fitted(features: Floats, likelihood: Floats) -> Callable[[Floats], Floats]:
    """The linear network of least forward loss plus penalty, as a function from features to probabilities."""
    n_rows, n_columns = features.shape
    shares = (likelihood / likelihood.sum(axis=1, keepdims=True)).mean(axis=0)
    architecture = Architecture(n_columns, likelihood.shape[1], (), head="softmax")
    start = linear_start(architecture, np.maximum(shares, 1e-3), center=np.zeros(n_columns), scale=np.ones(n_columns))
    records = Records(csr_matrix(features), likelihood, np.full(n_rows, 1 / n_rows))
    network = fit_linear(start, records, records, STRENGTHS).network
    return lambda rows: np.asarray(softmax(network.logits(csr_matrix(rows)), axis=1))


def error_and_chances(pool: Pool, known: NDArray[np.bool_]) -> tuple[float, Floats]:
    """The mean absolute error on clean test labels, and the out-of-fold probabilities of the pool."""
    likelihood = pool.matrix[:, pool.recorded].T.copy()
    likelihood[known] = np.eye(len(pool.matrix))[pool.true[known]]
    chances = np.zeros_like(likelihood)
    for fold in range(N_FOLDS):
        held = pool.folds == fold
        chances[held] = fitted(pool.features[~held], likelihood[~held])(pool.features[held])
    whole = fitted(pool.features, likelihood)(pool.test_features)
    return float(np.abs(decide(whole, "median") - pool.test_labels).mean()), chances


def suspicion(after: Floats, recorded: Ints) -> Floats:
    """Expected distance between the record and the truth."""
    return np.asarray((after * np.abs(np.arange(after.shape[1]) - recorded[:, None])).sum(axis=1))


def product(after: Floats, recorded: Ints) -> Floats:
    """Distance times the root of the summed variances of "is the true label above the threshold?"."""
    above = 1 - np.cumsum(after, axis=1)[:, :-1]
    return np.asarray(suspicion(after, recorded) * np.sqrt(np.maximum(above * (1 - above), 0).sum(axis=1)))


PICKS: dict[str, Callable[[Floats, Ints, np.random.Generator], Floats]] = {
    "next": lambda after, recorded, _: verification_gain(after, recorded),
    "suspicion": lambda after, recorded, _: suspicion(after, recorded),
    "distance times spread": lambda after, recorded, _: product(after, recorded),
    "random": lambda _, recorded, rng: rng.random(len(recorded)),
}


def curve(pool: Pool, pick: str, seed: int) -> list[float]:
    """Test error before and after each step of verified labels."""
    known, rng = np.zeros(len(pool.true), dtype=bool), np.random.default_rng([seed, 2])
    error, chances = error_and_chances(pool, known)
    errors = [error]
    for _ in range(N_STEPS):
        scores = PICKS[pick](posterior(chances, pool.recorded, pool.matrix), pool.recorded, rng)
        known[np.argsort(-np.where(known, -np.inf, scores), kind="stable")[:STEP]] = True
        error, chances = error_and_chances(pool, known)
        errors.append(error)
    return errors


def labels_to_reach(errors: Sequence[float], wanted: float, size: int = STEP) -> float:
    """Verified labels until the error is first at most `wanted`, between the steps of `size` by a straight line."""
    for step in range(1, len(errors)):
        if errors[step] <= wanted:
            before, after = errors[step - 1], errors[step]
            part = 1.0 if before <= after else (before - wanted) / (before - after)
            return size * (step - 1 + min(max(part, 0.0), 1.0))
    return float("inf")


def next_table(seeds: range, data_dir: str | None) -> TextTable:
    """Labels verified to reach the error that random picking has after all its steps, of curves averaged over seeds."""
    rows, screen, total = [], Console(stderr=True), dict.fromkeys(PICKS, 0.0)
    for name in SETS:
        curves: dict[str, list[list[float]]] = {pick: [] for pick in PICKS}
        for seed in seeds:
            pool = pool_of(name, seed, data_dir)
            for pick in PICKS:
                curves[pick].append(curve(pool, pick, seed))
        mean = {pick: np.mean(found, axis=0) for pick, found in curves.items()}
        for pick in PICKS:
            screen.print(name, pick, mean[pick].round(4).tolist())
        wanted = float(mean["random"][-1])
        needed = {pick: labels_to_reach(mean[pick].tolist(), wanted) for pick in PICKS}
        total = {pick: total[pick] + needed[pick] for pick in PICKS}
        rows.append((name, str(len(pool.true)), f"{mean['random'][0]:.3f}", f"{wanted:.3f}", *cells(needed)))
    rows.append(("all", "", "", "", *cells(total)))
    title = f"Labels verified to reach the error of random picking after {N_STEPS * STEP}; {len(seeds)} draws"
    return TextTable(title, ("set", "rows", "error at first", "to reach", *PICKS, "next / random"), tuple(rows))


def cells(needed: dict[str, float]) -> list[str]:
    """The labels that each rule needs, and the share of those of random picking that `next` does."""
    return [*(f"{labels:.0f}" for labels in needed.values()), f"{needed['next'] / needed['random']:.0%}"]


def print_table(made: Callable[[range, str | None], TextTable], words: str | None) -> None:
    """Print the table of the seeds and the folder of data that the command line names."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    print(markdown(made(range(options.first_seed, options.first_seed + options.seeds), options.data_dir)))


if __name__ == "__main__":
    print_table(next_table, __doc__)
