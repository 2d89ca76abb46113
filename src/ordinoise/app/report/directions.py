"""Which way labels go wrong: the noise matrix summed up by grade and by direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats
from ordinoise.app.record import NoiseFindings

RARE = 0.02


@dataclass(frozen=True, eq=False)
class Directions:
    """Shares of labels recorded too low and too high.

    Attributes
    ----------
    prior : array of shape (n_classes,)
        How common each true grade is.
    right, too_low, too_high, far : arrays of shape (n_classes,)
        Of the labels of each true grade, the share that is right, too low, too high, and two grades off or more.
    wrong : float
        Share of all labels that are wrong.
    low_share, far_share : float
        Of the wrong labels, the share that is too low, and that is two grades off or more; 0 where none is wrong.
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
        """The true grade that is most often recorded wrong, among those that are not rare."""
        common = self.prior >= min(RARE, self.prior.max())
        return int(np.where(common, 1 - self.right, -1.0).argmax())

    def taken_for(self, grade: int) -> int:
        """The wrong grade that a true one is most often recorded as."""
        off = self.matrix[grade].copy()
        off[grade] = -1.0
        return int(off.argmax())


def directions_of(noise: NoiseFindings) -> Directions:
    """The directions of a noise matrix, for its class frequencies."""
    matrix, prior = np.array(noise.matrix), np.array(noise.class_prior)
    steps = np.arange(len(matrix)) - np.arange(len(matrix))[:, None]
    low, high = (np.where(steps < 0, matrix, 0).sum(axis=1), np.where(steps > 0, matrix, 0).sum(axis=1))
    far = np.where(np.abs(steps) > 1, matrix, 0).sum(axis=1)
    wrong = float(prior @ (low + high))
    share = 1 / wrong if wrong > 0 else 0.0
    return Directions(
        prior, matrix.diagonal(), low, high, far, wrong, share * float(prior @ low), share * float(prior @ far), matrix
    )
