"""Rounds of review: what is left after each, whether the reviewer's own error is found, and whether spot checks cover.

Two measurements against a known truth.

`rounds`: three rounds of audit, next and review by a simulated reviewer who errs in 5 % of the rows. A share of the
rows is graded twice, blind; where the two differ, the right grade is decided on. The next audit weighs the settled
grades by what the repeats say. Printed are the wrong grades left after each round, the reviewer's own among them,
estimated and true, and the reviewer's error. The audits are those of the networks of `OrdinalClassifier`, with the
noise estimated.

`spot-check`: how often the bounds hold the truth, drawn with the strata that `spot_check_sample` picks by
probabilities that are systematically wrong.

    python -m studies.rounds rounds --runs 20 --first-run 20 --data-dir DIR
    python -m studies.rounds spot-check --runs 500
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, field

import numpy as np
from rich.console import Console

from ordinoise import OrdinalClassifier, issues_from_probabilities
from ordinoise._text import TextTable, markdown
from ordinoise._validation import Floats, Ints
from ordinoise.audit import LabelIssues, spot_check, spot_check_sample
from ordinoise.audit.certificate import repeat_error
from ordinoise.audit.gain import verification_gain
from ordinoise.audit.reviewers import Reviewers, reviewers_from_repeats
from ordinoise.estimate import Estimate
from ordinoise.labels import Verified
from studies.next import ROWS, SETS, Pool, pool_of

BUDGET = 60
ERRS, REPEATED = 0.05, 0.3  # the reviewer's errors, and the share of rows that are shown twice


# Three rounds -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Left:
    """Wrong grades after a round: true, and the ends of what is said; rows that `next` chose give no number."""

    true: int
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


@dataclass
class Review:
    """What a reviewer settled: grades by row, and the two looks at rows that were shown twice."""

    n_classes: int
    grades: dict[int, int] = field(default_factory=dict)
    looks: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def n_differing(self) -> int:
        """Rows whose two looks differ."""
        return sum(first != again for first, again in self.looks.values())

    def settle(self, rows: list[int], true: Ints, n_classes: int, rng: np.random.Generator) -> None:
        """Grade some rows, a share of them twice; differing looks are decided together, rightly."""
        first, again = (reviewed(true[rows], n_classes, rng) for _ in range(2))
        shown = rng.random(len(rows)) < REPEATED
        decided = np.where(shown & (first != again), true[rows], first)
        self.grades |= dict(zip(rows, decided.tolist(), strict=True))
        self.looks |= {row: (int(first[at]), int(again[at])) for at, row in enumerate(rows) if shown[at]}

    def reviewers(self, n_classes: int) -> Reviewers:
        """The reviewer's noise, from the looks."""
        decided = [self.grades[row] if first != again else -1 for row, (first, again) in self.looks.items()]
        names = [("Ann", "Ann")] * len(self.looks)
        return reviewers_from_repeats(names, list(self.looks.values()), n_classes, decided=decided)

    @property
    def error(self) -> Estimate:
        """Share of the grades that are wrong, by the looks."""
        agreeing = self.reviewers(self.n_classes).agreeing
        return repeat_error(len(self.looks), self.n_differing, agreeing=agreeing)

    def verified(self, n_classes: int) -> Verified | None:
        """The settled grades with the noise of each."""
        if not self.grades:
            return None
        found, rows = self.reviewers(n_classes), sorted(self.grades)
        once, agreed, together = found.matrix("Ann"), found.agreement("Ann", "Ann"), np.eye(n_classes)

        def matrix(row: int) -> Floats:
            if row not in self.looks:
                return once
            return agreed if len(set(self.looks[row])) == 1 else together

        return Verified(np.array(rows), [self.grades[row] for row in rows], np.stack([matrix(row) for row in rows]))


