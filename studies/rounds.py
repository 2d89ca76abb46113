"""Rounds of review: what is left after each, what to verify next, and whether spot checks cover.

Three measurements, all against a known truth.

`rounds`: three rounds of audit, next and review by a simulated reviewer who errs in 5 % of the rows; the wrong grades
that are left after each round, estimated and true. A share of the rows is given twice, blind, which shows the
reviewer's own errors.

`next`: how many labels must be verified until a model reaches a given error, by `verification_gain`, by suspicion, by
entropy and at random. The model is a multinomial regression under the forward correction, fitted by
expectation-maximization: quick enough for hundreds of fits, and without a choice that favours one of the four.

`spot-check`: how often the bounds hold the truth, drawn with the strata that `spot_check_sample` picks by
probabilities that are systematically wrong.

    python -m studies.rounds rounds --runs 20 --data-dir DIR
    python -m studies.rounds next --seeds 3 --data-dir DIR
    python -m studies.rounds spot-check --runs 500
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from ordinoise import OrdinalClassifier, corrupt, inverse_decay
from ordinoise._text import TextTable, markdown
from ordinoise._validation import Floats, Ints
from ordinoise.audit import issues_from_probabilities, spot_check, spot_check_sample
from ordinoise.audit.gain import verification_gain
from ordinoise.audit.posterior import posterior
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.labels import decide

SETS = ("synthetic", "computer", "california", "car", "abalone")
RATE, POOL, STEP, N_STEPS, N_FOLDS = 0.12, 600, 30, 8, 3
ERRS, REPEATED = 0.05, 0.3  # the reviewer's errors, and the share of rows that are shown twice


# What to verify next ------------------------------------------------------------------------------------


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


def pool_of(name: str, seed: int, data_dir: str | None) -> Pool:
    """A pool of rows of a data set whose labels are corrupted, and other rows to test on."""
    data = load(name, data_dir)
    assert isinstance(data, OrdinalDataset)
    rng = np.random.default_rng([seed, 1])
    order = rng.permutation(len(data.labels))
    features = StandardScaler().fit_transform(np.asarray(data.features, dtype=np.float64))
    if features.shape[1] <= 10:
        features = StandardScaler().fit_transform(PolynomialFeatures(2, include_bias=False).fit_transform(features))
    size = min(POOL, len(order) // 2)
    rows, test = order[:size], order[size : size + 4000]
    matrix = inverse_decay(int(data.labels.max()) + 1, RATE)
    true = data.labels[rows]
    recorded = corrupt(true, matrix, random_state=seed)
    folds = rng.integers(0, N_FOLDS, size)
    return Pool(features[rows], true, recorded, matrix, features[test], data.labels[test], folds)


def fitted(features: Floats, likelihood: Floats) -> Callable[[Floats], Floats]:
    """A multinomial regression under the forward correction, as a function from features to probabilities."""
    n_classes, after = likelihood.shape[1], likelihood / likelihood.sum(axis=1, keepdims=True)

    def predict(rows: Floats) -> Floats:
        found = np.full((len(rows), n_classes), 1e-9)
        found[:, model.classes_] = model.predict_proba(rows)
        return found / found.sum(axis=1, keepdims=True)

    for _ in range(3):
        rows, grades = np.nonzero(after > 1e-3)
        model = LogisticRegression(C=0.3, max_iter=60, tol=1e-3)
        model.fit(features[rows], grades, sample_weight=after[rows, grades])
        joint = predict(features) * likelihood + 1e-12
        after = joint / joint.sum(axis=1, keepdims=True)
    return predict


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


def entropy(after: Floats) -> Floats:
    """Entropy of the posterior."""
    return np.asarray(-(after * np.log(after + 1e-12)).sum(axis=1))


def suspicion(after: Floats, recorded: Ints) -> Floats:
    """Expected distance between the record and the truth."""
    return np.asarray((after * np.abs(np.arange(after.shape[1]) - recorded[:, None])).sum(axis=1))


PICKS: dict[str, Callable[[Floats, Ints, np.random.Generator], Floats]] = {
    "gain": lambda after, recorded, _: verification_gain(after, recorded),
    "suspicion": lambda after, recorded, _: suspicion(after, recorded),
    "entropy": lambda after, _, __: entropy(after),
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


def labels_to_reach(errors: Sequence[float], wanted: float) -> float:
    """Verified labels until the error is first at most `wanted`, between the steps by a straight line."""
    for step in range(1, len(errors)):
        if errors[step] <= wanted:
            before, after = errors[step - 1], errors[step]
            part = 1.0 if before <= after else (before - wanted) / (before - after)
            return STEP * (step - 1 + min(max(part, 0.0), 1.0))
    return float("inf")


def next_table(seeds: range, data_dir: str | None) -> TextTable:
    """Labels verified to reach the error that random picking has after all its steps, averaged over seeds."""
    rows = []
    for name in SETS:
        curves: dict[str, list[list[float]]] = {pick: [] for pick in PICKS}
        for seed in seeds:
            pool = pool_of(name, seed, data_dir)
            for pick in PICKS:
                curves[pick].append(curve(pool, pick, seed))
        mean = {pick: np.mean(found, axis=0) for pick, found in curves.items()}
        wanted = float(mean["random"][-1])
        needed = {pick: labels_to_reach(mean[pick].tolist(), wanted) for pick in PICKS}
        cells = [f"{needed[pick]:.0f}" for pick in PICKS]
        rows.append(
            (name, f"{mean['random'][0]:.3f}", f"{wanted:.3f}", *cells, f"{needed['gain'] / needed['random']:.0%}")
        )
    title = (
        f"Labels verified, of {POOL}, to reach the error of random picking after {N_STEPS * STEP}; {len(seeds)} draws"
    )
    return TextTable(title, ("set", "error at first", "error to reach", *PICKS, "gain / random"), tuple(rows))


# Three rounds -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Left:
    """Wrong grades after a round: true, and estimated with its interval."""

    true: int
    value: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the interval holds the truth."""
        return self.low <= self.true <= self.high


