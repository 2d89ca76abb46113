"""Rows per update of a network, and the average of its weights over epochs."""

from __future__ import annotations

SMALLEST_BATCH, LARGEST_BATCH, ROWS_PER_BATCH_ROW = 16, 256, 1000
"""Automatic batch size: 16 is the paper's; the growth and the largest are round numbers, chosen by no run."""


def automatic_batch_size(n_rows: int) -> int:
    """Rows per update: one per 1000 training rows, at least 16 and at most 256."""
    return min(LARGEST_BATCH, max(SMALLEST_BATCH, n_rows // ROWS_PER_BATCH_ROW))


def average_weight(epoch: int) -> float:
    """Weight with which the weights after `epoch` (from 1) enter their running average: 4 / (epoch + 3).

    Shamir and Zhang's average (2013, arXiv 1212.1824) with eta = 3: about the last quarter of the epochs, however
    many there are. `python -m studies.networks bound` prints the errors with and without it.
    """
    return 4 / (epoch + 3)
