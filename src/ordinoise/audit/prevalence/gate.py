"""May a file pass? Only on an upper end, and it fails only on a lower end; else more rows must tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ordinoise.audit.prevalence.ceiling import upper_share
from ordinoise.estimate import Estimate

MOST_ROWS = 2000
"""A sample that no person verifies: beyond it, "verify all" is as good advice."""


@dataclass(frozen=True)
class Gate:
    """Whether fewer labels are wrong than a limit.

    Attributes
    ----------
    answer : {"passed", "failed", "cannot be told"}
    n_rows : int
        Random rows that would tell, if as many of them are wrong as is now expected, or none where nothing is expected;
        0 where the answer is known, and -1 where fewer rows than `MOST_ROWS` would not tell.
    """

    answer: Literal["passed", "failed", "cannot be told"]
    n_rows: int = 0


def gate(wrong: Estimate, n_rows: int, most_wrong: float, error: float = 0.025) -> Gate:
    """The answer for a number of wrong labels, with its interval or range, among `n_rows`.

    Parameters
    ----------
    wrong : Estimate
        Number of wrong labels.
    n_rows : int
        All labels that a share of is meant.
    most_wrong : float
        The limit, as a share.
    error : float
        Error of each end that a sample would have.
    """
    limit = most_wrong * n_rows
    if wrong.high <= limit:
        return Gate("passed")
    if wrong.low > limit:
        return Gate("failed")
    share = 0.0 if wrong.is_range else wrong.value / max(n_rows, 1)
    return Gate("cannot be told", rows_that_tell(share, most_wrong, error))


def rows_that_tell(share: float, most_wrong: float, error: float = 0.025) -> int:
    """Size of a random sample of which this share is wrong, and whose exact limit is beyond `most_wrong`; -1 if none.

    Examples
    --------
    >>> rows_that_tell(0.0, 0.05), rows_that_tell(0.02, 0.05), rows_that_tell(0.05, 0.05)
    (72, 234, -1)
    """

    def tells(n_rows: int) -> bool:
        if share < most_wrong:
            return upper_share(math.ceil(share * n_rows), n_rows, error) <= most_wrong
        return 1 - upper_share(n_rows - math.floor(share * n_rows), n_rows, error) > most_wrong

    return next((n_rows for n_rows in _sizes() if tells(n_rows)), -1)


def _sizes() -> list[int]:
    """Each size to 100, and steps of a twentieth from there."""
    sizes = list(range(1, 101))
    while sizes[-1] < MOST_ROWS:
        sizes.append(math.ceil(sizes[-1] * 1.05))
    return sizes