def reviewed(true: Ints, n_classes: int, rng: np.random.Generator) -> Ints:
    """Grades by a reviewer who errs in `ERRS` of the rows, by one grade."""
    errs = rng.random(len(true)) < ERRS
    moved = np.clip(true + rng.choice([-1, 1], len(true)), 0, n_classes - 1)
    moved = np.where(moved == true, np.abs(true - 1), moved)
    return np.where(errs, moved, true)


def reviewer_error(n_repeated: int, n_differing: int) -> tuple[float, float, float]:
    """Share of a reviewer's grades that are wrong, with a 95 % interval, from rows that were graded twice, blind.

    Two grades of a row agree if both are right, nearly always: with errors in a share e, (1 - e)^2.
    """
    share = n_differing / n_repeated
    low = float(beta.ppf(0.025, n_differing, n_repeated - n_differing + 1)) if n_differing else 0.0
    high = float(beta.ppf(0.975, n_differing + 1, n_repeated - n_differing))
    value, least, most = (1 - np.sqrt(1 - one) for one in (share, low, high))
    return float(value), float(least), float(most)


def three_rounds(name: str, seed: int, data_dir: str | None, budget: int = 60) -> tuple[list[Left], tuple[int, int]]:
    """What is left before and after each of three rounds, and how many rows were graded twice and differed."""
    pool = pool_of(name, seed, data_dir)
    rng, n_classes = np.random.default_rng([seed, 3]), len(pool.matrix)
    settled: dict[int, int] = {}
    left, twice = [], [0, 0]
    for _ in range(4):
        known = (np.array(sorted(settled)), np.array([settled[row] for row in sorted(settled)])) if settled else None
        model = OrdinalClassifier(
            "boosting", classes=range(n_classes), n_rounds=1, n_folds=4, n_jobs=1, random_state=seed
        )
        model.fit(pool.features, pool.recorded, trusted=known)
        assert model.out_of_fold_ is not None
        found = issues_from_probabilities(
            model.out_of_fold_, pool.recorded, model.noise_, classes=range(n_classes), trusted=known
        )
        left.append(_left(pool, found.expected_wrong, settled, twice))
        gains = verification_gain(found.posterior, pool.recorded)
        rows = [row for row in np.argsort(-gains, kind="stable").tolist() if row not in settled][:budget]
        first, again = (reviewed(pool.true[rows], n_classes, rng) for _ in range(2))
        shown = rng.random(len(rows)) < REPEATED
        twice = [twice[0] + int(shown.sum()), twice[1] + int((shown & (first != again)).sum())]
        # What differs comes up once more, for a decision together, which is right.
        decided = np.where(shown & (first != again), pool.true[rows], first)
        settled |= dict(zip(rows, decided.tolist(), strict=True))
    return left, (twice[0], twice[1])


