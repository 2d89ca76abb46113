"""Which way labels go wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats
from ordinoise.noise import Noise

# A true grade with a smaller share of the rows is not called the best or the worst; a round number, chosen by no run.
RARE = 0.02


@dataclass(frozen=True, eq=False)
class Directions:
    """Shares of labels that are recorded too low and too high.

    Attributes
    ----------
    prior : array of shape (n_classes,)
        Share of rows of each true grade.
    right, too_low, too_high, far : arrays of shape (n_classes,)
        For each true grade, the shares of its labels that are right, too low, too high, and off by two or more grades.
    wrong : float
        Share of all labels that are wrong.
    low_share, far_share : float
        Shares of the wrong labels that are too low, and that are off by two or more grades; 0 if none is wrong.
    matrix : array of shape (n_classes, n_classes)
        ``[true, recorded]``.
    """

    prior: Floats
    right: Floats
    too_low: Floats
    too_high: Floats
    far: Floats
    wrong: float
    low_share: float
    far_share: float
    matrix: Floats

    @property
    def worst(self) -> int:
        """The true grade that is most often recorded wrong; rare grades are skipped."""
        common = self.prior >= min(RARE, self.prior.max())
        return int(np.where(common, 1 - self.right, -1.0).argmax())

    def confused_with(self, grade: int) -> int:
        """The wrong grade as which a true grade is most often recorded."""
        off = self.matrix[grade].copy()
        off[grade] = -1.0
        return int(off.argmax())


def directions_of(noise: Noise) -> Directions:
    """How often labels are too low and too high, by the noise matrix and the shares of the grades."""
    matrix, prior = noise.matrix, noise.class_shares
    assert prior is not None  # an audit always knows them
    steps = np.arange(len(matrix)) - np.arange(len(matrix))[:, None]
    low, high = (np.where(steps < 0, matrix, 0).sum(axis=1), np.where(steps > 0, matrix, 0).sum(axis=1))
    far = np.where(np.abs(steps) > 1, matrix, 0).sum(axis=1)
    wrong = float(prior @ (low + high))
    share = 1 / wrong if wrong > 0 else 0.0
    return Directions(
        prior, matrix.diagonal(), low, high, far, wrong, share * float(prior @ low), share * float(prior @ far), matrix
    )
