"""Fitted learners of a blend: what each makes of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import softmax

from ordinoise._validation import Floats
from ordinoise.classifiers.blend.table import Coding, Table
from ordinoise.learners.boosting import OBJECTIVES, Ensemble
from ordinoise.learners.mlp import Network
from ordinoise.levels import class_probabilities
from ordinoise.noise.deconvolution import deconvolved

DECONVOLUTION_STEPS = 10
"""On eight tables of seeds 100 and 101 the blend with softmax trees deconvolved by 10 or 30 steps was as good as with
softmax trees grown under the correction, by 3 steps worse (decision 0024)."""


class Model(Protocol):
    """A fitted learner."""

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""


@dataclass(frozen=True)
class NetworkModel:
    """A trained network; it reads the dense table."""

    network: Network

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        return np.concatenate([class_probabilities(self.network.logits(part)) for part in table.dense_parts()])


@dataclass(frozen=True, eq=False)
class SparseModel:
    """A linear network that reads all columns, the sparse ones weighted as in its training rows."""

    network: Network
    coding: Coding

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        logits = np.concatenate([self.network.logits(some.sparse(self.coding)) for some in table.blocks()])
        is_ordered = self.network.architecture.head == "ordered"
        return class_probabilities(logits) if is_ordered else np.asarray(softmax(logits, axis=1))


@dataclass(frozen=True, eq=False)
class TreesModel:
    """Trained trees; they read missing values and codes directly.

    Trees that predict the recorded label have `records`, of shape (n_classes + 1, n_classes): the shares of the true
    classes, then the noise matrix. They give the true label by `DECONVOLUTION_STEPS` of deconvolution.
    """

    ensemble: Ensemble
    records: Floats | None = None

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        return self.of_scores(self.ensemble.scores(table.features))

    def of_scores(self, scores: Floats) -> Floats:
        """Probability of each true class from the sums of the trees, shape (n_samples, n_classes)."""
        found = np.exp(OBJECTIVES[self.ensemble.head].log_probabilities(scores, self.ensemble.offsets))
        found /= found.sum(axis=1, keepdims=True)
        if self.records is None:
            return found
        return deconvolved(found, self.records[1:], n_iter=DECONVOLUTION_STEPS, start=self.records[0])
