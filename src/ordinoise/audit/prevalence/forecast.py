"""What the next rows will hold, by those verified so far."""

from __future__ import annotations

from scipy.stats import betabinom

N_NEXT = 40
"""Rows that a forecast is about."""


def most_of_next(n_verified: int, n_wrong: int, n_next: int = N_NEXT, error: float = 0.025) -> int:
    """The most wrong labels among the next rows, if these are no more suspicious than the rows verified so far.

    The upper point of the beta-binomial distribution with parameters ``n_wrong + 1`` and ``n_verified - n_wrong``: what
    the one-sided limit of Clopper and Pearson says about a share, said about a number of rows.

    Examples
    --------
    >>> most_of_next(10, 0), most_of_next(20, 0), most_of_next(10, 9)
    (13, 7, 40)
    """
    if n_wrong >= n_verified:
        return n_next
    return int(betabinom.isf(error, n_next, n_wrong + 1, n_verified - n_wrong))
