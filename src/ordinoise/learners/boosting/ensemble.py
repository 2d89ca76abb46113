"""Fitted trees: scores, probabilities, importances, and the text that they are saved as."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, as_choice, as_floats, complain

from .objective import OBJECTIVES


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees, and the offsets that turn their scores into probabilities.

    Parameters
    ----------
    head : {"ordered", "softmax"}
        One score for all classes, or one per class.
    text : str
        LightGBM's own text form of the trees.
    offsets : array of shape (n_classes - 1,) or (n_classes,)
        What is added to the scores: thresholds that descend, or the log-frequencies of the classes.
    n_jobs : int
        Threads for prediction; zero for OpenMP's choice.
    """

    head: str
    text: str
    offsets: Floats
    n_jobs: int = 0

    def __post_init__(self) -> None:
        as_choice("head", self.head, OBJECTIVES)
        object.__setattr__(self, "offsets", as_floats("offsets", self.offsets, 1))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.offsets) + (self.head == "ordered")

    @cached_property
    def booster(self) -> Any:
        """The trees as LightGBM's Booster."""
        import lightgbm

        try:
            booster = lightgbm.Booster(model_str=self.text)
        except lightgbm.basic.LightGBMError as error:
            raise complain("text", "hold LightGBM's trees", str(error).partition("\n")[0]) from None
        n_scores = 1 if self.head == "ordered" else self.n_classes
        if booster.num_model_per_iteration() != n_scores:
            raise complain("text", f"hold {n_scores} tree(s) per round", booster.num_model_per_iteration())
        return booster

    @property
    def n_features(self) -> int:
        """Number of columns that the trees were grown on."""
        return int(self.booster.num_feature())

    @property
    def n_rounds(self) -> int:
        """Number of trees per score."""
        return int(self.booster.current_iteration())

    def scores(self, features: NDArray[np.floating]) -> Floats:
        """Sums of the trees, shape (n_samples, 1) for the ordered head and (n_samples, n_classes) for softmax."""
        raw: Floats = self.booster.predict(features, raw_score=True, num_threads=self.n_jobs)
        return raw.reshape(len(features), -1)

    def log_probabilities(self, features: NDArray[np.floating]) -> Floats:
        """Logarithm of each clean class's probability, shape (n_samples, n_classes)."""
        return OBJECTIVES[self.head].log_probabilities(self.scores(features), self.offsets)

    def importances(self) -> Floats:
        """Share of each feature in the gain of all splits, shape (n_features,); zeros if there is no split."""
        gains: Floats = self.booster.feature_importance("gain").astype(np.float64)
        return gains / gains.sum() if gains.sum() > 0 else gains
