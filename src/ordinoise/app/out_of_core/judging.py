"""How suspicious each label of a part is: the rules of the audit, with everything that needs all rows fixed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.audit.issues import suspicion_of
from ordinoise.audit.posterior import (
    calibration_weights,
    credit_in_doubt,
    likelihood_of,
    posterior,
    recalibrated,
)
from ordinoise.decisions import combined, decide
from ordinoise.noise import Noise

Matrix = tuple[tuple[float, ...], ...]


def plain(matrix: Floats) -> Matrix:
    """A matrix as plain values."""
    return tuple(tuple(row) for row in matrix.tolist())


@dataclass(frozen=True)
class Judge:
    """What turns held-out probabilities and records into posteriors.

    Parameters
    ----------
    matrix : tuple of tuples
        The noise matrix.
    answer : str
        What was made of the noise: corrected, cautious or trusting.
    weights : tuple of tuples
        Calibration, of shape (n_classes + 1, n_classes); empty where the noise is not believed.
    rank_by : str
    """

    matrix: Matrix
    answer: str
    weights: Matrix
    rank_by: str

    @classmethod
    def fitted(cls, noise: Noise, probabilities: Floats, ranks: Ints, rank_by: str) -> Judge:
        """The judge for a noise, calibrated on a sample of rows as the audit of a table is on all of them."""
        is_believed = noise.answer == "corrected" or noise.source in ("trusted", "too few rows")
        weights: Matrix = ()
        if is_believed:
            weights = plain(calibration_weights(probabilities, likelihood_of(ranks, noise.matrix)))
        return cls(plain(noise.matrix), noise.answer, weights, rank_by)

    def answered(self, probabilities: Floats) -> Floats:
        """What the models predict, as the answer has it: a cautious one is of the recorded label."""
        return combined(probabilities, np.array(self.matrix)) if self.answer == "cautious" else probabilities

    def true(self, probabilities: Floats) -> Floats:
        """Probabilities of the true label given the features."""
        return self._true(self.answered(probabilities))

    def of(self, probabilities: Floats, ranks: Ints) -> Judged:
        """The posterior of each row."""
        return self.of_answered(self.answered(probabilities), ranks)

    def of_answered(self, answered: Floats, ranks: Ints) -> Judged:
        """The same from what `answered` gives."""
        credit = np.array(self.matrix) if self.weights else credit_in_doubt(len(self.matrix))
        return Judged(posterior(self._true(answered), ranks, credit), ranks, self.rank_by, self.answer)

    def _true(self, answered: Floats) -> Floats:
        return recalibrated(answered, np.array(self.weights)) if self.weights else answered


@dataclass(frozen=True, eq=False)
class Judged:
    """The posterior of some rows, and what follows from it."""

    posterior: Floats
    ranks: Ints
    rank_by: str
    answer: str

    @property
    def probability_wrong(self) -> Floats:
        """Probability that each record is wrong."""
        return np.asarray(1 - self.posterior[np.arange(len(self.ranks)), self.ranks])

    @property
    def suggested(self) -> Ints:
        """Rank of the median of the posterior."""
        return decide(self.posterior, "median")

    def worst(self, n_rows: int) -> tuple[Ints, Floats]:
        """Places of the most suspicious records for which another grade is suggested, and what ranks them."""
        keys = np.stack(suspicion_of(self.posterior, self.ranks, self.rank_by, self.answer))
        places = np.flatnonzero(self.suggested != self.ranks)
        chosen = places[most_suspicious(keys[:, places], n_rows)]
        return chosen, keys[:, chosen]

    def columns(self, names: Sequence[str]) -> dict[str, Any]:
        """Columns of the table of labels."""
        grades = np.array(names, dtype=object)
        distance = (self.posterior * np.abs(np.arange(len(names)) - self.ranks[:, None])).sum(axis=1)
        return {
            "recorded": grades[self.ranks].tolist(),
            "suggested": grades[self.suggested].tolist(),
            "probability_wrong": self.probability_wrong.round(6),
            "expected_distance": distance.round(6),
            **{f"probability_{name}": self.posterior[:, at].round(6) for at, name in enumerate(names)},
        }


def most_suspicious(keys: Floats, n_rows: int) -> Ints:
    """Columns of `keys`, shape (2, n), from the most suspicious on; equal ones in their order."""
    return np.lexsort((-keys[1], -keys[0]))[:n_rows]