def _left(pool: Pool, count: object, settled: dict[int, int], twice: Sequence[int]) -> Left:
    """Wrong grades in the file with its settled grades: those not reviewed, and the reviewer's own errors."""
    wrong = pool.recorded != pool.true
    wrong[list(settled)] = False
    errors = sum(grade != pool.true[row] for row, grade in settled.items())
    value, low, high = (getattr(count, name) for name in ("value", "low", "high"))
    value = (low + high) / 2 if value is None else value
    if not settled:
        return Left(int(wrong.sum()), value, low, high)
    share, least, most = reviewer_error(twice[0], twice[1])
    once = len(settled) - twice[0]  # rows that were graded twice and agree are taken to be right
    return Left(int(wrong.sum()) + int(errors), value + once * share, low + once * least, high + once * most)


def rounds_tables(runs: int, data_dir: str | None) -> list[TextTable]:
    """The wrong grades left after each round, and the reviewer's error, over runs on the five sets in turn."""
    lefts, twice = [], np.zeros(2, dtype=int)
    for run in range(runs):
        found, repeated = three_rounds(SETS[run % len(SETS)], run, data_dir)
        lefts.append(found)
        twice += repeated
        Console(stderr=True).print(
            run, [(one.true, round(one.value), round(one.low), round(one.high)) for one in found]
        )
    rows = []
    for at in range(4):
        ones = [found[at] for found in lefts]
        cells = (np.mean([getattr(one, name) for one in ones]) for name in ("true", "value", "low", "high"))
        rows.append((str(at), *(f"{cell:.0f}" for cell in cells), f"{sum(one.holds for one in ones)} of {runs}"))
    columns = ("rounds done", "wrong, truly", "estimated", "low", "high", "range holds the truth")
    value, low, high = reviewer_error(int(twice[0]), int(twice[1]))
    note = (
        f"The reviewer errs in {ERRS:.0%}; by {twice[0]} rows given twice, blind, {twice[1]} of which differed: "
        f"{value:.1%} ({low:.1%} to {high:.1%})."
    )
    return [TextTable(f"Wrong grades left, of {POOL}: means over {runs} runs", columns, tuple(rows), (note,))]


# Spot checks --------------------------------------------------------------------------------------------


def spot_check_table(runs: int) -> TextTable:
    """How often the bounds hold the truth, and how they compare with those of a simple random sample."""
    rng, found = np.random.default_rng(0), []
    for _ in range(runs):
        size, n_checks = int(rng.integers(300, 3000)), int(rng.integers(40, 200))
        suspicious = rng.random(size) < rng.uniform(0.05, 0.3)
        chances = np.clip(np.where(suspicious, rng.uniform(0.3, 0.9), rng.uniform(0.005, 0.08)), 0, 1)
        wrong = rng.random(size) < np.clip(chances * rng.uniform(0.3, 2.0), 0, 1)  # the model may be far off
        strata = spot_check_sample(chances, n_checks, random_state=rng)
        result = spot_check(
            [len(one.rows) for one in strata], [len(one.drawn) for one in strata],
            [int(wrong[one.drawn].sum()) for one in strata],
        )  # fmt: skip
        plain = spot_check(size, n_checks, int(wrong[rng.choice(size, n_checks, replace=False)].sum()))
        truth = int(wrong.sum())
        held = (result.at_most >= truth, result.at_least <= truth, result.low <= truth <= result.high)
        found.append((len(strata), *held, (result.at_most - truth) / size, (plain.at_most - truth) / size))
    rows = []
    for words, chosen in (("one stratum", [1]), ("two strata", [2]), ("all", [1, 2])):
        some = np.array([one for one in found if one[0] in chosen], dtype=float)
        if len(some):
            means = some.mean(axis=0)
            cells = (
                f"{means[1]:.1%}",
                f"{means[2]:.1%}",
                f"{means[3]:.1%}",
                f"{100 * means[4]:.1f}",
                f"{100 * means[5]:.1f}",
            )
            rows.append((words, str(len(some)), *cells))
    columns = (
        "sample", "runs", "at most holds", "at least holds", "interval holds", "bound above truth, points",
        "the same, simple sample",
    )  # fmt: skip
    return TextTable(
        "Spot checks at 95 % confidence, of models that are off by a factor of .3 to 2", columns, tuple(rows)
    )


def main() -> None:
    """Print the tables of one measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rounds", "next", "spot-check"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = {
        "rounds": lambda: rounds_tables(options.runs, options.data_dir),
        "next": lambda: [next_table(range(options.first_seed, options.first_seed + options.seeds), options.data_dir)],
        "spot-check": lambda: [spot_check_table(options.runs)],
    }[options.what]()
    for table in tables:
        print(markdown(table))


if __name__ == "__main__":
    main()
