"""Fitted trees with the head that they were grown for: scores, probabilities, importances."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from threading import Thread
from typing import Any

import numpy as np

from ordinoise._sparse import as_csr, is_sparse
from ordinoise._validation import Floats, as_choice, as_count, as_floats, complain
from ordinoise.threads import n_processors

from .objective import OBJECTIVES
from .trees import MOST, Trees

DENSE_NUMBERS = 10_000_000  # of sparse rows made dense at a time: 80 MB, a round number
LEAST_WORK = 100_000  # rows times trees per thread: a millisecond or two, where a thread starts in 0.1 ms


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees, and the offsets that turn their scores into probabilities.

    Parameters
    ----------
    head : {"ordered", "softmax"}
        One score for all classes, or one per class.
    trees : Trees
        One per round and score.
    offsets : array of shape (n_classes - 1,) or (n_classes,)
        What is added to the scores: thresholds that descend, or the log-frequencies of the classes.
    n_jobs : int
        Threads for prediction; zero for OpenMP's number.
    """

    head: str
    trees: Trees
    offsets: Floats
    n_jobs: int = 0

    def __post_init__(self) -> None:
        as_choice("head", self.head, OBJECTIVES)
        as_count("n_jobs", self.n_jobs, 0)
        object.__setattr__(self, "offsets", as_floats("offsets", self.offsets, 1))
        if np.abs(self.offsets).max(initial=0) > MOST:
            raise complain("offsets", f"be at most {MOST:g}", np.abs(self.offsets).max())
        if not len(self.offsets) or self.trees.n_trees % self.n_scores:
            raise complain("trees", f"be {self.n_scores} per round", self.trees.n_trees)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.offsets) + (self.head == "ordered")

    @property
    def n_scores(self) -> int:
        """Scores per sample, and trees per round."""
        return 1 if self.head == "ordered" else self.n_classes

    @property
    def n_rounds(self) -> int:
        """Number of trees per score."""
        return self.trees.n_trees // self.n_scores

    def scores(self, features: Any) -> Floats:
        """Sums of the trees, shape (n_samples, 1) for the ordered head and (n_samples, n_classes) for softmax."""
        if is_sparse(features):
            return self._sparse_scores(as_csr(features))
        rows = np.ascontiguousarray(features, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.trees.n_features:
            raise complain("features", f"have {self.trees.n_features} columns", f"shape {rows.shape}")
        scores = np.empty((len(rows), self.n_scores))
        n_parts = max(1, min(_usable_threads(self.n_jobs), len(rows) * self.trees.n_trees // LEAST_WORK))
        cuts = [len(rows) * part // n_parts for part in range(n_parts + 1)]
        first, *others = [(rows[low:high], scores[low:high]) for low, high in pairwise(cuts)]
        # The threads end with the call: a process forked later inherits no dead ones.
        threads = [Thread(target=self.trees.add, args=part) for part in others]
        for thread in threads:
            thread.start()
        self.trees.add(*first)
        for thread in threads:
            thread.join()
        return scores

    def _sparse_scores(self, features: Any) -> Floats:
        """As `scores`, a block of rows at a time: only those are made dense."""
        n_rows = max(1, DENSE_NUMBERS // max(features.shape[1], 1))
        starts = range(0, max(features.shape[0], 1), n_rows)
        return np.concatenate([self.scores(features[start : start + n_rows].toarray()) for start in starts])

    def log_probabilities(self, features: Any) -> Floats:
        """Logarithm of each clean class's probability, shape (n_samples, n_classes)."""
        return OBJECTIVES[self.head].log_probabilities(self.scores(features), self.offsets)

    def importances(self) -> Floats:
        """Share of each feature in the gain of all splits, shape (n_features,); zeros if there is no split."""
        gains = self.trees.gains
        return gains / gains.sum() if gains.sum() > 0 else gains.copy()


def _usable_threads(n_jobs: int) -> int:
    """Number of threads, at most one per processor; zero takes OpenMP's number."""
    most = n_processors()
    wished = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(n_jobs or (int(wished) if wished.isdecimal() else 0) or most, most)
