"""Do verified rows contradict an estimate of the number of wrong labels?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from ordinoise._validation import Floats, Ints

UNLIKELY = 0.01
"""Chance, of both tails together, below which verdicts contradict an estimate."""
FARTHEST = 40.0  # a shift of logits beyond which chances do not change
SMALLEST = 1e-12  # keeps the logit of a chance finite


def poisson_binomial(chances: Floats) -> Floats:
    """Distribution of the number of independent events that happen, from the chance of each; shape (n + 1,)."""
    width = max(int(np.ceil(np.sqrt(len(chances)))), 1)
    blocks = np.zeros((-(-len(chances) // width), width))
    blocks.ravel()[: len(chances)] = chances
    found = np.zeros((len(blocks), width + 1))
    found[:, 0] = 1.0
    for chance in blocks.T[:, :, None]:
        found[:, 1:] = found[:, 1:] * (1 - chance) + found[:, :-1] * chance
        found[:, :1] *= 1 - chance
    whole = np.ones(1)
    for part in found:
        whole = np.convolve(whole, part)
    return np.asarray(whole[: len(chances) + 1])


def contradicts(
    chances: Floats, interval: tuple[float, float], rows: Ints, is_wrong: NDArray[np.bool_], error: float = UNLIKELY
) -> bool:
    """Whether the rows found wrong are too many or too few for an estimate, at either end of its interval.

    Given which rows were verified, the number wrong among them is Poisson-binomial under the estimate, however they
    were chosen: by columns, record or score. The estimate claims an interval of the total, so the logits of its chances
    are shifted until they sum to one end, or to the other.

    Parameters
    ----------
    chances : array of shape (n_rows,)
        Chance that each record is wrong under the estimate.
    interval : (float, float)
        Ends of the number of wrong labels that the estimate claims.
    rows : int array of shape (n_verified,)
        Row numbers of verified rows.
    is_wrong : bool array of shape (n_verified,)
        What was found.
    error : float
        Chance of both tails together below which an end is contradicted.
    """
    n_wrong = int(is_wrong.sum())
    tails, expected = [], []
    for total in interval:
        there = _shifted(chances, total)[rows]
        found = poisson_binomial(there)
        expected.append(float(there.sum()))
        tails.append((float(found[: n_wrong + 1].sum()), float(found[n_wrong:].sum())))
    if n_wrong < min(expected):
        return 2 * tails[0][0] < error
    return n_wrong > max(expected) and 2 * tails[1][1] < error


def _shifted(chances: Floats, total: float) -> Floats:
    """The chances with their logits moved by one number, so that they sum to `total`."""
    logits = logit(np.clip(chances, SMALLEST, 1 - SMALLEST))

    def excess(by: float) -> float:
        return float(expit(logits + by).sum()) - total

    ends = -FARTHEST, FARTHEST
    by = ends[0] if excess(ends[0]) >= 0 else ends[1] if excess(ends[1]) <= 0 else brentq(excess, *ends)
    return np.asarray(expit(logits + by))
