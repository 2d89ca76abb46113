"""What to verify next with the front door: labels verified until it reaches a given error, by rule.

What a person does with `audit`, `next`, `review` and `fit --reviewed`, on rows with a known truth: the front door is
fitted with the noise estimated, some rows are picked by its audit and verified, and it is fitted again with these as
`trusted`. The rules are that of `ordinoise next`, suspicion (the ranking of the audit), distance times spread,
and a random draw. For its cost the front door has its networks only, three folds and one draw of them; the pass that
trusts the records is the same after every step and is fitted once. Two to four processor minutes per seed.

    python -m studies.verified --seeds 5 [--first-seed 0] [--data-dir DIR]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from ordinoise import OrdinalClassifier, issues_from_probabilities
from ordinoise._text import TextTable
from ordinoise._validation import Floats, Ints
from ordinoise.audit import LabelIssues
from ordinoise.audit.gain import verification_gain
from ordinoise.classifiers.blend.members import Recorded
from ordinoise.classifiers.blend.mixture import Blend
from studies.next import SETS, Pool, cells, labels_to_reach, pool_of, print_table, product

ROWS = 600
STEP, N_STEPS = 50, 3  # three rounds of as many rows as `ordinoise next` proposes by default


@dataclass(eq=False, repr=False)
class FrontDoor(OrdinalClassifier):
    """The front door, for several fits to the same records: the blend that trusts them is fitted once."""

    trusting: list[Blend] = field(default_factory=list)

    def _fitted_blend(
        self, data: Recorded, folds: Ints, seed: int, on_fit: Callable[[], None], start: Blend | None = None
    ) -> Blend:
        if start is not None or data.index is not None or len(data.matrices) > 1:
            return super()._fitted_blend(data, folds, seed, on_fit, start)
        if not self.trusting:
            self.trusting.append(super()._fitted_blend(data, folds, seed, on_fit))
        return self.trusting[0]


Found = tuple[float, LabelIssues, str]


def audited(pool: Pool, known: NDArray[np.bool_], seed: int, trusting: list[Blend]) -> Found:
    """The mean absolute error on clean test labels, what the audit finds, and the answer."""
    rows, classes = np.flatnonzero(known), range(len(pool.matrix))
    trusted = (rows, pool.true[rows]) if len(rows) else None
    model = FrontDoor(
        "mlp", classes=classes, n_rounds=1, n_folds=3, n_jobs=1, random_state=seed, trusting=trusting
    ).fit(pool.features, pool.recorded, trusted=trusted)
    assert model.out_of_fold_ is not None
    found = issues_from_probabilities(model.out_of_fold_, pool.recorded, model.noise_, classes=classes, trusted=trusted)
    error = np.abs(model.predict(pool.test_features) - pool.test_labels).mean()
    return float(error), found, model.noise_.answer


PICKS: dict[str, Callable[[LabelIssues, Ints, str, np.random.Generator], Floats]] = {
    "next": lambda found, recorded, answer, _: verification_gain(
        found.posterior, recorded, corrected=answer == "corrected"
    ),
    "suspicion": lambda found, *_: -found.rank.astype(np.float64),
    "distance times spread": lambda found, recorded, *_: product(found.posterior, recorded),
    "random": lambda _found, recorded, _answer, rng: rng.random(len(recorded)),
}


def curve(pool: Pool, pick: str, seed: int, first: Found, trusting: list[Blend]) -> list[float]:
    """Test error before and after each step of verified labels."""
    known, rng = np.zeros(len(pool.true), dtype=bool), np.random.default_rng([seed, 2])
    (error, found, answer), errors = first, [first[0]]
    for _ in range(N_STEPS):
        scores = PICKS[pick](found, pool.recorded, answer, rng)
        known[np.argsort(-np.where(known, -np.inf, scores), kind="stable")[:STEP]] = True
        error, found, answer = audited(pool, known, seed, trusting)
        errors.append(error)
    return errors


def curves_of(name: str, seed: int, data_dir: str | None) -> dict[str, list[float]]:
    """The curve of every rule on one draw, and the error with all labels verified."""
    pool, trusting = pool_of(name, seed, data_dir, ROWS, products=False), list[Blend]()
    size = len(pool.true)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # doubts about an estimate, of which there are many
        first = audited(pool, np.zeros(size, dtype=bool), seed, trusting)
        found = {pick: curve(pool, pick, seed, first, trusting) for pick in PICKS}
        return found | {"all": [audited(pool, np.ones(size, dtype=bool), seed, trusting)[0]]}


def verified_table(seeds: range, data_dir: str | None) -> TextTable:
    """Labels verified to reach the error that random picking has after all its steps, of curves averaged over seeds."""
    found: dict[str, list[dict[str, list[float]]]] = {name: [] for name in SETS}
    screen, rows, total = Console(stderr=True, width=200), [], dict.fromkeys(PICKS, 0.0)
    for seed in seeds:
        for name in SETS:
            found[name].append(curves_of(name, seed, data_dir))
            screen.print(name, seed, found[name][-1])
    for name in SETS:
        mean = {pick: np.mean([one[pick] for one in found[name]], axis=0) for pick in (*PICKS, "all")}
        wanted = float(mean["random"][-1])
        needed = {pick: labels_to_reach(mean[pick].tolist(), wanted, STEP) for pick in PICKS}
        total = {pick: total[pick] + needed[pick] for pick in PICKS}
        rows.append((name, f"{mean['random'][0]:.3f}", f"{mean['all'][0]:.3f}", f"{wanted:.3f}", *cells(needed)))
    rows.append(("all", "", "", "", *cells(total)))
    title = f"Labels verified to reach the error of random picking after {N_STEPS * STEP}; {len(seeds)} draws"
    columns = ("set", "error at first", "all verified", "to reach", *PICKS, "next / random")
    return TextTable(title, columns, tuple(rows))


if __name__ == "__main__":
    print_table(verified_table, __doc__)
