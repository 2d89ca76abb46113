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
from ordinoise.decisions import decide
from ordinoise.estimators._persistence import Arrays, read_folder, write_folder
from ordinoise.grades import as_column, ordered_classes, ranks_of

if TYPE_CHECKING:
    from ordinoise.export import Graph


class OrdinalClassifierBase(ClassifierMixin, BaseEstimator, ABC):
    """Ordered labels in and out; a learner adds `fit` and `predict_proba`."""

    classes: Any
    decision: Any
    classes_: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels, by the rule that `decision` names.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        labels : array of shape (n_samples,)
            Some of `classes_`.
        """
        check_is_fitted(self)
        return self.classes_[self._decided(X)]

    def _decided(self, X: Any) -> Ints:
        return decide(self.predict_proba(X), self.decision)

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes)."""

    def predict_cumproba(self, X: Any) -> Floats:
        """Probability of each class or a lower one, P(y <= k), shape (n_samples, n_classes); the last column is one."""
        cumulative = self.predict_proba(X).cumsum(axis=1)
        cumulative[:, -1] = 1.0
        return np.minimum(cumulative, 1.0)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a new folder: JSON and safetensors, no pickle.

        The folder appears whole or not at all. An existing one is never overwritten.
        """
        check_is_fitted(self)
        settings, arrays = self._state()
        write_folder(path, type(self).__name__, settings, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A model that `save` wrote; it predicts exactly as the saved one did."""
        settings, arrays = read_folder(path, cls.__name__)
        try:
            return cls._from_state(settings, arrays)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise complain(
                "path", "hold a whole model", f"{type(error).__name__}: {error}", "the folder is damaged"
            ) from None

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
