"""Does the default do harm? The front door beside ones that trust the labels, or always correct them.

Clean labels whose grades overlap in many ways, noise that depends on the grade, noise that depends on the item: most of
it is not what the estimate assumes. The error is that on clean test labels. The rate "holds" if the range given for it
holds the share of wrong labels, the score if the interval of the mean absolute error, from recorded test labels, holds
that on clean ones; or if a doubt was raised. "Sets" is the share of clean test labels in prediction sets of 90 %.

    python -m studies.harm --seeds 5
    python -m studies.harm --only "checkerboard, clean" "logistic, perceived" --rows 200
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ordinoise import OrdinalClassifier, adjacent, corrupt, evaluate, inverse_decay
from ordinoise._validation import Floats, Ints
from ordinoise.noise.items import in_region, near_cuts, perceived

N_TEST = 4000
N_FEATURES = 6
SLOPES = np.array([2.4, 1.8, -1.2, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class World:
    """Features, positions on the scale before it is cut, the cuts and the true grades."""

    features: Floats
    positions: Floats
    cuts: Floats
    labels: Ints

    @property
    def n_classes(self) -> int:
        """Grades that the scale is cut into."""
        return len(self.cuts) + 1


Overlap = Callable[[Floats, np.random.Generator], Floats]
Recording = Callable[[World, np.random.Generator], Ints]


def linear(features: Floats) -> Floats:
    return features @ SLOPES


def logistic(features: Floats, rng: np.random.Generator) -> Floats:
    return linear(features) + rng.logistic(scale=0.5, size=len(features))


def probit(features: Floats, rng: np.random.Generator) -> Floats:
    return linear(features) + rng.normal(size=len(features))


def heavy(features: Floats, rng: np.random.Generator) -> Floats:
    return linear(features) + 0.5 * rng.standard_t(2, size=len(features))


def sharp(features: Floats, rng: np.random.Generator) -> Floats:
    return linear(features) + rng.logistic(scale=0.15, size=len(features))


def heteroscedastic(features: Floats, rng: np.random.Generator) -> Floats:
    return linear(features) + 0.15 * np.exp(1.5 * features[:, 3]) * rng.logistic(size=len(features))


def hidden_causes(features: Floats, rng: np.random.Generator) -> Floats:
    """15 % of the rows are decided by something that the columns do not show."""
    positions = logistic(features, rng)
    return np.where(rng.random(len(positions)) < 0.15, rng.choice(positions, size=len(positions)), positions)


def checkerboard(features: Floats, rng: np.random.Generator) -> Floats:
    """An interaction that no smooth score can follow, over cells too small for the rows."""
    wide = 2 * features
    return (
        linear(features)
        + 2.5 * np.sign(np.sin(4 * wide[:, 3]) * np.sin(4 * wide[:, 4]))
        + rng.logistic(scale=0.2, size=len(wide))
    )


def two_scores(features: Floats, rng: np.random.Generator) -> Floats:
    """Which score counts depends on a feature."""
    other = 1.5 * (features[:, 4] + features[:, 5])
    return np.where(features[:, 3] > 0, linear(features), other) + rng.logistic(scale=0.2, size=len(features))


def clean(world: World, rng: np.random.Generator) -> Ints:  # noqa: ARG001
    return world.labels


def by_matrix(matrix: Callable[[int], Floats]) -> Recording:
    return lambda world, rng: corrupt(world.labels, matrix(world.n_classes), rng)


def by_rows(matrices: Callable[[World, np.random.Generator], Floats]) -> Recording:
    return lambda world, rng: corrupt(world.labels, matrices(world, rng), rng)


def at_random(n_classes: int) -> Floats:
    return np.full((n_classes, n_classes), 1 / n_classes)


def growing(feature: Floats) -> Floats:
    return 0.9 * np.clip(feature + 0.3, 0, None)


CLASS_RATES = np.array([0.22, 0.05, 0.15, 0.2, 0.08])
OVERLAPS: dict[str, Overlap] = {
    "logistic": logistic, "probit": probit, "t2": heavy, "sharp": sharp, "heteroscedastic": heteroscedastic,
    "hidden causes": hidden_causes, "checkerboard": checkerboard, "two scores": two_scores,
}  # fmt: skip
RECORDINGS: dict[str, Recording] = {
    "clean": clean,
    "inverse decay .15": by_matrix(lambda k: inverse_decay(k, 0.15)),
    "inverse decay .06": by_matrix(lambda k: inverse_decay(k, 0.06)),
    "by class": by_matrix(lambda k: inverse_decay(k, np.resize(CLASS_RATES, k))),
    "binary .2 / .1": by_matrix(lambda _: np.array([[0.8, 0.2], [0.1, 0.9]])),
    "adjacent .25 / .08": by_matrix(lambda k: adjacent(k, up=0.25, down=0.08)),
    "one-sided": by_matrix(lambda k: adjacent(k, up=0.25, down=0.0)),
    "spam": by_rows(lambda w, rng: in_region(rng.random(len(w.labels)) < 0.2, at_random(w.n_classes))),
    "perceived": by_rows(lambda w, _: perceived(w.positions, w.cuts, 0.6)),
    "perceived, growing": by_rows(lambda w, _: perceived(w.positions, w.cuts, growing(w.features[:, 4]))),
    "near cuts": by_rows(lambda w, _: near_cuts(w.positions, w.cuts, 0.45, 0.3)),
    "region at random": by_rows(lambda w, _: in_region(w.features[:, 4] > 0.4, inverse_decay(w.n_classes, 0.22))),
    "region too low": by_rows(lambda w, _: in_region(w.features[:, 4] > 0.4, adjacent(w.n_classes, up=0, down=1))),
}  # fmt: skip
SETTINGS: tuple[tuple[str, str, int], ...] = (
    *((overlap, "clean", 5) for overlap in OVERLAPS),
    ("logistic", "clean", 2), ("logistic", "clean", 8),
    ("logistic", "inverse decay .15", 5), ("heteroscedastic", "inverse decay .15", 5),
    ("checkerboard", "inverse decay .15", 5), ("logistic", "inverse decay .06", 8), ("logistic", "by class", 5),
    ("sharp", "by class", 5), ("logistic", "binary .2 / .1", 2), ("logistic", "adjacent .25 / .08", 5),
    ("sharp", "adjacent .25 / .08", 5), ("logistic", "one-sided", 5), ("logistic", "spam", 5),
    ("logistic", "perceived", 5), ("logistic", "perceived, growing", 5), ("logistic", "near cuts", 5),
    ("logistic", "region at random", 5), ("sharp", "region too low", 5),
)  # fmt: skip


OWN = {
    (overlap, recording)
    for overlap in ("logistic", "sharp", "heteroscedastic")
    for recording in ("inverse decay .15", "inverse decay .06", "by class")
}
"""Settings whose noise depends on the grade alone, as the estimate assumes, along one score."""


def world(overlap: str, n_classes: int, n_rows: int, rng: np.random.Generator) -> World:
    features = rng.uniform(-1, 1, size=(n_rows, N_FEATURES))
    positions = OVERLAPS[overlap](features, rng)
    cuts = np.quantile(positions, np.arange(1, n_classes) / n_classes)
    return World(features, positions, cuts, np.digitize(positions, cuts))


WAYS = ("trusting", "corrected", "default")
HELD = ("rate_holds", "score_holds")
UNDETECTABLE = {"hidden causes", "region too low"}
"""Labels decided by what the columns do not show, and a lean that all records of a region share: no data can tell."""


@dataclass(frozen=True)
class Outcome:
    """Of one run: errors on clean test labels, the answer, whether rate and score hold, coverage of the sets.

    `corrected`, for always correcting, is NaN outside `OWN` where the default does not.
    """

    trusting: float
    corrected: float
    default: float
    answer: str
    in_doubt: bool
    rate_holds: bool
    score_holds: bool
    in_sets: float


def outcome(overlap: str, recording: str, n_classes: int, n_rows: int, seed: int) -> Outcome:
    rng = np.random.default_rng([seed, *map(ord, overlap + recording), n_classes])
    whole = world(overlap, n_classes, n_rows + N_TEST, rng)
    recorded, recorded_test = np.split(RECORDINGS[recording](whole, rng), [n_rows])
    train, test, true = whole.features[:n_rows], whole.features[n_rows:], whole.labels[n_rows:]

    def fitted(**options: Any) -> tuple[OrdinalClassifier, float]:
        model = OrdinalClassifier(classes=range(n_classes), n_jobs=1, random_state=seed, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(train, recorded)
        return model, float(np.abs(model.predict(test) - true).mean())

    model, default = fitted()
    noise = model.noise_
    # The same seed gives the same folds and networks, so the default is one of the two others whenever it says so.
    trusting = default if noise.answer == "trusting" else fitted(noise=None)[1]
    is_own = (overlap, recording) in OWN
    corrected = default if noise.answer == "corrected" else fitted(answer="corrected")[1] if is_own else np.nan
    low, high = noise.rate_range or (0.0, 1.0)
    share = float((recorded != whole.labels[:n_rows]).mean())
    some = slice(min(n_rows, N_TEST))
    score = evaluate(model, test[some], recorded_test[some], metrics=["mean_absolute_error"])["mean_absolute_error"]
    clean_error = np.abs(model.predict(test[some]) - true[some]).mean()
    in_sets = model.predict_set(test, confidence=0.9).mask[np.arange(len(true)), true].mean()
    return Outcome(
        trusting, corrected, default, noise.answer, noise.is_in_doubt, bool(low - 1e-9 <= share <= high + 1e-9),
        bool(score.low <= clean_error <= score.high), float(in_sets),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time, each in a process of its own")
    parser.add_argument("--only", nargs="*", help='settings as printed, such as "logistic, perceived"')
    options = parser.parse_args()
    chosen = [one for one in SETTINGS if not options.only or f"{one[0]}, {one[1]}" in options.only]
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    table = Table(title=f"Error on clean test labels, {options.rows} rows, mean of {options.seeds} seeds")
    for column in ("overlap, recording", "grades", *WAYS, "its answers", "rate holds", "score holds", "sets"):
        table.add_column(column, justify="left" if column.startswith("overlap") else "right")
    console, found = Console(width=140), {}
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = {one: [pool.submit(outcome, *one, options.rows, seed) for seed in seeds] for one in chosen}
        for one, jobs in waiting.items():
            runs = found[one] = [job.result() for job in jobs]
            errors = [np.mean([getattr(run, way) for run in runs]) for way in WAYS]
            answers = ", ".join(f"{n} {answer}" for answer, n in Counter(run.answer for run in runs).items())
            holds = [f"{np.mean([getattr(run, one) or run.in_doubt for run in runs]):.0%}" for one in HELD]
            row = [
                f"{one[0]}, {one[1]}",
                str(one[2]),
                *("-" if np.isnan(error) else f"{error:.3f}" for error in errors),
                answers,
                *holds,
                f"{np.mean([run.in_sets for run in runs]):.3f}",
            ]
            table.add_row(*row)
            console.print(" | ".join(row), highlight=False)
    console.print(table)
    show_summary(console, found)


def show_summary(console: Console, found: dict[tuple[str, str, int], list[Outcome]]) -> None:
    worse = {one: np.mean([run.default - run.trusting for run in runs]) for one, runs in found.items()}
    worst = max(worse, key=lambda one: worse[one])
    console.print(
        f"default less trusting: worst {worse[worst]:+.4f} ({worst[0]}, {worst[1]}, {worst[2]} grades), "
        f"mean {np.mean(list(worse.values())):+.4f}"
    )
    own = [run for one, runs in found.items() if one[:2] in OWN for run in runs]
    if own:
        gained = [np.mean([run.trusting - getattr(run, way) for run in own]) for way in ("corrected", "default")]
        console.print(
            f"uniform and class-conditional inverse decay: {gained[1] / gained[0]:.0%} of the gain of always correcting"
            f" is kept; answered corrected in {np.mean([run.answer == 'corrected' for run in own]):.0%} of the runs"
        )
    for left_out, words in (({"hidden causes"}, "hidden causes"), (UNDETECTABLE, "hidden causes and regions too low")):
        seen = [run for one, runs in found.items() if not left_out & set(one[:2]) for run in runs]
        shares = [np.mean([getattr(run, one) or run.in_doubt for run in seen]) for one in HELD]
        console.print(
            f"without {words}: the range of the rate holds or a doubt is raised in {shares[0]:.0%} of the runs, the "
            f"interval of the error in {shares[1]:.0%}"
        )


if __name__ == "__main__":
    main()
