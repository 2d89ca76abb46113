"""Trees grown round by round, stopped at the least loss of a noisy validation part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints, as_count

from ._kernels import Float32s
from .ensemble import Ensemble
from .objective import ForwardObjective
from .settings import BoosterSettings, threads
from .stream import FeatureStream
from .trees import grown_trees

METRIC = "loss"
NO_FEATURES = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to learn from or to stop by.

    Attributes
    ----------
    features : array of shape (n_samples, n_features), or FeatureStream
        NaN where missing. A stream is for training only.
    cells : array of shape (n_samples,)
        Row of the objective's `likelihood` that each sample reads.
    weights : array of shape (n_samples,)
        Weights of the loss.
    """

    features: NDArray[np.floating] | FeatureStream
    cells: Ints
    weights: Floats

    def rows(self, rows: Ints) -> Sample:
        """Some of the rows, of an array."""
        assert not isinstance(self.features, FeatureStream)
        return Sample(self.features[rows], self.cells[rows], self.weights[rows])


@dataclass(frozen=True, eq=False)
class Training:
    """The result of training.

    Attributes
    ----------
    ensemble : Ensemble
        The trees.
    n_rounds : int
        Rounds kept: those up to the least validation loss, or all.
    validation_curve : list of float
        Validation loss after each round; empty without a validation part.
    validation_scores : array of shape (n_validation, n_scores) or None
        What the trees add up to in the validation part: those of `ensemble`, without another walk.
    """

    ensemble: Ensemble
    n_rounds: int
    validation_curve: list[float] = field(default_factory=list)
    validation_scores: Floats | None = None


NO_SAMPLE = Sample(NO_FEATURES, np.empty(0, dtype=np.int64), np.empty(0))
Slopes = Callable[[Floats, Any], tuple[Float32s, Float32s]]


def _slopes_of(sample: Sample, objective: ForwardObjective, offsets: list[Floats]) -> Slopes:
    """The function that LightGBM calls at the start of a round; each call appends that round's offsets to the list."""

    def slopes(scores: Floats, _: Any) -> tuple[Float32s, Float32s]:
        gradient, curvature, after = objective.slopes(scores, offsets[-1], sample.cells, sample.weights)
        offsets.append(after)
        return gradient, curvature

    return slopes


class _Validation:
    """The loss and the scores of the validation part at its least loss."""

    def __init__(self, sample: Sample, objective: ForwardObjective, offsets: list[Floats]) -> None:
        self._cells, self._weights, self._objective, self._offsets = sample.cells, sample.weights, objective, offsets
        self._least, self.scores = np.inf, np.zeros((len(sample.cells), objective.n_scores))

    def loss(self, scores: Floats, _: Any) -> tuple[str, float, bool]:
        """What LightGBM calls at the end of a round: the mean loss with the offsets of that round."""
        losses = self._objective.losses(scores, self._offsets[-1], self._cells)
        mean = float(np.average(losses, weights=self._weights))
        if mean < self._least:  # as LightGBM has it, the first of equal ones
            self._least = mean
            self.scores[:] = scores.reshape(self.scores.shape)
        return METRIC, mean, False


def train(
    sample: Sample,
    objective: ForwardObjective,
    class_frequencies: Floats,
    settings: BoosterSettings,
    *,
    n_rounds: int,
    seed: int,
    validation: Sample | None = None,
    patience: int = 50,
) -> Training:
    """Grow trees for `n_rounds`, or until the validation loss has not fallen for `patience` rounds.

    Parameters
    ----------
    class_frequencies : array of shape (n_classes,)
        Frequencies of the true classes, from which the first offsets follow.
    seed : int
        Seed of the draws of rows and columns.
    """
    import lightgbm

    as_count("n_rounds", n_rounds, 1)
    offsets = [objective.first_offsets(class_frequencies)]
    params = settings.for_lightgbm(objective.n_scores, seed)
    data = _dataset(sample, settings, params)
    sample = replace(sample, features=NO_FEATURES)  # they are in bins now
    curve: dict[str, Any] = {}
    stopping: dict[str, Any] = {}
    part = None
    if validation is not None:
        held_out = _dataset(validation, settings, params, reference=data)
        part, validation = _Validation(validation, objective, offsets), NO_SAMPLE
        stopping = {
            "valid_sets": [held_out],
            "valid_names": [METRIC],
            "feval": part.loss,
            "callbacks": [lightgbm.early_stopping(patience, verbose=False), lightgbm.record_evaluation(curve)],
        }
    params["objective"] = _slopes_of(sample, objective, offsets)
    booster = lightgbm.train(params, data, num_boost_round=n_rounds, **stopping)
    best = n_rounds if part is None else booster.best_iteration
    kept = min(best, booster.current_iteration())
    ensemble = Ensemble(objective.head, grown_trees(booster, kept), offsets[best], threads(settings.n_jobs))
    if part is None:
        return Training(ensemble, kept)
    return Training(ensemble, kept, curve[METRIC][METRIC], part.scores)


def _dataset(sample: Sample, settings: BoosterSettings, params: dict[str, Any], reference: Any = None) -> Any:
    import lightgbm

    if isinstance(sample.features, FeatureStream):
        return sample.features.dataset(sample.cells, settings.categorical, params)
    return lightgbm.Dataset(
        sample.features,
        label=sample.cells,
        categorical_feature=list(settings.categorical),
        reference=reference,
        params=params | {"objective": "none"},  # with another, LightGBM refuses several scores per row
    ).construct()
