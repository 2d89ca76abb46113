"""Consensus of several raters, compared with gold grades or the mean of many raters, which no method sees.

``python -m studies.raters [PART ...] [--data-dir DIR]``, parts web, lidc, text, trusted, simulated and speed. Only by
name: dependence, panels of raters who copy or share errors, and hidden, sparse raters against ratings kept back.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ordinoise.datasets import lidc, web_search
from ordinoise.estimation import RepeatedLabels
from ordinoise.scoring.agreement import agreement
from studies.real import components
from studies.simulated_raters import class_conditional, panel, perceived

Ints = NDArray[np.int64]
CUTS = np.array([-2.5, -0.5, 0.5, 2.5])
"""Cuts of the valence -4..4 into five grades, as the README of the data names them."""
SEEDS, TEXT_DRAWS = range(5), range(40, 50)
TEXT_COLUMNS = ("median wrong", "RepeatedLabels() wrong", "claimed - right", "with features wrong", "claimed - right")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS)[:6])
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in options.parts:
        PARTS[part](Console(width=120), options.data_dir)


def web(console: Console, data_dir: str | None) -> None:
    """Web search with gold, five seeds of the hidden ratings."""
    data = web_search(data_dir)
    assert data.truth is not None
    table = scores_table("Web search, 2653 items with gold")
    add_row(table, "majority", voted(data.items, data.labels, lambda each: int(np.bincount(each).argmax())), data.truth)
    add_row(table, "median", medians(data.items, data.labels), data.truth)
    for family in ("matrices", "perception"):
        fit = repeated(0, family=family).fit(data.items, data.raters, data.labels)
        add_row(table, f"RepeatedLabels(family={family!r})", fit.consensus_, data.truth, fit.confidence_)
    for seed in SEEDS:
        start = time.perf_counter()
        fit = repeated(seed).fit(data.items, data.raters, data.labels)
        name = f"RepeatedLabels(), seed {seed}, weight of matrices {fit.family_weights_['matrices']:.2f}"
        add_row(table, name, fit.consensus_, data.truth, fit.confidence_, time.perf_counter() - start)
    console.print(table)
    console.print(str(agreement(data.items, data.raters, data.labels, random_state=0)), highlight=False)


def trusted(console: Console, data_dir: str | None) -> None:
    """Web search with some verified grades, scored on the others."""
    data = web_search(data_dir)
    assert data.truth is not None
    table = scores_table("Web search with verified grades, scored on the other items (mean of three draws)")
    for n_trusted in (0, 50, 150):
        rows = []
        for seed in range(3):
            known = np.flatnonzero(data.truth >= 0)
            drawn = np.random.default_rng(seed).choice(known, 150, replace=False)
            pair = (drawn[:n_trusted], data.truth[drawn[:n_trusted]]) if n_trusted else None
            fit = repeated(seed).fit(data.items, data.raters, data.labels, trusted=pair)
            rows.append(scores(fit.consensus_, np.where(np.isin(fit.items_, drawn), -1, data.truth), fit.confidence_))
        table.add_row(f"{n_trusted} verified", *(f"{value:.3f}" for value in np.mean(rows, axis=0)), "")
    console.print(table)


def nodules(console: Console, data_dir: str | None) -> None:
    """LIDC without names: are unanimous readers contradicted, is the range left?"""
    data = lidc(data_dir)
    for name, features in (("without features", None), ("with features", data.features)):
        fit = repeated(0).fit(data.items, None, data.labels, X=features)
        low, high = extremes(data.items, data.labels)
        outside = (fit.consensus_ < low) | (fit.consensus_ > high)
        unanimous = (low == high) & (np.bincount(data.items) > 1)
        console.print(
            f"LIDC, {data.n_items} nodules {name}: {(unanimous & (fit.consensus_ != low)).sum()} of {unanimous.sum()} "
            f"unanimous items contradicted, {outside.sum()} outside the range, noise rate {fit.noise_.rate:.2f}"
        )
        console.print(f"  doubts: {fit.noise_.doubt_codes}")
    console.print(str(agreement(data.items, None, data.labels, random_state=0)), highlight=False)


def text(console: Console, data_dir: str | None) -> None:
    """Five random ratings per text without names, against the mean of all its ratings; draws not looked at before."""
    folder = Path(data_dir or os.environ["ORDINOISE_DATA"])
    for name in ("amazon_snippets", "tweets"):
        path = folder / "text" / f"{name}.csv.gz"
        sentences = [row["text"] for row in rows_of(path)]
        features, _ = components(sentences, sentences[:1], 0)
        table = Table("draw", *TEXT_COLUMNS, title=f"{name}: five ratings per text, against the cut mean of all")
        runs = []
        for seed in TEXT_DRAWS:
            items, labels, truth = five_of_all(path, seed)
            run = [scores(medians(items, labels), truth, None)[0]]
            for given in (None, features):
                fit = repeated(seed).fit(items, None, labels, X=given)
                wrong, _, _, off = scores(fit.consensus_, truth, fit.confidence_)
                run += [wrong, off]
            runs.append(run)
            table.add_row(str(seed), *(f"{value:.4f}" for value in run))
        table.add_row("mean", *(f"{value:.4f}" for value in np.mean(runs, axis=0)))
        console.print(table)


def simulated(console: Console, _: str | None) -> None:
    """Raters of both kinds, seeds that were not used to settle the design."""
    for name, draw in (("class-conditional", class_conditional), ("perception", perceived)):
        for n_items, n_raters, spammers in ((1500, 80, 0.15), (400, 25, 0.15), (1000, 10, 0.0)):
            table = scores_table(f"{name}: {n_items} items, {n_raters} raters, {spammers:.0%} of them guess (6 seeds)")
            rows = []
            for seed in range(100, 106):
                drawn = draw(seed, n_items, n_raters, spammers)
                fit = repeated(seed).fit(drawn.items, drawn.raters, drawn.labels)
                rows.append(
                    [
                        scores(medians(drawn.items, drawn.labels), drawn.truth, None),
                        scores(fit.consensus_, drawn.truth, fit.confidence_),
                        [fit.family_weights_["matrices"]] * 4,
                    ]
                )
            means = np.mean(rows, axis=0)
            for method, values in zip(("median", "RepeatedLabels()"), means[:2], strict=True):
                table.add_row(method, *(f"{value:.3f}" for value in values), "")
            table.caption = f"mean weight of the matrices {means[2][0]:.2f}"
            console.print(table)


def speed(console: Console, _: str | None) -> None:
    """100,000 grades of 1,000 raters, with the intervals."""
    drawn = class_conditional(0, 20_000, 1000, 0.15)
    start, cpu, ticks = time.perf_counter(), time.process_time(), []
    fit = repeated(0, n_bootstrap=100, callback=lambda: ticks.append(1)).fit(drawn.items, drawn.raters, drawn.labels)
    console.print(
        f"{len(drawn.items)} grades of {len(fit.raters_)} raters: {time.perf_counter() - start:.1f} s "
        f"({time.process_time() - cpu:.1f} s of processor time), {len(ticks)} steps reported; "
        f"wrong {(fit.consensus_ != drawn.truth).mean():.3f}, "
        f"median {(medians(drawn.items, drawn.labels) != drawn.truth).mean():.3f}"
    )


PANELS: dict[str, dict[str, Any]] = {
    "3 sound and 10 copies of a poor one": {"groups": ((3, 0.25), (10, 1.3)), "slips": 0.0},
    "3 and 10 near copies": {"groups": ((3, 0.25), (10, 1.3)), "slips": 0.15},
    "3 and 4 near copies": {"groups": ((3, 0.25), (4, 1.3)), "slips": 0.15},
    "10 and 3 near copies": {"groups": ((10, 0.25), (3, 1.3)), "slips": 0.15},
    "6 and 6 near copies": {"groups": ((6, 0.25), (6, 1.3)), "slips": 0.15},
    "3 and 10 near copies, a fifth at random": {
        "groups": ((3, 0.25), (10, 1.3)), "slips": 0.15, "at_random": 0.2
    },
    "three groups with errors of their own": {"groups": ((4, 0.3), (4, 0.3), (4, 0.3)), "shared": 0.7},
    "two such groups": {"groups": ((4, 0.3), (6, 0.3)), "shared": 0.9},
    "8 independent": {"groups": ((8, 0.6),)},
    "8 independent, a fifth at random": {"groups": ((8, 0.6),), "at_random": 0.2},
    "8 independent, items of unequal difficulty": {"groups": ((8, 0.6),), "spread": 0.7},
}  # fmt: skip
PANEL_SEEDS = range(500, 503)
"""Settings were looked at with seeds 0 to 2 only."""


def dependence(console: Console, _: str | None) -> None:
    """600 items that everybody grades: share wrong of the best vote and of the consensus, claimed, groups, time."""
    columns = ("wrong: median", "rounded mean", "consensus", "claimed", "claimed - right", "groups", "seconds")
    table = Table("panel", *columns, title=f"Raters who depend on each other, {len(PANEL_SEEDS)} draws each")
    for name, settings in PANELS.items():
        rows = [_panel_row(seed, settings) for seed in PANEL_SEEDS]
        groups = {" + ".join(map(str, row[1])) or "-" for row in rows}
        values = np.mean([row[0] for row in rows], axis=0)
        shown = [f"{value:.3f}" for value in values]
        table.add_row(name, *shown[:-1], "; ".join(sorted(groups)), shown[-1])
    console.print(table)


def _panel_row(seed: int, settings: dict[str, Any]) -> tuple[list[float], list[int]]:
    drawn = panel(seed, 600, **settings)
    start = time.process_time()
    fit = repeated(seed).fit(drawn.items, drawn.raters, drawn.labels)
    seconds = time.process_time() - start
    lower = voted(drawn.items, drawn.labels, lambda each: int(np.sort(each)[(len(each) - 1) // 2]))
    mean = voted(drawn.items, drawn.labels, lambda each: int(np.floor(each.mean() + 0.5)))
    wrong = [float((each != drawn.truth).mean()) for each in (lower, mean, fit.consensus_)]
    claimed = float(fit.confidence_.mean())
    return [*wrong, claimed, claimed - 1 + wrong[-1], seconds], [len(group) for group in fit.rater_groups_]


HIDDEN = (("csc_sarcasm_grades", 3, None), ("vcc2018_listeners", 2, 2500))
"""File, ratings used per item, most items."""


def hidden(console: Console, data_dir: str | None) -> None:
    """Mean distance of the consensus of a few ratings per item from the ratings of it that were kept back."""
    table = Table(
        "set", "lower median", "rounded mean", "consensus", "claimed", "weight of types", title="Sparse raters"
    )
    for name, n_used, most in HIDDEN:
        path = Path(data_dir or os.environ["ORDINOISE_DATA"]) / "raters" / f"{name}.csv.gz"
        rows = [_hidden_row(path, n_used, most, seed) for seed in range(2)]
        table.add_row(f"{name}, {n_used} used", *(f"{value:.3f}" for value in np.mean(rows, axis=0)))
    console.print(table)


def _hidden_row(path: Path, n_used: int, most: int | None, seed: int) -> list[float]:
    rows, rng = rows_of(path), np.random.default_rng(seed)
    items = np.unique([row["item"] for row in rows], return_inverse=True)[1]
    raters, grades = np.array([row["rater"] for row in rows]), np.array([int(float(row["grade"])) for row in rows])
    several = np.flatnonzero(np.bincount(items) > n_used)
    chosen = several if most is None else rng.choice(several, most, replace=False)
    order = np.lexsort((rng.random(len(items)), items))
    order = order[np.isin(items[order], chosen)]
    items, raters, grades = np.unique(items[order], return_inverse=True)[1], raters[order], grades[order]
    number = np.bincount(items)
    used = np.arange(len(items)) - np.repeat(number.cumsum() - number, number) < n_used
    fit = repeated(seed, classes=sorted(set(grades.tolist()))).fit(items[used], raters[used], grades[used])
    lower = voted(items[used], grades[used], lambda each: int(np.sort(each)[(len(each) - 1) // 2]))
    mean = voted(items[used], grades[used], lambda each: int(np.floor(each.mean() + 0.5)))
    off = [float(np.abs(each[items] - grades)[~used].mean()) for each in (lower, mean, fit.consensus_)]
    return [*off, float(fit.confidence_.mean()), fit.family_weights_["types"]]


PARTS: dict[str, Callable[[Console, str | None], None]] = {
    "web": web, "lidc": nodules, "text": text, "trusted": trusted, "simulated": simulated, "speed": speed,
    "dependence": dependence, "hidden": hidden,
}  # fmt: skip


def repeated(seed: int, **settings: object) -> RepeatedLabels:
    return RepeatedLabels(**{"classes": range(5), "n_bootstrap": 0, "random_state": seed, **settings})  # type: ignore[arg-type]


def scores_table(title: str) -> Table:
    return Table("consensus", "wrong", "distance", "claimed", "claimed - right", "seconds", title=title)


def scores(consensus: Ints, truth: Ints, confidence: NDArray[np.float64] | None) -> list[float]:
    known = truth >= 0
    distance = np.abs(consensus - truth)[known]
    claimed = np.nan if confidence is None else float(confidence[known].mean())
    return [float((distance > 0).mean()), float(distance.mean()), claimed, claimed - float((distance == 0).mean())]


def add_row(
    table: Table,
    name: str,
    consensus: Ints,
    truth: Ints,
    confidence: NDArray[np.float64] | None = None,
    seconds: float = np.nan,
) -> None:
    table.add_row(name, *(f"{value:.3f}" for value in scores(consensus, truth, confidence)), f"{seconds:.1f}")


def voted(items: Ints, labels: Ints, vote: Callable[[Ints], int]) -> Ints:
    """One label per item, by a vote of its ratings."""
    order = np.argsort(items, kind="stable")
    of_items = np.split(labels[order], np.flatnonzero(np.diff(items[order])) + 1)
    return np.array([vote(of_item) for of_item in of_items])


def medians(items: Ints, labels: Ints) -> Ints:
    return voted(items, labels, lambda each: int(np.median(each)))


def extremes(items: Ints, labels: Ints) -> tuple[Ints, Ints]:
    return voted(items, labels, lambda each: int(each.min())), voted(items, labels, lambda each: int(each.max()))


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a compressed CSV file."""
    with gzip.open(path, "rt", newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def five_of_all(path: Path, seed: int) -> tuple[Ints, Ints, Ints]:
    """Items and grades of five random ratings per text, and the grade of the mean of all of its ratings."""
    ratings = [np.array([float(one) for one in row["ratings"].split()]) for row in rows_of(path)]
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([rng.choice(each, 5, replace=False) for each in ratings])
    truth = np.array([each.mean() for each in ratings])
    return np.repeat(np.arange(len(ratings)), 5), as_grades(drawn), as_grades(truth)


def as_grades(valence: NDArray[np.float64]) -> Ints:
    return np.searchsorted(CUTS, valence)


if __name__ == "__main__":
    main()
