"""Mean ranks of the entries over all problems, with Friedman's test and Nemenyi's critical difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats, complain
from ordinoise.paper.runs.store import StoredResult
from studies.accuracy.summary import ERROR, Line, oracle_entries, summary

ALPHA = 0.05
"""Level of the critical difference, by custom."""


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of entries by mean absolute error over blocks, 1 for the best.

    Attributes
    ----------
    entries : tuple of str
        From the best to the worst.
    mean_ranks : tuple of float
        One per entry; equal errors share a rank.
    n_blocks : int
        Number of pairs of a set and a noise.
    statistic, p_value : float
        Friedman's test that all entries are equally good.
    critical_difference : float
        Nemenyi's: mean ranks that differ by less do not differ significantly at the level `ALPHA`.
    skipped : tuple of str
        Entries without a result on some block.
    """

    entries: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    n_blocks: int
    statistic: float
    p_value: float
    critical_difference: float
    skipped: tuple[str, ...]


def mean_ranks(results: Iterable[StoredResult], *, noisy: bool = True) -> Ranks:
    """Ranks of the entries, averaged over all blocks; in each block, errors are averaged over the splits first.

    Entries that are given the noise matrix are not ranked. The noises of one set are not independent, as the test
    assumes: take the critical difference as a guide.

    Parameters
    ----------
    results : iterable of StoredResult
        From `run_plan`.
    noisy : bool, default=True
        Whether to rank on noisy or on clean training labels.
    """
    lines = [line for line in summary(results) if (line.noise != "none") == noisy]
    entries = [entry for entry in dict.fromkeys(line.entry for line in lines) if entry not in oracle_entries()]
    table = _table(lines, entries)
    complete = np.flatnonzero(np.isfinite(table).all(axis=0))
    ranked = [entries[column] for column in complete]
    return _ranks(ranked, table[:, complete], tuple(entry for entry in entries if entry not in ranked))


def _table(lines: Sequence[Line], entries: Sequence[str]) -> Floats:
    """Mean errors of shape (n_blocks, n_entries), NaN where there is none."""
    blocks = list(dict.fromkeys(line.block for line in lines))
    table = np.full((len(blocks), len(entries)), np.nan)
    for line in lines:
        if line.entry in entries:
            table[blocks.index(line.block), entries.index(line.entry)] = line.means[ERROR]
    return table


def _ranks(entries: Sequence[str], table: Floats, skipped: tuple[str, ...]) -> Ranks:
    from scipy.stats import friedmanchisquare, rankdata

    n_blocks, n_entries = table.shape
    if n_entries < 3 or n_blocks < 2:
        raise complain("results", "hold 3 entries with 2 blocks in common", f"{n_entries} with {n_blocks}")
    means = rankdata(table, axis=1).mean(axis=0)
    order = np.argsort(means, kind="stable")
    test = friedmanchisquare(*table.T)
    return Ranks(
        entries=tuple(entries[place] for place in order),
        mean_ranks=tuple(means[order].tolist()),
        n_blocks=n_blocks,
        statistic=float(test.statistic),
        p_value=float(test.pvalue),
        critical_difference=critical_difference(n_entries, n_blocks),
        skipped=skipped,
    )


def critical_difference(n_entries: int, n_blocks: int, alpha: float = ALPHA) -> float:
    """Smallest significant difference of two mean ranks (Nemenyi).

    ``q sqrt(k (k + 1) / (6 n))`` for k entries and n blocks, with q the quantile of the studentized range divided by
    the square root of two.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - alpha, n_entries, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_entries * (n_entries + 1) / (6 * n_blocks)))
