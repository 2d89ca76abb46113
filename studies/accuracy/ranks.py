"""Ranks of the entries over data sets, and how much better one of them is than each other.

The blocks of one set (its noises, its cuts) are not independent: they are averaged first, and the set is the unit of
Friedman's test, of Nemenyi's critical difference, and of the comparisons of `studies.paired`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats, complain
from ordinoise.jobs.store import StoredResult
from studies.accuracy.summary import ERROR, oracle_entries, scores
from studies.paired import Comparison, by_set, compared

ALPHA = 0.05
"""Level of the critical difference, by custom."""

MARGIN = 0.005
"""Differences of mean absolute errors below it count as none: half of the last digit that tables show. Chosen by no
run."""


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of entries by mean absolute error, 1 for the best; averaged within each set, then over sets.

    Attributes
    ----------
    entries : tuple of str
        From the best to the worst.
    mean_ranks : tuple of float
        One per entry; equal errors share a rank.
    n_blocks, n_sets : int
        Number of pairs of a set and a noise, and of sets.
    statistic, p_value : float
        Friedman's test that all entries are equally good, with sets as blocks.
    critical_difference : float
        Nemenyi's: mean ranks that differ by less do not differ significantly at the level `ALPHA`.
    skipped : tuple of str
        Entries without a result on some split of some block.
    """

    entries: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    n_blocks: int
    n_sets: int
    statistic: float
    p_value: float
    critical_difference: float
    skipped: tuple[str, ...]


def mean_ranks(results: Iterable[StoredResult], *, noisy: bool = True) -> Ranks:
    """Ranks of the entries; errors are averaged over the splits first, ranks within sets before they are over sets.

    Entries that are given the noise matrix are not ranked.

    Parameters
    ----------
    results : iterable of StoredResult
        From `run_plan`.
    noisy : bool, default=True
        Whether to rank on noisy or on clean training labels.
    """
    runs, entries, table = _table(results, noisy)
    complete = np.flatnonzero(np.isfinite(table).all(axis=0))
    blocks = list(dict.fromkeys((dataset, noise) for dataset, noise, _ in runs))
    of_run = np.array([blocks.index((dataset, noise)) for dataset, noise, _ in runs], dtype=np.int64)
    means = np.array([table[of_run == block][:, complete].mean(axis=0) for block in range(len(blocks))])
    ranked = [entries[column] for column in complete]
    return _ranks(ranked, means, blocks, tuple(entry for entry in entries if entry not in ranked))


def comparisons(results: Iterable[StoredResult], first: str, *, noisy: bool = True) -> dict[str, Comparison]:
    """How much lower the error of an entry is than that of each other, over the splits that both have results on.

    Parameters
    ----------
    results : iterable of StoredResult
        From `run_plan`.
    first : str
        The entry that is compared with all others.
    noisy : bool, default=True
        Whether to compare on noisy or on clean training labels.

    Returns
    -------
    dict of str to Comparison
        By the name of the other entry, in the order of the results; empty if `first` has no results.
    """
    runs, entries, table = _table(results, noisy)
    if first not in entries:
        return {}
    differences = table - table[:, [entries.index(first)]]
    found = {}
    for entry, column in zip(entries, differences.T, strict=True):
        both = np.flatnonzero(np.isfinite(column))
        if entry != first and len(both):
            found[entry] = compared(by_set([_set_of(runs[at][0]) for at in both], column[both]), MARGIN)
    return found


def _table(results: Iterable[StoredResult], noisy: bool) -> tuple[list[tuple[str, str, int]], list[str], Floats]:
    """Runs (set, noise, split), entries that are not given the matrix, and their errors, NaN where there is none."""
    told = oracle_entries()
    found = [score for score in scores(results) if (score.noise != "none") == noisy and score.entry not in told]
    runs = {run: row for row, run in enumerate(dict.fromkeys(score.run for score in found))}
    entries = {entry: column for column, entry in enumerate(dict.fromkeys(score.entry for score in found))}
    table = np.full((len(runs), len(entries)), np.nan)
    for score in found:
        table[runs[score.run], entries[score.entry]] = score.values[ERROR]
    return list(runs), list(entries), table


def _set_of(dataset: str) -> str:
    """The set without its cut: two cuts of one target are one set."""
    return dataset.partition(",")[0]


def _ranks(entries: Sequence[str], table: Floats, blocks: Sequence[tuple[str, str]], skipped: tuple[str, ...]) -> Ranks:
    from scipy.stats import friedmanchisquare, rankdata

    sets = [_set_of(dataset) for dataset, _ in blocks]
    n_sets, n_entries = len(set(sets)), len(entries)
    if n_entries < 3 or n_sets < 2:
        raise complain("results", "hold 3 entries with 2 sets in common", f"{n_entries} with {n_sets}")
    of_sets = np.column_stack([by_set(sets, column) for column in rankdata(table, axis=1).T])
    means = of_sets.mean(axis=0)
    order = np.argsort(means, kind="stable")
    test = friedmanchisquare(*of_sets.T)
    return Ranks(
        entries=tuple(entries[place] for place in order),
        mean_ranks=tuple(means[order].tolist()),
        n_blocks=len(blocks),
        n_sets=n_sets,
        statistic=float(test.statistic),
        p_value=float(test.pvalue),
        critical_difference=critical_difference(n_entries, n_sets),
        skipped=skipped,
    )


def critical_difference(n_entries: int, n_sets: int, alpha: float = ALPHA) -> float:
    """Smallest significant difference of two mean ranks (Nemenyi).

    ``q sqrt(k (k + 1) / (6 n))`` for k entries and n sets, with q the quantile of the studentized range divided by
    the square root of two.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - alpha, n_entries, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_entries * (n_entries + 1) / (6 * n_sets)))
