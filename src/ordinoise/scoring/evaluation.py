"""How good a model is on clean labels, estimated from recorded ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._text import TextTable, hypertext
from ordinoise._validation import (
    Floats,
    Ints,
    as_choice,
    as_number,
    as_probabilities,
    as_same_length,
    as_weights,
    complain,
)
from ordinoise._warning import renamed
from ordinoise.crossfit import with_every_class
from ordinoise.decisions import decide
from ordinoise.estimation.resolution import needs_data, resolve_noise
from ordinoise.labels import as_groups, ordered_classes, ranks_of
from ordinoise.noise import Noise
from ordinoise.noise.matrices import SINGULAR_CONDITION
from ordinoise.scoring._ranks import ranks_among
from ordinoise.scoring.metrics import (
    METRICS,
    CorrectedScore,
    kendall_tau,
    noise_corrected,
    noise_corrected_ranked_probability_score,
    possible_range,
    ranked_probability_costs,
    usable_replicates,
    with_matrix_variance,
)

RANKED_PROBABILITY = "ranked_probability_score"
KENDALL = "kendall_tau"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Every metric on the recorded labels and, corrected for noise, on clean ones; printing it gives a table.

    Attributes
    ----------
    scores : mapping of str to CorrectedScore
        One entry per metric. Kendall's tau has no known correction: only its `observed` is a number. The same holds for
        all metrics if the noise is unknown for lack of rows. Where the noise is in doubt (`in_doubt`), `value` is the
        observed score, and the interval holds both what follows from the labels as they are and what follows from
        the estimated noise. Nothing lies outside the range that the metric can have.
    n_samples : int
        Number of recorded labels.
    confidence : float
        Level of the intervals.
    n_replicates : int
        Replicates of the noise matrix behind the intervals; 0 if the matrix was taken as exact.
    in_doubt : bool
        Whether the noise was not believed: its `answer` is not "corrected".
    answer, reason : str
        What the model made of the noise, and why, as in :class:`~ordinoise.noise.Noise`.
    """

    scores: Mapping[str, CorrectedScore]
    n_samples: int
    confidence: float
    n_replicates: int
    in_doubt: bool = False
    answer: str = "corrected"
    reason: str = ""

    def __getitem__(self, metric: str) -> CorrectedScore:
        return self.scores[as_choice("metric", metric, self.scores)]

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Plain numbers by metric, ready for JSON; None for NaN and infinity."""
        return {name: score.to_dict() for name, score in self.scores.items()}

    def __str__(self) -> str:
        width = max(len(name) for name in self.scores)
        interval = f"{self.confidence:.0%} interval"
        lines = [f"{'metric':<{width}}  observed  on clean labels  {interval:>18}"]
        lines += [_line(name.ljust(width), score) for name, score in self.scores.items()]
        return "\n".join([*lines, self._footnote])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        columns = ("metric", "observed", "on clean labels", f"{self.confidence:.0%} interval")
        rows = tuple((name, *_cells(score)) for name, score in self.scores.items())
        return hypertext(TextTable("Evaluation", columns, rows, (self._footnote,)))

    @property
    def _footnote(self) -> str:
        exact = "taken as exact" if self.n_replicates == 0 else f"uncertain, {self.n_replicates} replicates"
        if self.in_doubt:
            exact = f"not believed ({self.answer}): the intervals hold both the labels as they are and the estimate"
        return f"{self.n_samples} recorded labels; noise matrix {exact}"


@renamed(labels="classes")
def evaluate(
    model: Any,
    X: Any,
    y: Any,
    noise: Any = "model",
    *,
    metrics: Sequence[str] | None = None,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    groups: Any = None,
) -> Evaluation:
    """Every metric of a fitted model, as observed and as it would be on clean labels, with intervals.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict` and `classes_`. It must not have been fitted on these labels.
    X : array or frame of shape (n_samples, n_features)
    y : column of shape (n_samples,)
        Labels as recorded.
    noise : "model", None, array, mapping, Noise, "estimate" or estimator, default="model"
        Noise of the labels: "model" is that of the model's own training labels, which needs one of our classifiers;
        None trusts the labels; ``"estimate"`` or an unfitted estimator estimates it from `X` and `y`. If the noise has
        replicates the intervals include its uncertainty; for several raters the average matrix is used.
    metrics : sequence of str, optional
        Names from :data:`ordinoise.scoring.metrics.METRICS`, ``"ranked_probability_score"`` and
        ``"kendall_tau"``; by default all that the model allows.
    classes : sequence, optional
        The grades in order; needed if the model is not one of ours and its classes are text.
    sample_weight : array of shape (n_samples,), optional
        Weights of the samples; Kendall's tau ignores them.
    confidence : float, default=0.95
        Level of the intervals.
    groups : column of shape (n_samples,), optional
        Rows of one group (a patient, a query) are not independent, which widens the intervals.

    Notes
    -----
    The squared standard error is the sampling variance for the given matrix (delta method) plus the variance of the
    corrected score over the replicates of the matrix. That assumes that the error of the matrix is independent of these
    labels, which holds if it was estimated from other ones, and that the replicates vary like that error.
    Replicates without an inverse are ignored; if fewer than two have one, the interval is infinite.

    Examples
    --------
    >>> from ordinoise import OrdinalMLPClassifier, corrupt, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> data, noise = synthetic(500, random_state=0), inverse_decay(4, 0.15)
    >>> recorded = corrupt(data.labels, noise, random_state=0)
    >>> model = OrdinalMLPClassifier(noise=noise, max_iter=50, random_state=0).fit(data.features[::2], recorded[::2])
    >>> score = evaluate(model, data.features[1::2], recorded[1::2])["zero_one_loss"]
    >>> clean = (model.predict(data.features[1::2]) != data.labels[1::2]).mean()
    >>> bool(score.low < clean < score.high < score.observed)
    True
    """
    order = _order(model, classes, y)
    names = _metric_names(metrics, model, hasattr(model, "predict_proba"))
    recorded = ranks_of("y", y, order)
    predictions = _predictions_of(model, X, order)
    as_same_length("y", len(recorded), "X", len(predictions.predicted))
    together = as_groups(groups, len(recorded))
    record = _noise_of(model, X, recorded, len(order), noise, together)
    return _evaluation(recorded, predictions, record, names, sample_weight, confidence, together)


def _noise_of(model: Any, X: Any, recorded: Ints, n_classes: int, noise: Any, groups: Ints | None) -> Noise:
    """The noise to correct the scores for."""
    if not isinstance(noise, str) or noise != "model":
        if not needs_data(noise):
            return Noise.of(noise, n_classes).average
        return resolve_noise(noise, X, recorded, n_classes, groups=groups)[0].average
    if not hasattr(model, "noise_"):
        advice = "pass noise=None if the labels are right, or a noise matrix"
        raise complain("noise", "be given if the model has no noise_", type(model).__name__, advice)
    return Noise.of(model, n_classes).average


def evaluate_probabilities(
    probabilities: ArrayLike,
    recorded: ArrayLike,
    noise: Any,
    *,
    decision: str | ArrayLike = "median",
    metrics: Sequence[str] | None = None,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    groups: Any = None,
) -> Evaluation:
    """Every metric as :func:`evaluate` has it, from existing probabilities, such as out-of-fold ones.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of each true class, by a model that did not see the sample.
    recorded : column of shape (n_samples,)
        Recorded labels: ranks 0..n_classes-1, or grades among `classes`.
    noise : None, array, mapping, Noise, or fitted estimator or classifier
        Noise of the labels.
    metrics, sample_weight, confidence, groups
        As in :func:`evaluate`.
    classes : sequence, optional
        The grades from lowest to highest, one per column.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How a class is predicted from the probabilities.
    """
    table = as_probabilities("probabilities", probabilities, classes=classes)
    labels = ranks_among("recorded", recorded, classes, table.shape[1])
    as_same_length("recorded", len(labels), "probabilities", len(table))
    predictions = _Predictions(decide(table, decision), lambda: table)
    names = _metric_names(metrics, None, True)
    record = Noise.of(noise, table.shape[1]).average
    return _evaluation(labels, predictions, record, names, sample_weight, confidence, as_groups(groups, len(labels)))


def _evaluation(
    recorded: Ints,
    predictions: _Predictions,
    noise: Noise,
    names: Sequence[str],
    sample_weight: ArrayLike | None,
    confidence: float,
    groups: Ints | None,
) -> Evaluation:
    confidence = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    comparison = _Comparison(recorded, predictions, sample_weight, confidence, groups)
    usable = usable_replicates(noise)
    if noise.source == "too few rows":
        scores = comparison.scores(names, noise)
        unknown = dict.fromkeys(("value", "standard_error", "low", "high"), np.nan)
        scores = {name: replace(score, **unknown) for name, score in scores.items()}
    elif noise.answer == "corrected":
        scores = comparison.scores(names, noise)
    else:
        scores = comparison.scores(names, noise.believed)
        if "moved-grade" not in noise.doubt_codes and np.linalg.cond(noise.matrix) < SINGULAR_CONDITION:
            corrected = comparison.scores(names, noise)
            scores = {name: _either(score, corrected[name]) for name, score in scores.items()}
    scores = {name: _possible(name, score, noise.n_classes) for name, score in scores.items()}
    in_doubt = noise.answer != "corrected" and noise.source == "estimated"
    return Evaluation(scores, len(recorded), confidence, len(usable), in_doubt, noise.answer, noise.reason)


def _either(recorded: CorrectedScore, corrected: CorrectedScore) -> CorrectedScore:
    """The score as recorded, with an interval that holds those of both."""
    return replace(recorded, low=min(recorded.low, corrected.low), high=max(recorded.high, corrected.high))


def _possible(name: str, score: CorrectedScore, n_classes: int) -> CorrectedScore:
    """The score with estimate and interval within the range of the metric."""
    ends = possible_range(name, n_classes)
    low, value, high = (float(np.clip(number, *ends)) for number in (score.low, score.value, score.high))
    return replace(score, low=low, value=value, high=high)


@dataclass(frozen=True, eq=False)
class _Predictions:
    """Predicted ranks and, computed on demand, probabilities with the columns in order."""

    predicted: Ints
    ask: Callable[[], Floats]

    @cached_property
    def probabilities(self) -> Floats:
        return self.ask()


def _predictions_of(model: Any, X: Any, order: NDArray[Any]) -> _Predictions:
    """Our own models predict once, as their decision rule needs only the probabilities; others predict both."""
    if hasattr(model, "noise_") and hasattr(model, "decision"):
        probabilities = _probabilities_of(model, X, order)
        return _Predictions(decide(probabilities, model.decision), lambda: probabilities)
    predicted = ranks_of("model.predict", model.predict(X), order)
    return _Predictions(predicted, partial(_probabilities_of, model, X, order))


def _probabilities_of(model: Any, X: Any, order: NDArray[Any]) -> Floats:
    """Probabilities with the columns in the order of the grades."""
    present = ranks_of("model.classes_", model.classes_, order)
    return with_every_class(np.asarray(model.predict_proba(X), dtype=np.float64), present, len(order))


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Recorded labels and predictions, to be scored under any noise matrix."""

    recorded: Ints
    predictions: _Predictions
    sample_weight: ArrayLike | None
    confidence: float
    groups: Ints | None

    def scores(self, names: Sequence[str], noise: Noise) -> dict[str, CorrectedScore]:
        """All scores under one noise; its replicates widen the intervals."""
        found = {name: self.score(name, noise.matrix) for name in names}
        if len(noise.replicates):
            usable = usable_replicates(noise)
            correctable = [name for name in names if name != KENDALL]
            found |= {name: with_matrix_variance(found[name], noise, self.values(name, usable)) for name in correctable}
        return found

    def score(self, name: str, matrix: Floats) -> CorrectedScore:
        predicted = self.predictions.predicted
        options: dict[str, Any] = {
            "sample_weight": self.sample_weight,
            "confidence": self.confidence,
            "groups": self.groups,
        }
        if name == KENDALL:
            observed = kendall_tau(self.recorded, predicted)
            return CorrectedScore(np.nan, np.nan, np.nan, self.confidence, standard_error=np.nan, observed=observed)
        if name == RANKED_PROBABILITY:
            return noise_corrected_ranked_probability_score(
                self.recorded, self.predictions.probabilities, matrix, **options
            )
        return noise_corrected(name, self.recorded, predicted, matrix, **options)

    def values(self, name: str, matrices: Floats) -> Floats:
        """The corrected score under each matrix, without its error: it needs only sums by recorded label."""
        weights, inverses = as_weights(self.sample_weight, len(self.recorded)), np.linalg.inv(matrices)
        sums = np.zeros(matrices.shape[1:])
        if name == RANKED_PROBABILITY:  # the score of every possible label, summed over the rows of each recorded one
            np.add.at(sums, self.recorded, weights[:, None] * ranked_probability_costs(self.predictions.probabilities))
            return np.einsum("mrk,rk->m", inverses, sums)
        np.add.at(sums, (self.recorded, self.predictions.predicted), weights)
        return np.array([METRICS[name].of_joint(inverse.T @ sums) for inverse in inverses])


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


def _order(model: Any, given: Sequence[Any] | NDArray[Any] | None, y: Any) -> NDArray[Any]:
    """The grades in order: as given, or the classes of the model if their order is certain."""
    if not hasattr(model, "classes_"):
        raise complain("model", "be a fitted classifier with classes_", type(model).__name__)
    if given is not None:
        return ordered_classes(y, given)
    classes = np.asarray(model.classes_)
    if hasattr(model, "noise_"):  # one of ours: its classes are in order
        return classes
    if classes.dtype.kind in "OUST":
        raise complain("classes", "be the grades in order if the model's classes are text", classes.tolist())
    return np.sort(classes)


def _line(name: str, score: CorrectedScore) -> str:
    observed, value, interval = _cells(score)
    return f"{name}  {observed:>8}  {value:>15}  {interval:>18}"


def _cells(score: CorrectedScore) -> tuple[str, str, str]:
    """Observed and corrected score and the interval, as text."""
    if math.isnan(score.value):
        return f"{score.observed:.4f}", "-", "-"
    return f"{score.observed:.4f}", f"{score.value:.4f}", score.span(".4f")
