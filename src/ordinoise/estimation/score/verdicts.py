"""Verified samples in the score likelihood: what verifiers, who may err, say about cells and recorded labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp, softmax

from ordinoise._validation import Floats, Ints
from ordinoise.labels import Verified

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Counts of verdicts, by verifier, cell, recorded label and verdict.

    Not `Verified`, because the likelihood needs only these counts, not the rows.

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
        (verifier, cell, recorded), at, sizes = self._places
        seen = np.zeros((len(cell), log_clean.shape[1]))  # [place, true]: expected counts given the verdicts
        np.add.at(seen, at, self.counts[:, None] * softmax(self._log_joint(*logs), axis=1))
        shares = np.exp(log_clean[cell] + log_noise[:, recorded].T - log_recorded[cell, recorded, None])
        slopes = np.concatenate(
            [clean_slopes[cell], noise_slopes[:, :, recorded].T], axis=2
        )  # [place, true, parameter]
        slopes -= shares[:, None] @ slopes
        gradient -= seen.ravel() @ slopes.reshape(seen.size, -1)
        joint = (shares[:, :, None] * self.matrices[verifier]).transpose(0, 2, 1)  # [place, verdict, true]
        scale = np.sqrt(sizes)[:, None] / np.sqrt(np.maximum(joint.sum(axis=2), TINY))
        by_verdict = (joint @ slopes * scale[:, :, None]).reshape(-1, slopes.shape[2])
        information += by_verdict.T @ by_verdict

    @cached_property
    def _places(self) -> tuple[Ints, Ints, Floats]:
        """Verifier, cell and record of each place with verdicts; the place of each entry; verdicts at each place."""
        places, at = np.unique(self.entries[:, :3], axis=0, return_inverse=True)
        return places.T, at.ravel(), np.asarray(np.bincount(at.ravel(), self.counts), dtype=np.float64)

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


def verdicts_of(verified: Verified, recorded: Ints, cells: Ints, weight: float = 1.0) -> Verdicts:
    """The verdicts on verified samples, each of this weight, given the cell and the recorded label of every sample."""
    n_verified, n_classes = len(verified.rows), verified.noise.shape[1]
    flat = verified.noise.reshape(n_verified, -1)
    found, verifier = np.unique(flat, axis=0, return_inverse=True)
    rows = verified.rows
    each = np.column_stack([verifier.ravel(), cells[rows], recorded[rows], verified.labels])
    entries, counts = np.unique(each, axis=0, return_counts=True)
    return Verdicts(found.reshape(-1, n_classes, n_classes), entries, weight * counts.astype(np.float64))
