"""What all our classifiers share: ordered labels, decisions, probabilities, saving."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ordinoise._frames import as_native
from ordinoise._validation import Floats, Ints, as_flag, as_same_length, complain
from ordinoise.classifiers._recoding import Labels, labels_outside, refuse_recoded
from ordinoise.classifiers.card import ModelCard, card_scores, model_card, training_facts
from ordinoise.classifiers.saving import (
    DAMAGE,
    Arrays,
    from_json,
    read_folder,
    restored_shared,
    shared_state,
    write_folder,
)
from ordinoise.columns.refusals import one_sentence
from ordinoise.decisions import decide
from ordinoise.labels import as_column, as_known_kind, ordered_classes, ranks_of
from ordinoise.noise import Noise
from ordinoise.noise.matrices import SINGULAR_CONDITION
from ordinoise.scoring.evaluation import Evaluation, evaluate_probabilities
from ordinoise.scoring.sets import PredictionSets, SetCalibration, calibrate_sets, prediction_sets

if TYPE_CHECKING:
    from ordinoise.export import Graph


MOST_GRADES = 50  # as in files
SMALLEST_PROBABILITY = 1e-300  # its logarithm is finite


def _are_half_grades(column: NDArray[Any]) -> bool:
    """Whether numbers with fractions, such as half stars, are few enough to be grades."""
    if column.dtype.kind != "f" or column.ndim != 1:
        return False
    return bool(len(np.unique(column)) <= min(MOST_GRADES, len(column) // 2))


class OrdinalClassifierBase(ClassifierMixin, BaseEstimator, ABC):
    """Base of all classifiers: ordered labels in and out. A learner adds `fit` and `predict_proba`."""

    noise: Any
    classes: Any
    decision: Any
    classes_: NDArray[Any]
    noise_: Noise
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    set_calibration_: SetCalibration | None
    training_facts_: dict[str, Any]
    evaluation_: Evaluation | None = None
    _labels_outside: Labels = ()

    def __sklearn_clone__(self) -> Self:
        model: Self = super().__sklearn_clone__()
        model._labels_outside = labels_outside(self._labels_outside)
        return model

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(type(self), name, None)
        if name in ("noise_", "classes_"):
            raise NotFittedError(f"{type(self).__name__} has no {name} before it is fitted; call fit(X, y) first")
        if isinstance(attribute, property) and attribute.fget is not None:
            return attribute.fget(self)  # raises what it raised, which would be lost otherwise
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def noise_matrix_(self) -> Floats:
        """The noise corrected for, ``[true, recorded]``: `noise_.matrix`, the identity where labels are trusted."""
        return self.noise_.matrix

    def predict(self, X: Any, decision: Any = None) -> NDArray[Any]:
        """Predicted labels, by the rule that `decision` names.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), optional
            Decision rule for this call only, such as your own ``cost[true, predicted]``; by default the model's.

        Returns
        -------
        labels : array of shape (n_samples,)
            Each one of `classes_`.
        """
        check_is_fitted(self)
        return self.classes_[self._decide(X, self.decision if decision is None else decision)]

    def _decide(self, X: Any, decision: Any) -> Ints:
        return decide(self.predict_proba(X), decision)

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes)."""

    def predict_cumproba(self, X: Any) -> Floats:
        """Probability of each class or a lower one, P(y <= k), shape (n_samples, n_classes); the last column is one."""
        cumulative = self.predict_proba(X).cumsum(axis=1)
        cumulative[:, -1] = 1.0
        return np.minimum(cumulative, 1.0)

    def predict_score(self, X: Any) -> Floats:
        """One number per sample, shape (n_samples,): higher means a higher class. Here the expected rank, 0..K-1."""
        return np.asarray(self.predict_proba(X) @ np.arange(len(self.classes_)))

    def decision_function(self, X: Any) -> Floats:
        """Log-probability of each class, or for two classes the one logit: the form that scikit-learn's tools expect.

        A single number per sample is `predict_score`.
        """
        logarithms = self._log_probabilities(X)
        return logarithms[:, 1] - logarithms[:, 0] if len(self.classes_) == 2 else logarithms

    def _log_probabilities(self, X: Any) -> Floats:
        return np.log(np.maximum(self.predict_proba(X), SMALLEST_PROBABILITY))

    def predict_set(self, X: Any, confidence: float = 0.9) -> PredictionSets:
        """Neighboring grades that contain the true label with probability `confidence`, for every sample.

        The set always contains the median, the default prediction, and a higher confidence only adds grades.
        Needs recorded labels that the model did not learn from: see `calibrate_sets`.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        confidence : float, default=0.9
            Share of samples, like those of the calibration, whose set contains the true label.

        Returns
        -------
        sets : PredictionSets
            With `low` and `high`, labels of `classes_`, `mask` and `sizes`.
        """
        check_is_fitted(self)
        return self.sets_of(self.predict_proba(X), confidence)

    def sets_of(self, probabilities: Floats, confidence: float = 0.9) -> PredictionSets:
        """Prediction sets from the output of `predict_proba`, as `predict_set` gives them."""
        calibration = getattr(self, "set_calibration_", None)
        if calibration is None:
            advice = "call calibrate_sets(X, y) with recorded labels that the model did not learn from"
            raise complain("model", "be calibrated to predict sets", "none", advice)
        return prediction_sets(probabilities, calibration, confidence, classes=self.classes_)

    def calibrate_sets(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        raters: Any = None,
        groups: Any = None,
        assurance: float | None = None,
        by_grade: bool = False,
    ) -> Self:
        """Calibrate prediction sets on held-out recorded labels.

        The labels may be as noisy as those of `fit`: the noise matrix of the model corrects for it.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Samples that the model did not learn from.
        y : column of shape (n_samples,)
            Their labels as recorded.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds one matrix per rater.
        groups : column of shape (n_samples,), optional
            Rows of one group (a patient, a query) are not independent: they count as fewer.
        assurance : float, optional
            Share of calibrations, such as 0.9, whose sets cover as often as promised; by default they do on average.
        by_grade : bool, default=False
            Whether every true grade, also a rare one, is covered as often as promised.
        """
        check_is_fitted(self)
        probabilities = self.predict_proba(X)
        _, ranks = self._checked_labels(y, len(probabilities), self.classes_)
        noise = self.noise_ if raters is not None else self.noise_.average
        who = None if raters is None else as_column("raters", raters)
        self.set_calibration_ = calibrate_sets(
            probabilities, ranks, noise, raters=who, sample_weight=sample_weight, groups=groups, assurance=assurance,
            by_grade=by_grade,
        )  # fmt: skip
        return self

    def _keep_out_of_fold(
        self, out_of_fold: Floats, ranks: Ints, raters: Any, weights: Floats, groups: Ints | None = None
    ) -> None:
        """Store the facts of a fit and, if the noise matrix has an inverse, out-of-fold scores and prediction sets."""
        self._keep_facts(np.bincount(ranks, minlength=len(self.classes_)))
        self.evaluation_ = None
        noise = self.noise_ if raters is not None else self.noise_.average
        if not (np.linalg.cond(noise.believed.matrices) < SINGULAR_CONDITION).all():
            return
        options: dict[str, Any] = {"sample_weight": weights, "groups": groups}
        self.set_calibration_ = calibrate_sets(out_of_fold, ranks, noise, raters=raters, **options)
        if noise.per == "all":
            self.evaluation_ = evaluate_probabilities(out_of_fold, ranks, noise, decision=self.decision, **options)
            self.training_facts_["scores"] = card_scores(self.evaluation_)

    def describe(self) -> ModelCard:
        """The model card: kind of model, training data, noise, scores.

        Print it, or use `to_dict` for JSON. A loaded model has the card of the saved one.
        """
        check_is_fitted(self)
        return model_card(self)

    def _keep_facts(self, recorded_counts: Ints | None, *, adds: bool = False) -> None:
        """Store the facts of a fit and drop earlier prediction sets; `adds` counts its rows on top of earlier ones."""
        if adds and recorded_counts is not None:
            earlier = getattr(self, "training_facts_", {}).get("recorded_counts")
            recorded_counts = None if earlier is None else recorded_counts + earlier
        self.training_facts_, self.set_calibration_ = training_facts(recorded_counts), None

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to a new folder: JSON and safetensors, no pickle.

        The folder appears whole or not at all.

        Parameters
        ----------
        path : path
        overwrite : bool, default=False
            Whether to replace a model that is there. Anything else is never replaced.
        """
        check_is_fitted(self)
        settings, arrays = shared_state(self, self._saved_parameters())
        own, own_arrays = self._state()
        as_flag("overwrite", overwrite)
        write_folder(path, type(self).__name__, settings | own, arrays | own_arrays, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The model that `save` wrote; it predicts exactly as the saved one did."""
        settings, arrays = read_folder(path, cls.__name__)
        try:
            return cls._from_saved(settings, arrays)
        except DAMAGE as error:
            raise complain(
                "path", "hold a whole model", f"{type(error).__name__}: {error}", "the folder is damaged"
            ) from None

    @classmethod
    def _from_saved(cls, settings: dict[str, Any], arrays: Arrays, **code: Any) -> Self:
        """The model with these saved settings and arrays; `code` holds parameters that cannot be saved."""
        model = cls(**{name: from_json(value) for name, value in settings["parameters"].items()}, **code)
        fitted, own = restored_shared(settings, arrays)
        for name, value in fitted.items():
            setattr(model, name, value)
        model._restore(settings, own)
        return model

    def _saved_parameters(self) -> dict[str, Any]:
        """The constructor's arguments that can be saved."""
        parameters: dict[str, Any] = self.get_params(deep=False)
        return parameters

    def to_onnx(self, path: str | os.PathLike[str], *, dtype: str = "float32") -> None:
        """Write the fitted model as an ONNX file, for programs without Python.

        The graph takes `features` and returns `label`, as `predict` does, and `probabilities`. The file appears whole
        or not at all; an existing one is replaced. Needs the extra ``onnx``.

        Parameters
        ----------
        path : path
            The file, usually ending in ``.onnx``.
        dtype : {"float32", "float64"}, default="float32"
            Type of the features that will be passed. float64 distinguishes numbers that float32 would round to the
            same, such as times in seconds.
        """
        check_is_fitted(self)
        columns = getattr(self, "columns_", None)
        n_features = self.n_features_in_ if columns is None else columns.n_features(self.n_features_in_)
        self._write_onnx(path, (n_features,), dtype)

    def _write_onnx(self, path: str | os.PathLike[str], shape: tuple[int, ...], dtype: str) -> None:
        from ordinoise.export import Graph, write_classifier

        graph = Graph(shape, dtype)
        names = self._feature_names
        if names is not None:
            graph.notes["feature_names"] = names
        write_classifier(path, graph, self._add_to_onnx(graph), self.classes_, self.decision)

    @property
    def _feature_names(self) -> list[str] | None:
        """Names of the feature columns; None if columns have no names."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _add_to_onnx(self, graph: Graph) -> str:  # noqa: ARG002
        """Add the learner's nodes to the graph, and return the name of their output, the class probabilities."""
        raise complain("model", "be one of ordinoise's own learners to be written as ONNX", type(self).__name__)

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], Arrays]:
        """What was learned: settings for JSON, and arrays."""

    @abstractmethod
    def _restore(self, settings: dict[str, Any], arrays: Arrays) -> None:
        """Restore what `_state` returned; other arrays are refused."""

    def _checked_features(self, X: Any, *, reset: bool) -> Any:
        """Features as finite numbers, float32 or float64 as passed; column names are stored or compared.

        A sparse matrix becomes CSR where the learner takes it.
        """
        X = as_native(X)
        accepted = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        with one_sentence(X):
            return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse=accepted)

    def _checked_labels(self, y: Any, n_samples: int, classes: Any) -> tuple[NDArray[Any], Ints]:
        """The ordered classes, and the rank of every label."""
        if y is None:
            raise complain("y", "be the recorded labels", "None", "requires y to be passed, but the target y is None")
        column = as_column("y", y)
        as_same_length("y", len(column), "X", n_samples)
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            raise complain("y", "not hold NaN or infinity", f"{column[~np.isfinite(column)][0]}")
        as_known_kind("y", column)
        refuse_recoded(column, self._labels_outside, classes)
        if not _are_half_grades(column):
            check_classification_targets(column)
        y = column if getattr(y, "ndim", 1) == 2 else y  # it was warned of once
        ordered = ordered_classes(y, classes)
        if len(ordered) < 2:
            raise complain("y", "hold at least 2 classes", f"one class, {ordered.tolist()}")
        return ordered, ranks_of("y", y, ordered)

    @staticmethod
    def _checked_weights(sample_weight: Any, y: Any, features: Any, class_weight: Any) -> Floats:
        """Weight of every sample times that of its class; at least one is positive."""
        weights: Floats = _check_sample_weight(sample_weight, features, dtype=np.float64, ensure_non_negative=True)
        if class_weight is not None:
            weights = weights * compute_sample_weight(class_weight, y)
        if not weights.sum() > 0:
            raise complain("sample_weight", "be positive for some sample", "only zeros")
        return weights