def three_rounds(name: str, seed: int, data_dir: str | None) -> tuple[list[Left], Review]:
    """What is left before and after each of three rounds, and the review."""
    pool = pool_of(name, seed, data_dir)
    rng, n_classes = np.random.default_rng([seed, 3]), len(pool.matrix)
    review, left = Review(n_classes), []
    for n_done in range(4):
        known = review.verified(n_classes)
        model = OrdinalClassifier("mlp", classes=range(n_classes), n_rounds=1, n_folds=4, n_jobs=1, random_state=seed)
        model.fit(pool.features, pool.recorded, trusted=known)
        assert model.out_of_fold_ is not None
        found = issues_from_probabilities(
            model.out_of_fold_, pool.recorded, model.noise_, classes=range(n_classes), trusted=known
        )
        left.append(_left(pool, found, review))
        if n_done == 3:
            break
        gains = verification_gain(found.posterior, pool.recorded, corrected=model.noise_.answer == "corrected")
        rows = [row for row in np.argsort(-gains, kind="stable").tolist() if row not in review.grades][:BUDGET]
        review.settle(rows, pool.true, n_classes, rng)
    return left, review


def _left(pool: Pool, found: LabelIssues, review: Review) -> Left:
    """Wrong grades in the file with its settled grades: those not reviewed, and the reviewer's own errors."""
    wrong, count = pool.recorded != pool.true, found.expected_wrong
    wrong[list(review.grades)] = False
    assert count is not None
    if not review.grades:
        return Left(int(wrong.sum()), count.low, count.high)
    errors = sum(grade != pool.true[row] for row, grade in review.grades.items())
    own = sum(1 - found.posterior[row, grade] for row, grade in review.grades.items())
    error, rate = review.error, review.reviewers(len(pool.matrix)).rate
    total = int(wrong.sum()) + int(errors)
    low, high = own * min(error.low / rate, 1), own * max(error.high / rate, 1)
    return Left(total, count.low + low, count.high + high)


def rounds_table(runs: range, data_dir: str | None) -> TextTable:
    """The wrong grades left after each round, and the reviewer's error, over runs on the five sets in turn."""
    lefts, n_repeated, n_differing, rates, agreeing = [], 0, 0, [], []
    for run in runs:
        name = SETS[run % len(SETS)]
        found, review = three_rounds(name, run, data_dir)
        lefts.append(found)
        n_repeated, n_differing = n_repeated + len(review.looks), n_differing + review.n_differing
        agreeing.append(review.reviewers(review.n_classes).agreeing)
        rates.append(review.error)
        spans = [(one.true, round(one.low), round(one.high)) for one in found]
        Console(stderr=True).print(run, name, spans, f"{rates[-1]:.3f}")
    rows = []
    for at in range(4):
        ones = [found[at] for found in lefts]
        cells = (np.mean([getattr(one, name) for one in ones]) for name in ("true", "low", "high"))
        rows.append((str(at), *(f"{cell:.0f}" for cell in cells), f"{sum(one.holds for one in ones)} of {len(runs)}"))
    columns = ("rounds done", "wrong, truly", "low", "high", "range holds the truth")
    error = repeat_error(n_repeated, n_differing, agreeing=float(np.mean(agreeing)))
    held = sum(one.low <= ERRS <= one.high for one in rates)
    note = (
        f"The reviewer errs in {ERRS:.0%}. {n_repeated} rows were graded twice, blind, and {n_differing} differed: "
        f"{error.value:.1%} of the grades are wrong ({error.span('.1%')}); by the rows of one run, "
        f"{np.mean([one.value for one in rates]):.1%} on average, and {held} of {len(runs)} intervals hold the 5 %."
    )
    return TextTable(f"Wrong grades left, of {ROWS}: means over {len(runs)} runs", columns, tuple(rows), (note,))


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
    parser.add_argument("what", choices=("rounds", "spot-check"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-run", type=int, default=0)
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "rounds":
        runs = range(options.first_run, options.first_run + options.runs)
        print(markdown(rounds_table(runs, options.data_dir)))
    else:
        print(markdown(spot_check_table(options.runs)))


if __name__ == "__main__":
    main()
