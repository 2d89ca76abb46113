"""What to verify next: labels verified until a model is half-way to the error that it has with all labels verified.

Rows with recorded labels are verified in steps, by the rule of `ordinoise next`, by suspicion (the ranking of an
audit), by the entropy of the posterior, or at random; after each step the model is fitted again. All rules start at the
same error, with no label verified, and end at the same one, with all of them. The error to reach is half-way between
the two. Errors are averaged over draws and made monotone (isotonic regression) for every rule alike; between steps they
follow straight lines. Intervals are of a bootstrap over the draws.

`linear`: our linear network with the softmax head under the forward correction, with the noise matrix known: quick
enough for thousands of fits. Sets with at most ten columns get their squares and products.

`front`: what a person does with `audit`, `next`, `review` and `fit --reviewed`. The front door is fitted with the noise
estimated, rows are picked by its audit, and it is fitted again with these as `trusted`. For its cost it has networks
only, three folds and one draw of them; the pass that trusts the records is the same after every step and is fitted
once. Three to five processor minutes per draw of the five sets.

    python -m studies.next linear --seeds 20 --first-seed 20 [--data-dir DIR]
    python -m studies.next front --seeds 8 --first-seed 20
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.sparse import csr_matrix
from scipy.special import entr, softmax
from sklearn.isotonic import isotonic_regression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from ordinoise import OrdinalClassifier, corrupt, inverse_decay, issues_from_probabilities
from ordinoise._text import TextTable, markdown
from ordinoise._validation import Floats, Ints
from ordinoise.audit.gain import verification_gain
from ordinoise.audit.posterior import posterior
from ordinoise.classifiers.blend import fit as blend
from ordinoise.classifiers.blend import mixture
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.mixture import Blend
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.decisions import decide
from ordinoise.learners.mlp import Architecture, Network, Records, fit_linear, linear_start

SETS = ("synthetic", "computer", "california", "car", "abalone")
RATE, ROWS, N_FOLDS = 0.12, 600, 3
STEPS = {"linear": (30, 12), "front": (50, 4)}  # verified labels of a step, and steps
PARTS, N_RESAMPLES = (0.5, 0.25, 0.75), 1000  # of the way to all labels verified, the first is the target
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


def pool_of(name: str, seed: int, data_dir: str | None, *, products: bool = True) -> Pool:
    """At most `ROWS` rows of a data set, with corrupted labels, and other rows to test on.

    With `products`, sets with at most ten columns get their squares and products.
    """
    data = load(name, data_dir, **({"random_state": seed} if name == "synthetic" else {}))
    assert isinstance(data, OrdinalDataset)
    rng = np.random.default_rng([seed, 1])
    order = rng.permutation(len(data.labels))
    features = StandardScaler().fit_transform(np.asarray(data.features, dtype=np.float64))
    if products and features.shape[1] <= 10:
        features = StandardScaler().fit_transform(PolynomialFeatures(2, include_bias=False).fit_transform(features))
    size = min(ROWS, len(order) // 2)
    rows, test = order[:size], order[size : size + 4000]
    matrix = inverse_decay(int(data.labels.max()) + 1, RATE)
    true = data.labels[rows]
    recorded = corrupt(true, matrix, np.random.default_rng(seed))
    folds = rng.integers(0, N_FOLDS, size)
    return Pool(features[rows], true, recorded, matrix, features[test], data.labels[test], folds)


# Models -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Found:
    """What a model makes of the records: its error on clean test labels, and what the rules pick by."""

    error: float
    posterior: Floats
    suspicion: Floats
    is_corrected: bool = True


Model = Callable[[NDArray[np.bool_]], Found]


@dataclass
class LinearModel:
    """The linear network under known noise; every fit starts from the one before."""

    pool: Pool
    networks: dict[int, Network] = field(default_factory=dict)

    def __call__(self, known: NDArray[np.bool_]) -> Found:
        """Fit with some labels known: to all rows, and out of fold."""
        pool, n_classes = self.pool, len(self.pool.matrix)
        likelihood = pool.matrix[:, pool.recorded].T.copy()
        likelihood[known] = np.eye(n_classes)[pool.true[known]]
        chances = np.zeros_like(likelihood)
        for fold in range(N_FOLDS):
            held = pool.folds == fold
            chances[held] = self._fitted(fold, ~held, likelihood)(pool.features[held])
        whole = self._fitted(-1, np.ones(len(known), dtype=bool), likelihood)(pool.test_features)
        after = posterior(chances, pool.recorded, pool.matrix)
        distance = (after * np.abs(np.arange(n_classes) - pool.recorded[:, None])).sum(axis=1)
        return Found(float(np.abs(decide(whole, "median") - pool.test_labels).mean()), after, distance)

    def _fitted(self, fold: int, rows: NDArray[np.bool_], likelihood: Floats) -> Callable[[Floats], Floats]:
        """The network of least forward loss plus penalty, as a function from features to probabilities."""
        features, likelihood = self.pool.features[rows], likelihood[rows]
        records = Records(csr_matrix(features), likelihood, np.full(len(features), 1 / len(features)))
        start = self.networks.get(fold)
        strengths = STRENGTHS if start is None else STRENGTHS[1:]
        if start is None:
            n_columns = features.shape[1]
            shares = (likelihood / likelihood.sum(axis=1, keepdims=True)).mean(axis=0)
            architecture = Architecture(n_columns, likelihood.shape[1], (), head="softmax")
            center, scale = np.zeros(n_columns), np.ones(n_columns)
            start = linear_start(architecture, np.maximum(shares, 1e-3), center=center, scale=scale)
        network = self.networks[fold] = fit_linear(start, records, records, strengths).network
        return lambda rows: np.asarray(softmax(network.logits(csr_matrix(rows)), axis=1))


def front_model(pool: Pool, seed: int) -> Model:
    """The front door with the noise estimated, and its audit; the blend that trusts the records is fitted once."""
    trusting, classes, fit = list[Blend](), range(len(pool.matrix)), mixture.fitted_blend

    def remembered(chosen: Any, data: Recorded, *others: Any, start: Blend | None = None, **options: Any) -> Blend:
        if start is not None or data.index is not None or len(data.matrices) > 1:
            return fit(chosen, data, *others, start=start, **options)
        if not trusting:
            trusting.append(fit(chosen, data, *others, **options))
        return trusting[0]

    def fitted(known: NDArray[np.bool_]) -> Found:
        rows = np.flatnonzero(known)
        trusted = (rows, pool.true[rows]) if len(rows) else None
        model = OrdinalClassifier("mlp", classes=classes, n_rounds=1, n_folds=N_FOLDS, n_jobs=1, random_state=seed)
        with patch.object(blend, "fitted_blend", remembered):
            model.fit(pool.features, pool.recorded, trusted=trusted)
        assert model.out_of_fold_ is not None
        audit = issues_from_probabilities(
            model.out_of_fold_, pool.recorded, model.noise_, classes=classes, trusted=trusted
        )
        error = float(np.abs(model.predict(pool.test_features) - pool.test_labels).mean())
        is_corrected = model.noise_.answer == "corrected"
        return Found(error, audit.posterior, -audit.rank.astype(np.float64), is_corrected)

    return fitted


# Curves -------------------------------------------------------------------------------------------------

RULES: dict[str, Callable[[Found, Ints, np.random.Generator], Floats]] = {
    "next": lambda found, recorded, _: verification_gain(found.posterior, recorded, corrected=found.is_corrected),
    "suspicion": lambda found, *_: found.suspicion,
    "entropy": lambda found, *_: np.asarray(entr(found.posterior).sum(axis=1)),
    "random": lambda _, recorded, rng: rng.random(len(recorded)),
}


def curves_of(learner: str, name: str, seed: int, data_dir: str | None) -> tuple[Floats, Floats, Ints]:
    """Of one draw, one line per rule: error before and after each step and with all labels verified; wrong labels left.

    The last array holds the numbers of verified labels.
    """
    pool, (size, n_steps) = pool_of(name, seed, data_dir, products=learner == "linear"), STEPS[learner]
    model: Model = LinearModel(pool) if learner == "linear" else front_model(pool, seed)
    nothing, wrong = np.zeros(len(pool.true), dtype=bool), pool.true != pool.recorded
    first, last = model(nothing), model(~nothing)
    errors, left = np.empty((2, len(RULES), n_steps + 2))
    for at, rule in enumerate(RULES.values()):
        known, found, rng = nothing.copy(), first, np.random.default_rng([seed, 2])
        for step in range(n_steps + 1):
            errors[at, step], left[at, step] = found.error, (wrong & ~known).sum()
            if step < n_steps:
                scores = rule(found, pool.recorded, rng)
                known[np.argsort(-np.where(known, -np.inf, scores), kind="stable")[:size]] = True
                found = model(known)
    errors[:, -1], left[:, -1] = last.error, 0
    return errors, left, np.append(size * np.arange(n_steps + 1), len(wrong))


def labels_needed(errors: Floats, verified: Ints, wanted: float) -> float:
    """Verified labels until the monotone fit to the errors is at most `wanted`, between steps by a straight line."""
    fit = isotonic_regression(errors, increasing=False)
    step = int(np.argmax(fit <= wanted))
    if step == 0:
        return 0.0 if fit[0] <= wanted else float("inf")
    part = (fit[step - 1] - wanted) / (fit[step - 1] - fit[step])
    return float(verified[step - 1] + part * (verified[step] - verified[step - 1]))


def needed(errors: Floats, verified: Ints, part: float) -> Floats:
    """Labels that each rule needs on one set, from its curves of shape (n_draws, n_rules, n_steps)."""
    mean = errors.mean(axis=0)
    wanted = mean[0, 0] - part * (mean[0, 0] - mean[0, -1])
    return np.array([labels_needed(curve, verified, wanted) for curve in mean])


def shares(errors: Sequence[Floats], verified: Sequence[Ints], part: float) -> tuple[Floats, Floats]:
    """Labels that `next` needs of those of each rule, summed over the sets, and their 95 % interval."""
    rng, n_draws = np.random.default_rng(0), len(errors[0])

    def share(draws: Ints) -> Floats:
        total = np.sum([needed(of[draws], at, part) for of, at in zip(errors, verified, strict=True)], axis=0)
        return np.asarray(total[0] / total)

    resampled = [share(rng.integers(0, n_draws, n_draws)) for _ in range(N_RESAMPLES)]
    return share(np.arange(n_draws)), np.quantile(resampled, (0.025, 0.975), axis=0)


def next_table(learner: str, seeds: range, data_dir: str | None) -> TextTable:
    """Labels verified to be half-way, by set and rule, what `next` needs of the others, and the wrong labels left."""
    screen, errors, left, verified = Console(stderr=True, width=200), [], [], []
    for name in SETS:
        draws = [curves_of(learner, name, seed, data_dir) for seed in seeds]
        errors.append(np.stack([one[0] for one in draws]))
        left.append(np.mean([one[1] for one in draws], axis=0))
        verified.append(draws[0][2])
        for rule, curve, wrong in zip(RULES, errors[-1].mean(axis=0), left[-1], strict=True):
            screen.print(name, rule, curve.round(4).tolist(), wrong.round(0).tolist())
    rows, total = [], np.zeros(len(RULES))
    for name, of, at in zip(SETS, errors, verified, strict=True):
        labels, (first, last) = needed(of, at, PARTS[0]), of[:, 0, [0, -1]].mean(axis=0)
        total += labels
        wanted = first - PARTS[0] * (first - last)
        rows.append((name, f"{first:.3f}", f"{last:.3f}", f"{wanted:.3f}", *_cells(labels)))
    rows.append(("all", "", "", "", *_cells(total)))
    title = f"Labels of {ROWS} verified to be half-way to the error with all verified; {len(seeds)} draws"
    columns = ("set", "none verified", "all verified", "to reach", *RULES, "next / random")
    return TextTable(title, columns, tuple(rows), tuple(_notes(errors, verified, left)))


def _cells(labels: Floats) -> list[str]:
    return [*(f"{one:.0f}" for one in labels), f"{labels[0] / labels[-1]:.0%}"]


def _notes(errors: Sequence[Floats], verified: Sequence[Ints], left: Sequence[Floats]) -> list[str]:
    notes = []
    for part in PARTS:
        share, (low, high) = shares(errors, verified, part)
        words = (f"{share[at]:.0%} of {rule} ({low[at]:.0%} to {high[at]:.0%})" for at, rule in enumerate(RULES) if at)
        notes.append(f"{part:.0%} of the way next needs {', '.join(words)}; 95 % intervals, over draws.")
    for step in (len(verified[0]) // 2 - 1, len(verified[0]) - 2):
        wrong = np.mean([of[:, step] for of in left], axis=0)
        words = (f"{number:.0f} ({rule})" for rule, number in zip(RULES, wrong, strict=True))
        notes.append(f"Wrong labels left after {verified[0][step]}, on average: {', '.join(words)}.")
    return notes


def main() -> None:
    """Print the table of one learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learner", choices=tuple(STEPS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # doubts about an estimate, of which there are many
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    print(markdown(next_table(options.learner, seeds, options.data_dir)))


if __name__ == "__main__":
    main()
