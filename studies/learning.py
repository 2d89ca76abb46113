"""Learning from several ratings per item: the default beside trusting every rating, on test items with a truth.

Amazon snippets and tweets (five random ratings per text, without names; the truth is the cut mean of all; 100
components of TF-IDF n-grams), LIDC nodules (all readers, without names; the truth is the median of three readers or
more; scans are kept together), and simulated raters of both kinds, with names. A third of the items is the test set.

    python -m studies.learning [SET ...] --data-dir DIR [--seeds 3]
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ordinoise import OrdinalClassifier
from ordinoise._validation import Floats, Ints
from ordinoise.datasets import lidc
from studies.raters import as_grades, rows_of, voted
from studies.real import components
from studies.simulated_raters import class_conditional, features_of, perceived

N_SIMULATED, N_RATERS, SPAMMERS = 1500, 40, 0.15


@dataclass(frozen=True, eq=False)
class Rated:
    """Features of items, their ratings as rows, groups of items if they have any; test items with their truth."""

    features: Floats
    items: Ints
    raters: Ints | None
    labels: Ints
    test_features: Floats
    truth: Floats
    groups: Ints | None = None


def texts(data_dir: Path, name: str, seed: int) -> Rated:
    rng = np.random.default_rng([seed, *map(ord, name)])
    rows = rows_of(data_dir / "text" / f"{name}.csv.gz")
    ratings = [np.array([float(one) for one in row["ratings"].split()]) for row in rows]
    five = np.array([as_grades(rng.choice(each, 5, replace=False)) for each in ratings])
    truth = as_grades(np.array([each.mean() for each in ratings])).astype(np.float64)
    test, train = thirds(len(rows), rng)
    learned, unseen = components([rows[i]["text"] for i in train], [rows[i]["text"] for i in test], seed)
    return Rated(learned, np.repeat(np.arange(len(train)), 5), None, five[train].ravel(), unseen, truth[test])


def nodules(data_dir: Path, _: str, seed: int) -> Rated:
    data = lidc(data_dir)
    assert data.features is not None
    assert data.groups is not None
    scans, group_of = np.unique(data.groups, return_inverse=True)
    test_scans, _train = thirds(len(scans), np.random.default_rng(seed))
    is_test = np.isin(group_of, test_scans)
    medians = voted(data.items, 2 * data.labels, lambda each: int(np.median(each))) / 2
    test = np.flatnonzero(is_test & (np.bincount(data.items) > 2))
    kept = ~is_test[data.items]
    train, items = np.unique(data.items[kept], return_inverse=True)
    features = np.asarray(data.features, dtype=np.float64)
    return Rated(features[train], items, None, data.labels[kept], features[test], medians[test], group_of[train])


def simulated(_: Path, name: str, seed: int) -> Rated:
    draw = {"one matrix per rater": class_conditional, "perception": perceived}[name]
    drawn = draw(seed, N_SIMULATED, N_RATERS, SPAMMERS)
    features = features_of(drawn, seed)
    test, train = thirds(N_SIMULATED, np.random.default_rng(seed))
    place = np.full(N_SIMULATED, -1)
    place[train] = np.arange(len(train))
    kept = place[drawn.items] >= 0
    return Rated(
        features[train], place[drawn.items[kept]], drawn.raters[kept], drawn.labels[kept], features[test],
        drawn.truth[test].astype(np.float64),
    )  # fmt: skip


def thirds(n_items: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """A random third and the others."""
    order = rng.permutation(n_items)
    return order[: n_items // 3], order[n_items // 3 :]


SETS: dict[str, Callable[[Path, str, int], Rated]] = {
    "amazon_snippets": texts,
    "tweets": texts,
    "lidc": nodules,
    "one matrix per rater": simulated,
    "perception": simulated,
}


def outcome(data: Rated, seed: int) -> tuple[float, float, str]:
    """Test error of trusting every rating and of the default, and its answer."""
    errors, answer = [], ""
    groups = None if data.groups is None else data.groups[data.items]
    for noise in (None, "estimate"):
        model = OrdinalClassifier(noise=noise, classes=range(5), n_jobs=1, random_state=seed)
        raters = None if noise is None else data.raters
        model.fit(data.features[data.items], data.labels, raters=raters, items=data.items, groups=groups)
        errors.append(float(np.abs(model.predict(data.test_features) - data.truth).mean()))
        answer = model.noise_.answer
    return errors[0], errors[1], answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    console, table = Console(width=100), Table("set", "every rating trusted", "default", "difference", "answers")
    for name in options.sets:
        runs = []
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            runs.append(outcome(SETS[name](Path(options.data_dir), name, seed), seed))
            console.print(name, seed, *runs[-1])
        trusting, default = (float(np.mean([run[column] for run in runs])) for column in (0, 1))
        answers = " ".join(run[2] for run in runs)
        table.add_row(name, f"{trusting:.4f}", f"{default:.4f}", f"{default - trusting:+.4f}", answers)
    console.print(table)


if __name__ == "__main__":
    main()
