"""How good a model is on clean labels, told from recorded ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import (
    Floats,
    Ints,
    as_choice,
    as_floats,
    as_labels,
    as_noise_matrix,
    as_number,
    as_same_length,
    as_weights,
    complain,
)
from ordinoise.labels import decide, ordered_classes, ranks_of
from ordinoise.noise import SINGULAR_CONDITION
from ordinoise.scoring.metrics import (
    METRICS,
    CorrectedScore,
    kendall_tau,
    noise_corrected,
    noise_corrected_ranked_probability_score,
)

RANKED_PROBABILITY = "ranked_probability_score"
KENDALL = "kendall_tau"

__all__ = ["Evaluation", "KnownNoise", "evaluate", "evaluate_probabilities", "known_noise"]


@dataclass(frozen=True, eq=False)
class KnownNoise:
    """A noise matrix, and how far it may be off.

    Attributes
    ----------
    matrix : array of shape (n_classes, n_classes)
        ``[true, recorded]``.
    replicates : array of shape (n_replicates, n_classes, n_classes)
        Matrices that might have been estimated instead; none where the matrix is taken as exact.
    """

    matrix: Floats
    replicates: Floats


def known_noise(noise: Any, n_classes: int | None = None) -> KnownNoise:
    """The matrix of an array, or of anything fitted with `noise_matrix_` and perhaps `bootstrap_matrices_`."""
    fitted = getattr(noise, "noise_estimator_", None)
    source = noise if fitted is None else fitted
    if hasattr(source, "fit") and not hasattr(source, "noise_matrix_"):
        raise complain("noise_matrix", "be an array or a fitted estimator", f"{type(source).__name__} before fit")
    matrix = as_noise_matrix(getattr(source, "noise_matrix_", source), n_classes)
    replicates = getattr(source, "bootstrap_matrices_", None)
    if replicates is None or np.size(replicates) == 0:
        return KnownNoise(matrix, np.empty((0, *matrix.shape)))
    stack = as_floats("bootstrap_matrices_", replicates, 3)
    if stack.shape[1:] != matrix.shape:
        raise complain("bootstrap_matrices_", f"hold matrices of shape {matrix.shape}", f"shape {stack.shape}")
    return KnownNoise(matrix, stack)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Every metric as recorded labels show it and as clean labels would; printing it gives a table.

    Attributes
    ----------
    scores : mapping of str to CorrectedScore
        One entry a metric. Kendall's tau has no known correction: only its `observed` is a number.
    n_samples : int
        Labels it rests on.
    confidence : float
        Level of the intervals.
    n_replicates : int
        Replicates of the noise matrix that widened the intervals; 0 where the matrix was taken as exact.
    """

    scores: Mapping[str, CorrectedScore]
    n_samples: int
    confidence: float
    n_replicates: int

    def __getitem__(self, metric: str) -> CorrectedScore:
        return self.scores[as_choice("metric", metric, self.scores)]

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Plain numbers by metric, ready for JSON: None where there is none."""
        return {
            name: {key: number if math.isfinite(number) else None for key, number in asdict(score).items()}
            for name, score in self.scores.items()
        }

    def __str__(self) -> str:
        width = max(len(name) for name in self.scores)
        interval = f"{self.confidence:.0%} interval"
        lines = [f"{'metric':<{width}}  observed  on clean labels  {interval:>18}"]
        lines += [_line(name.ljust(width), score) for name, score in self.scores.items()]
        exact = "taken as exact" if self.n_replicates == 0 else f"uncertain, {self.n_replicates} replicates"
        return "\n".join([*lines, f"{self.n_samples} recorded labels; noise matrix {exact}"])


def evaluate(
    model: Any,
    X: Any,
    y_noisy: Any,
    noise_matrix: Any,
    *,
    metrics: Sequence[str] | None = None,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Every metric of a fitted model, as observed and as it would be on clean labels, with intervals.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict` and `classes_`. It must not have been fitted on these labels.
    X : array or frame of shape (n_samples, n_features)
    y_noisy : column of shape (n_samples,)
        Labels as recorded.
    noise_matrix : array of shape (n_classes, n_classes) or fitted estimator
        ``[true, recorded]``. A fitted noise estimator, or a classifier that holds one, also brings its
        `bootstrap_matrices_`: then the intervals include the uncertainty of the matrix.
    metrics : sequence of str, optional
        Names from :data:`ordinoise.scoring.metrics.METRICS`, ``"ranked_probability_score"`` and
        ``"kendall_tau"``; all that the model allows if left out.
    labels : sequence, optional
        The grades in order; needed where the model is not one of ours and its classes are text.
    sample_weight : array of shape (n_samples,), optional
        Weights of the samples; Kendall's tau ignores them.
    confidence : float, default=0.95
        Level of the intervals.

    Notes
    -----
    The squared standard error is the sampling variance for the given matrix (delta method) plus the variance of the
    corrected score over the replicates of the matrix. That takes the error of the matrix as independent of these
    labels, which holds where it was estimated from other ones, and the replicates as spread like that error.
    Replicates without an inverse are left out; if fewer than two have one the interval is infinite.

    Examples
    --------
    >>> from ordinoise import OrdinalMLPClassifier, corrupt, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> data, noise = synthetic(500, random_state=0), inverse_decay(4, 0.15)
    >>> recorded = corrupt(data.labels, noise, random_state=0)
    >>> model = OrdinalMLPClassifier(noise=noise, max_iter=50, random_state=0).fit(data.features[::2], recorded[::2])
    >>> score = evaluate(model, data.features[1::2], recorded[1::2], noise)["zero_one_loss"]
    >>> clean = (model.predict(data.features[1::2]) != data.labels[1::2]).mean()
    >>> bool(score.low < clean < score.high < score.observed)
    True
    """
    order = _order(model, labels, y_noisy)
    names = _metric_names(metrics, model, hasattr(model, "predict_proba"))
    recorded = ranks_of("y_noisy", y_noisy, order)
    noise = known_noise(noise_matrix, len(order))
    predicted = ranks_of("model.predict", model.predict(X), order)
    as_same_length("y_noisy", len(recorded), "X", len(predicted))
    answers = _Answers(predicted, partial(_probabilities_of, model, X, order))
    return _scored(recorded, answers, noise, names, sample_weight, confidence)


