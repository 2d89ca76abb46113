"""Verified samples in the score likelihood: what verifiers, who may err, say about cells and recorded labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp, softmax

from ordinoise._validation import Floats, Ints
from ordinoise.labels import VerifiedRanks

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Counts of verdicts, by verifier, cell, recorded label and verdict.

    Attributes
    ----------
    matrices : array of shape (n_verifiers, K, K)
        Noise of each verifier, ``[true, verdict]``.
    entries : int array of shape (n_entries, 4)
        Verifier, cell, recorded label and verdict of each count.
    counts : array of shape (n_entries,)
    """

    matrices: Floats
    entries: Ints
    counts: Floats

    @property
    def refute_clean(self) -> bool:
        """Whether some verdict is impossible unless a recorded label was wrong."""
        verifier, _, recorded, verdict = self.entries.T
        return bool((self.matrices[verifier, recorded, verdict] == 0).any())

    def log_likelihood(self, log_clean: Floats, log_noise: Floats, log_recorded: Floats) -> float:
        """``sum d[b, r, v] log sum_k S[b, k, r] M[k, v]``."""
        return float(self.counts @ logsumexp(self._log_joint(log_clean, log_noise, log_recorded), axis=1))

    def add_slopes(
        self,
        logs: tuple[Floats, Floats, Floats],
        clean_slopes: Floats,
        noise_slopes: Floats,
        gradient: Floats,
        information: Floats,
    ) -> None:
        """Add the slopes and the expected information of the negative log likelihood, cell by cell.

        A multinomial over verdicts with probabilities ``p_v = sum_k S_k M[k, v]``: its log slopes are those of
        ``log P + log N`` averaged over the true label given the verdict, less their mean under S, and its expected
        information is the number of verified samples times the covariance of these slopes under p. `logs` are those
        of clean curve, noise and recorded labels.
        """
        log_clean, log_noise, log_recorded = logs
        given_verdict = softmax(self._log_joint(*logs), axis=1)
        places, at = np.unique(self.entries[:, :3], axis=0, return_inverse=True)
        for number, (verifier, cell, recorded) in enumerate(places):
            own = at.ravel() == number
            shares = np.exp(log_clean[cell] + log_noise[:, recorded] - log_recorded[cell, recorded])
            slopes = np.hstack([clean_slopes[cell], noise_slopes[:, :, recorded].T])
            slopes -= shares @ slopes
            gradient -= self.counts[own] @ given_verdict[own] @ slopes
            joint = shares[:, None] * self.matrices[verifier]  # [true, verdict]
            by_verdict = joint.T @ slopes / np.sqrt(np.maximum(joint.sum(axis=0), TINY))[:, None]
            information += self.counts[own].sum() * by_verdict.T @ by_verdict

    def _log_joint(self, log_clean: Floats, log_noise: Floats, log_recorded: Floats) -> Floats:
        """``log S[b, k, r] M[k, v]`` of each entry, shape (n_entries, K)."""
        _, cell, recorded, _ = self.entries.T
        log_posterior = log_clean[cell] + log_noise[:, recorded].T - log_recorded[cell, recorded, None]
        return np.asarray(log_posterior + self._log_verdicts)

    @cached_property
    def _log_verdicts(self) -> Floats:
        verifier, _, _, verdict = self.entries.T
        with np.errstate(divide="ignore"):
            return np.log(self.matrices[verifier, :, verdict])


def verdicts_of(verified: VerifiedRanks, recorded: Ints, cells: Ints) -> Verdicts:
    """The verdicts on verified samples, given the cell and the recorded label of every sample."""
    n_verified, n_classes = len(verified.rows), verified.matrices.shape[1]
    flat = verified.matrices.reshape(n_verified, -1)
    found, verifier = np.unique(flat, axis=0, return_inverse=True)
    rows = verified.rows
    each = np.column_stack([verifier.ravel(), cells[rows], recorded[rows], verified.ranks])
    entries, counts = np.unique(each, axis=0, return_counts=True)
    return Verdicts(found.reshape(-1, n_classes, n_classes), entries, counts.astype(np.float64))
