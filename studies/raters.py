"""Consensus of crowd workers on web-search grades, compared with gold grades that no method sees.

``python -m studies.raters [--data-dir DIR]``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ordinoise.datasets import RatedDataset, lidc, web_search
from ordinoise.estimation import RepeatedLabels

Ints = NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    console = Console()
    data = web_search(options.data_dir)
    methods: dict[str, Callable[[RatedDataset], Ints]] = {
        "majority": lambda d: voted(d, lambda labels: int(np.bincount(labels).argmax())),
        "median": lambda d: voted(d, lambda labels: int(np.median(labels))),
        "Dawid-Skene (shrinkage=0)": lambda d: repeated(d, 0.0).consensus_,
        "RepeatedLabels()": lambda d: repeated(d, "auto").consensus_,
    }
    table = Table("consensus", "mean absolute error", "0-1 error", "seconds", title="Web search, 2653 items with gold")
    assert data.truth is not None
    known = data.truth >= 0
    for name, method in methods.items():
        start = time.perf_counter()
        distance = np.abs(method(data) - data.truth)[known]
        seconds = time.perf_counter() - start
        table.add_row(name, f"{distance.mean():.3f}", f"{(distance > 0).mean():.3f}", f"{seconds:.1f}")
    console.print(table)
    nodules = lidc(options.data_dir)
    fit = RepeatedLabels(pooled=True, n_bootstrap=20, random_state=0)
    fit.fit(nodules.items, nodules.raters, nodules.labels, X=nodules.features)
    assert fit.noise_.rate_interval is not None
    low, high = fit.noise_.rate_interval
    console.print(
        f"LIDC, {nodules.n_items} nodules with features: noise rate {fit.noise_.rate:.2f} ({low:.2f} to {high:.2f})"
    )
    console.print(fit.noise_.doubt_text)


def voted(data: RatedDataset, vote: Callable[[Ints], int]) -> Ints:
    """One label per item, by a vote of its ratings."""
    order = np.argsort(data.items, kind="stable")
    labels = np.split(data.labels[order], np.flatnonzero(np.diff(data.items[order])) + 1)
    return np.array([vote(of_item) for of_item in labels])


def repeated(data: RatedDataset, shrinkage: float | str) -> RepeatedLabels:
    return RepeatedLabels(classes=range(data.n_classes), shrinkage=shrinkage, n_bootstrap=0, random_state=0).fit(
        data.items, data.raters, data.labels
    )


if __name__ == "__main__":
    main()