def evaluate_probabilities(
    probabilities: ArrayLike,
    recorded: ArrayLike,
    noise_matrix: Any,
    *,
    decision: str | ArrayLike = "median",
    metrics: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """The same as :func:`evaluate`, from probabilities that are already there, such as those out of fold.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of each true class, by a model that did not see the sample.
    recorded : int array of shape (n_samples,)
        Ranks of the recorded labels.
    noise_matrix, metrics, sample_weight, confidence
        As in :func:`evaluate`.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How a class is predicted from them.
    """
    table = as_floats("probabilities", probabilities, 2)
    labels = as_labels("recorded", recorded, table.shape[1])
    as_same_length("recorded", len(labels), "probabilities", len(table))
    answers = _Answers(decide(table, decision), lambda: table)
    names = _metric_names(metrics, None, True)
    return _scored(labels, answers, known_noise(noise_matrix, table.shape[1]), names, sample_weight, confidence)


def _scored(
    recorded: Ints,
    answers: _Answers,
    noise: KnownNoise,
    names: Sequence[str],
    sample_weight: ArrayLike | None,
    confidence: float,
) -> Evaluation:
    confidence = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    usable = noise.replicates[np.linalg.cond(noise.replicates) < SINGULAR_CONDITION]
    weighing = _Weighing(recorded, answers, sample_weight, confidence)
    scores = {name: weighing.score(name, noise.matrix) for name in names}
    if len(noise.replicates):
        correctable = {name: score for name, score in scores.items() if name != KENDALL}
        scores |= {name: _widened(score, weighing.values(name, usable)) for name, score in correctable.items()}
    return Evaluation(scores, len(recorded), confidence, len(usable))


@dataclass(frozen=True, eq=False)
class _Answers:
    """What the model says of each sample: ranks, and on demand probabilities, columns in order."""

    predicted: Ints
    ask: Callable[[], Floats]

    @cached_property
    def probabilities(self) -> Floats:
        return self.ask()


def _probabilities_of(model: Any, X: Any, order: NDArray[Any]) -> Floats:
    known = np.asarray(model.predict_proba(X), dtype=np.float64)
    probabilities = np.zeros((len(known), len(order)))
    probabilities[:, ranks_of("model.classes_", model.classes_, order)] = known
    return probabilities


@dataclass(frozen=True, eq=False)
class _Weighing:
    """Recorded labels against answers, to be scored under any noise matrix."""

    recorded: Ints
    answers: _Answers
    sample_weight: ArrayLike | None
    confidence: float

    def score(self, name: str, matrix: Floats) -> CorrectedScore:
        predicted = self.answers.predicted
        options: dict[str, Any] = {"sample_weight": self.sample_weight, "confidence": self.confidence}
        if name == KENDALL:
            observed = kendall_tau(self.recorded, predicted)
            return CorrectedScore(np.nan, np.nan, np.nan, np.nan, observed, self.confidence)
        if name == RANKED_PROBABILITY:
            return noise_corrected_ranked_probability_score(
                self.recorded, self.answers.probabilities, matrix, **options
            )
        return noise_corrected(name, self.recorded, predicted, matrix, **options)

    def values(self, name: str, matrices: Floats) -> Floats:
        """The corrected score alone under each matrix: without its error it needs one small table."""
        if name not in METRICS:
            return np.array([self.score(name, matrix).value for matrix in matrices])
        joint = np.zeros(matrices.shape[1:])
        np.add.at(joint, (self.recorded, self.answers.predicted), as_weights(self.sample_weight, len(self.recorded)))
        return np.array([METRICS[name].of_joint(inverse.T @ joint) for inverse in np.linalg.inv(matrices)])


def _widened(score: CorrectedScore, replicated: Floats) -> CorrectedScore:
    """The score with the variance of `replicated` added to its own."""
    variance = float(replicated.var(ddof=1)) if len(replicated) > 1 else np.inf
    standard_error = float(np.sqrt(score.standard_error**2 + variance))
    reach = np.inf if score.confidence == 1 else NormalDist().inv_cdf((1 + score.confidence) / 2) * standard_error
    return replace(score, standard_error=standard_error, low=score.value - reach, high=score.value + reach)


def _metric_names(metrics: Sequence[str] | None, model: Any, has_probabilities: bool) -> list[str]:
    known = [*METRICS, *([RANKED_PROBABILITY] if has_probabilities else []), KENDALL]
    if metrics is None:
        return known
    if isinstance(metrics, str):
        raise complain("metrics", "be a list of names", repr(metrics), f"pass [{metrics!r}]")
    if not isinstance(metrics, (Sequence, np.ndarray, Mapping)) or np.ndim(list(metrics)) != 1:
        raise complain("metrics", "be a list of names", repr(metrics))
    if RANKED_PROBABILITY in metrics and not has_probabilities:
        raise complain("model", f"have predict_proba for {RANKED_PROBABILITY!r}", type(model).__name__)
    return [as_choice("metrics", name, known) for name in metrics]


def _order(model: Any, labels: Sequence[Any] | NDArray[Any] | None, y_noisy: Any) -> NDArray[Any]:
    """The grades in order: as stated, or as the model's classes have it where that is no guess."""
    if not hasattr(model, "classes_"):
        raise complain("model", "be a fitted classifier with classes_", type(model).__name__)
    if labels is not None:
        return ordered_classes(y_noisy, labels)
    classes = np.asarray(model.classes_)
    if hasattr(model, "noise_matrix_"):  # one of ours: its classes are in order
        return classes
    if classes.dtype.kind in "OUST":
        raise complain("labels", "be the grades in order where the model's classes are text", classes.tolist())
    return np.sort(classes)


def _line(name: str, score: CorrectedScore) -> str:
    if math.isnan(score.value):
        return f"{name}  {score.observed:8.4f}  {'-':>15}  {'-':>18}"
    return f"{name}  {score.observed:8.4f}  {score.value:15.4f}  {f'{score.low:.4f} to {score.high:.4f}':>18}"
