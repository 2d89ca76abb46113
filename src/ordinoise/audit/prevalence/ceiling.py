"""The most wrong labels: by the records that differ from their prediction, and by rows that people chose to verify."""

from __future__ import annotations

from scipy.stats import beta

from ordinoise._validation import Ints
from ordinoise.audit.prevalence.verdicts import Tally


def upper_share(n_found: float, n_rows: float, error: float = 0.025) -> float:
    """Upper limit of a share, one-sided (Clopper and Pearson); of effective numbers too, which need not be whole."""
    return 1.0 if n_found >= n_rows else float(beta.isf(error, n_found + 1, n_rows - n_found))


def most_unlike(n_unlike: Ints, n_rows: int, error: float = 0.025, design_effect: float = 1.0) -> float:
    """Upper limit of the number of wrong labels, by the records that differ from the predicted grade.

    If no grade is recorded as another one more often than as itself, row by row, then ``P(wrong | x) <= 1 - max_r P(r |
    x)``, and a prediction by any learner differs from the records at least that often. Where the middle grade is the
    true one, and not the most likely, the share that differs from it is the limit; so it is the larger of both.

    Parameters
    ----------
    n_unlike : int array of shape (2,)
        Rows whose record differs from the most likely grade, and from the middle one: sums over parts.
    n_rows : int
        All rows that these are counted among.
    error, design_effect : float
        As in :func:`ordinoise.audit.prevalence.floor.fewest_wrong`.
    """
    largest = float(n_unlike.max())
    return n_rows * upper_share(largest / design_effect, n_rows / design_effect, error)


def most_by_chosen(n_rest: int, chosen: Tally, error: float = 0.025, design_effect: float = 1.0) -> float:
    """Upper limit of the number of wrong labels among the rest, by rows that are wrong no less often than these.

    The binomial limit holds for rows of unequal chances too (Hoeffding, 1956). Open rows count as wrong. Of the wrong
    rows a reviewer calls right a share `slip_rate` at most.
    """
    n_wrong = (chosen.n_wrong + chosen.n_open) / design_effect
    share = upper_share(n_wrong, chosen.n_rows / design_effect, error)
    return n_rest * min(share / (1 - chosen.slip_rate), 1.0)
