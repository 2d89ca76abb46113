"""What all our classifiers share: ordered labels, decisions, probabilities, saving."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ordinoise._validation import Floats, Ints, as_same_length, complain
from ordinoise.classifiers._facts import corrected_scores, replicates_of, taken_apart, training_facts, with_facts
from ordinoise.classifiers.card import ModelCard, model_card
from ordinoise.classifiers.saving import Arrays, read_folder, write_folder
from ordinoise.estimation.resolution import ResolvedNoise, resolve_noise
from ordinoise.labels import as_column, decide, ordered_classes, ranks_of
from ordinoise.noise import SINGULAR_CONDITION
from ordinoise.scoring.sets import PredictionSets, SetCalibration, calibrate_sets, prediction_sets

if TYPE_CHECKING:
    from ordinoise.export import Graph


class OrdinalClassifierBase(ClassifierMixin, BaseEstimator, ABC):
    """Ordered labels in and out; a learner adds `fit` and `predict_proba`."""

    noise: Any
    classes: Any
    decision: Any
    classes_: NDArray[Any]
    noise_matrix_: Floats
    noise_matrices_: Floats
    noise_estimator_: Any
    set_calibration_: SetCalibration | None
    training_facts_: dict[str, Any]

    def predict(self, X: Any, decision: Any = None) -> NDArray[Any]:
        """Predicted labels, by the rule that `decision` names.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), optional
            A rule for this call alone, such as your own ``cost[true, predicted]``; the model's if left out.

        Returns
        -------
        labels : array of shape (n_samples,)
            Some of `classes_`.
        """
        check_is_fitted(self)
        return self.classes_[self._decided(X, self.decision if decision is None else decision)]

    def _decided(self, X: Any, decision: Any) -> Ints:
        return decide(self.predict_proba(X), decision)

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes)."""

    def predict_cumproba(self, X: Any) -> Floats:
        """Probability of each class or a lower one, P(y <= k), shape (n_samples, n_classes); the last column is one."""
        cumulative = self.predict_proba(X).cumsum(axis=1)
        cumulative[:, -1] = 1.0
        return np.minimum(cumulative, 1.0)

    def predict_set(self, X: Any, confidence: float = 0.9) -> PredictionSets:
        """Neighbouring grades that hold the true label with probability `confidence`, for every sample.

        The set always holds the median, which `predict` gives by default, and a higher confidence only adds grades.
        Needs recorded labels that the model did not learn from: see `calibrate_sets`.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        confidence : float, default=0.9
            How often the true label is to be in its set, over samples like those of the calibration.

        Returns
        -------
        sets : PredictionSets
            With `low` and `high`, labels of `classes_`, `mask` and `sizes`.
        """
        check_is_fitted(self)
        calibration = getattr(self, "set_calibration_", None)
        if calibration is None:
            advice = "call calibrate_sets(X, y) with recorded labels that the model did not learn from"
            raise complain("model", "be calibrated to predict sets", "none", advice)
        return prediction_sets(self.predict_proba(X), calibration, confidence, classes=self.classes_)

    def calibrate_sets(self, X: Any, y: Any, sample_weight: Any = None, raters: Any = None) -> Self:
        """Find out how large sets must be to hold the true label, from recorded labels kept aside.

        The labels may be as noisy as those of the fit: the noise matrix of the model corrects for it.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Samples that the model did not learn from.
        y : column of shape (n_samples,)
            Their labels as recorded.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds a matrix for each rater.
        """
        check_is_fitted(self)
        probabilities = self.predict_proba(X)
        _, ranks = self._checked_labels(y, len(probabilities), self.classes_)
        noise = ResolvedNoise(self.noise_matrix_[None], None)
        if raters is not None:
            noise = resolve_noise(self.noise, None, ranks, len(self.classes_), raters, 0)
        self.set_calibration_ = self._calibrated(probabilities, ranks, noise, sample_weight)
        return self

    def _calibrated(self, probabilities: Floats, ranks: Ints, noise: ResolvedNoise, weights: Any) -> SetCalibration:
        return calibrate_sets(
            probabilities, ranks, noise.matrices if noise.raters is not None else noise.pooled,
            raters=noise.raters, replicates=replicates_of(self), sample_weight=weights,
        )  # fmt: skip

    def _judge(self, out_of_fold: Floats, ranks: Ints, noise: ResolvedNoise, weights: Floats) -> None:
        """Keep the facts of a fit, and what rows left out say: scores and sets, where the noise has an inverse."""
        self._remember(np.bincount(ranks, minlength=len(self.classes_)))
        if not (np.linalg.cond(noise.matrices) < SINGULAR_CONDITION).all():
            return
        self.set_calibration_ = self._calibrated(out_of_fold, ranks, noise, weights)
        if noise.raters is None:
            self.training_facts_["scores"] = corrected_scores(self, out_of_fold, ranks, weights)

    def describe(self) -> ModelCard:
        """The model's card: what it is, what it learnt from, what noise it found, how good it is.

        Print it, or take `to_dict` for JSON. A loaded model's card is that of the saved one.
        """
        check_is_fitted(self)
        return model_card(self)

    def _remember(self, recorded_counts: Ints | None, *, adds: bool = False) -> None:
        """Keep the facts of a fit, and forget the sets of an earlier one; `adds` where the rows come on top."""
        if adds and recorded_counts is not None:
            earlier = getattr(self, "training_facts_", {}).get("recorded_counts")
            recorded_counts = None if earlier is None else recorded_counts + earlier
        self.training_facts_, self.set_calibration_ = training_facts(self, recorded_counts), None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a new folder: JSON and safetensors, no pickle.

        The folder appears whole or not at all. An existing one is never overwritten.
        """
        check_is_fitted(self)
        settings, arrays = with_facts(self, *self._state())
        write_folder(path, type(self).__name__, settings, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A model that `save` wrote; it predicts exactly as the saved one did."""
        settings, arrays = read_folder(path, cls.__name__)
        try:
            return cls._whole(settings, arrays)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise complain(
                "path", "hold a whole model", f"{type(error).__name__}: {error}", "the folder is damaged"
            ) from None

    @classmethod
    def _whole(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """The model that `save` described, with its facts and sets where it had them."""
        arrays, facts, sets = taken_apart(settings, arrays)
        model = cls._from_state(settings, arrays)
        model.set_calibration_ = sets
        if facts is not None:
            model.training_facts_ = facts
        return model

    def to_onnx(self, path: str | os.PathLike[str], *, dtype: str = "float32") -> None:
        """Write the fitted model as an ONNX file, for programs without Python.

        The graph takes `features` and gives `label`, as `predict` does, and `probabilities`. The file appears whole
        or not at all; an existing one is replaced. Needs the extra ``onnx``.

        Parameters
        ----------
        path : path
            The file, by custom ending in ``.onnx``.
        dtype : {"float32", "float64"}, default="float32"
            Type of the features that will be passed. float64 tells apart numbers that float32 would round together,
            such as times in seconds.
        """
        check_is_fitted(self)
        self._write_onnx(path, (self.n_features_in_,), dtype)

    def _write_onnx(self, path: str | os.PathLike[str], shape: tuple[int, ...], dtype: str) -> None:
        from ordinoise.export import Graph, write_classifier

        graph = Graph(shape, dtype)
        if hasattr(self, "feature_names_in_"):
            graph.notes["feature_names"] = self.feature_names_in_.tolist()
        write_classifier(path, graph, self._add_to_onnx(graph), self.classes_, self.decision)

    def _add_to_onnx(self, graph: Graph) -> str:  # noqa: ARG002
        """Name of the class probabilities of the nodes that the learner adds."""
        raise complain("model", "be one of ordinoise's own learners to be written as ONNX", type(self).__name__)

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], Arrays]:
        """What JSON can hold of the fitted model, and its arrays."""

    @classmethod
    @abstractmethod
    def _from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """The model that `_state` described."""

    def _checked_features(self, X: Any, *, reset: bool) -> NDArray[np.floating]:
        """Finite numbers, float32 or float64 as they came; column names remembered or compared."""
        features: NDArray[np.floating] = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])
        return features

    def _checked_labels(self, y: Any, n_samples: int, classes: Any) -> tuple[NDArray[Any], Ints]:
        """The ordered classes, and the rank of every label."""
        if y is None:
            raise complain("y", "be the recorded labels", "None", "requires y to be passed, but the target y is None")
        column = as_column("y", y)
        as_same_length("y", len(column), "X", n_samples)
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            raise complain("y", "not hold NaN or infinity", f"{column[~np.isfinite(column)][0]}")
        check_classification_targets(column)
        ordered = ordered_classes(y, classes)
        if len(ordered) < 2:
            raise complain("y", "hold at least 2 classes", f"one class, {ordered.tolist()}")
        return ordered, ranks_of("y", y, ordered)

    @staticmethod
    def _checked_weights(sample_weight: Any, y: Any, features: NDArray[np.floating], class_weight: Any) -> Floats:
        """Weight of every sample, its class's among it; some are positive."""
        weights: Floats = _check_sample_weight(sample_weight, features, dtype=np.float64, ensure_non_negative=True)
        if class_weight is not None:
            weights = weights * compute_sample_weight(class_weight, y)
        if not weights.sum() > 0:
            raise complain("sample_weight", "be positive for some sample", "only zeros")
        return weights
