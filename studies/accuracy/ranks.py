"""Who is ahead over all problems: mean ranks, and which differences of them chance could explain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats, as_choice, as_number, complain
from ordinoise.paper.runs.store import StoredResult
from studies.accuracy.summary import GREATER_IS_BETTER, METRICS, Line, summary, told_entries


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of entries over blocks, 1 for the best.

    Attributes
    ----------
    metric : str
        What the ranks are of.
    entries : tuple of str
        From the best to the worst.
    mean_ranks : tuple of float
        Over the blocks, equal values sharing a rank.
    n_blocks : int
        Pairs of a set and a noise.
    statistic, p_value : float
        Friedman's test that all are equally good.
    critical_difference : float
        Nemenyi's: mean ranks that differ by less do not differ with confidence ``1 - alpha``.
    alpha : float
    left_out : tuple of str
        Entries that lack some block, or the metric.
    """

    metric: str
    entries: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    n_blocks: int
    statistic: float
    p_value: float
    critical_difference: float
    alpha: float
    left_out: tuple[str, ...]


def mean_ranks(
    results: Iterable[StoredResult],
    metric: str = "mean_absolute_error",
    *,
    noisy: bool = True,
    with_told: bool = False,
    entries: Iterable[str] | None = None,
    alpha: float = 0.05,
) -> Ranks:
    """Ranks of the entries, averaged over all sets and noises; each is a block, its scores averaged over splits first.

    The noises of one set are not independent of each other, as the test would have it: the critical difference is a
    guide.

    Parameters
    ----------
    results : iterable of StoredResult
        What `run_plan` gave.
    metric : str
        One of `METRICS`.
    noisy : bool, default=True
        Blocks with noise in the labels, or those without.
    with_told : bool, default=False
        Whether entries take part that are told the noise matrix, which nobody knows in practice.
    entries : iterable of str, optional
        Only these.
    alpha : float, default=0.05
        Of the critical difference.

    Returns
    -------
    Ranks
    """
    as_choice("metric", metric, METRICS)
    alpha = as_number("alpha", alpha, 0.0, 1.0, open_low=True)
    lines = [line for line in summary(results) if (line.noise != "none") == noisy]
    known = list(dict.fromkeys(line.entry for line in lines))
    wanted = [entry for entry in known if with_told or entry not in told_entries()]
    if entries is not None:
        wanted = [as_choice("entries", entry, known) for entry in entries]
    table = _table(lines, wanted, metric)
    complete = np.flatnonzero(np.isfinite(table).all(axis=0))
    present = [wanted[place] for place in complete]
    absent = tuple(entry for entry in wanted if entry not in present)
    return _ranked(metric, present, table[:, complete], alpha, absent)


def _table(lines: Sequence[Line], entries: Sequence[str], metric: str) -> Floats:
    """The metric's means, shape (n_blocks, n_entries), smaller better; NaN where there is none."""
    blocks = list(dict.fromkeys(line.block for line in lines))
    table = np.full((len(blocks), len(entries)), np.nan)
    for line in lines:
        if line.entry in entries:
            table[blocks.index(line.block), entries.index(line.entry)] = line.means[metric]
    return -table if GREATER_IS_BETTER[metric] else table


def _ranked(metric: str, entries: Sequence[str], table: Floats, alpha: float, left_out: tuple[str, ...]) -> Ranks:
    from scipy.stats import friedmanchisquare, rankdata

    n_blocks, n_entries = table.shape
    if n_entries < 3 or n_blocks < 2:
        raise complain("results", "hold 3 entries with 2 blocks in common", f"{n_entries} with {n_blocks}")
    means = rankdata(table, axis=1).mean(axis=0)
    order = np.argsort(means, kind="stable")
    test = friedmanchisquare(*table.T)
    return Ranks(
        metric=metric,
        entries=tuple(entries[place] for place in order),
        mean_ranks=tuple(means[order].tolist()),
        n_blocks=n_blocks,
        statistic=float(test.statistic),
        p_value=float(test.pvalue),
        critical_difference=critical_difference(n_entries, n_blocks, alpha),
        alpha=alpha,
        left_out=left_out,
    )


def critical_difference(n_entries: int, n_blocks: int, alpha: float = 0.05) -> float:
    """By how much mean ranks must differ to differ for good (Nemenyi).

    ``q sqrt(k (k + 1) / (6 n))`` for k entries and n blocks, with q the quantile of the studentized range over the
    root of two.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - alpha, n_entries, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_entries * (n_entries + 1) / (6 * n_blocks)))
