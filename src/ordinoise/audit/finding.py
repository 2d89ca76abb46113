"""Two ways to an audit: from features, by fitting a model, and from probabilities that somebody fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import (
    Floats,
    Ints,
    as_choice,
    as_count,
    as_flag,
    as_generator,
    as_number,
    as_probabilities,
    as_same_length,
    complain,
)
from ordinoise.audit.counting import wrong_count
from ordinoise.audit.folds import noise_prefix, out_of_fold_probabilities
from ordinoise.audit.issues import RANKINGS, LabelIssues, Library, issues_from, library_of
from ordinoise.audit.posterior import calibrated, deconvolved, posterior
from ordinoise.classifiers import OrdinalMLPClassifier
from ordinoise.estimation.resolution import resolve_noise
from ordinoise.labels import as_column, ordered_classes, ranks_of
from ordinoise.scoring.evaluation import KnownNoise, known_noise

# Before calibration, which sharpens by itself, a few steps were best; without it, these many.
STEPS_BEFORE_CALIBRATION, STEPS_ALONE = 3, 30


def find_label_issues(
    X: Any,
    y: Any,
    *,
    noise: Any = "estimate",
    estimator: Any = None,
    n_folds: int = 5,
    calibrate: bool = True,
    rank_by: str = "expected_distance",
    classes: Sequence[Any] | NDArray[Any] | None = None,
    confidence: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> LabelIssues:
    """Every label with the probability that it is wrong and the grade it should have, judged out of fold.

    Parameters
    ----------
    X : array or frame of shape (n_samples, n_features)
        What the estimator can read.
    y : column of shape (n_samples,)
        Labels as recorded.
    noise : "estimate", array of shape (n_classes, n_classes) or estimator, default="estimate"
        How labels go wrong, ``noise_matrix[true, recorded]``: estimated from `X` and `y`, known, by an estimator of
        yours, or from one already fitted, whose `bootstrap_matrices_` then widen `expected_wrong`.
    estimator : classifier, optional
        One of ours (or a pipeline around it) learns about the true label, by the noise matrix. Any other with
        `predict_proba` learns about the recorded label, and the matrix turns that into the true one. By default
        :class:`OrdinalMLPClassifier`.
    n_folds : int, default=5
        No label is judged by a model that saw it.
    calibrate : bool, default=True
        Whether to correct the probabilities so that they explain the recorded labels best.
    rank_by : {"expected_distance", "probability_wrong"}, default="expected_distance"
        What makes a label suspicious.
    classes : sequence, optional
        The grades from lowest to highest, where `y` is text or lacks some.
    confidence : float, default=0.95
        Level of the interval of `expected_wrong`.
    random_state : int, Generator, RandomState or None
        Folds, and whatever in the estimators has no state of its own.
    n_jobs : int, optional
        Folds fitted at a time, in threads.

    Examples
    --------
    >>> from ordinoise import corrupt, inverse_decay
    >>> from ordinoise.audit import find_label_issues
    >>> from ordinoise.datasets import synthetic
    >>> data, noise = synthetic(300, random_state=0), inverse_decay(4, 0.1)
    >>> recorded = corrupt(data.labels, noise, random_state=0)
    >>> issues = find_label_issues(data.features, recorded, noise=noise, random_state=0)
    >>> bool((recorded != data.labels)[issues.worst[:100]].mean() > 0.95)
    True
    """
    as_choice("rank_by", rank_by, RANKINGS)
    as_flag("calibrate", calibrate)
    n_folds = as_count("n_folds", n_folds, 2)
    ordered = ordered_classes(y, classes)
    recorded = ranks_of("y", y, ordered)
    table = X if hasattr(X, "shape") else np.asarray(X)
    as_same_length("y", len(recorded), "X", table.shape[0])
    if len(recorded) < n_folds:
        raise complain("n_folds", f"be at most the number of samples ({len(recorded)})", n_folds)
    model = OrdinalMLPClassifier() if estimator is None else estimator
    if not hasattr(model, "predict_proba"):
        raise complain("estimator", "have predict_proba", type(model).__name__)
    rng = as_generator(random_state)
    # Our own networks read numbers only, and not from every library; what others read is theirs to say.
    known = _noise(noise, _numbers(table), recorded, len(ordered), rng)
    _refuse_impossible(recorded, known.matrix, ordered)
    source = _numbers(table) if estimator is None else table
    probabilities = out_of_fold_probabilities(model, source, recorded, known.matrix, n_folds, rng, n_jobs)
    of = "recorded" if noise_prefix(model) is None else "true"
    true = _of_true_labels(probabilities, recorded, known.matrix, of, calibrate)
    return _judged(true, recorded, ordered, known, rank_by, confidence, library_of(table))


def from_probabilities(
    probabilities: ArrayLike,
    y: Any,
    noise_matrix: Any,
    *,
    of: str = "true",
    calibrate: bool = True,
    rank_by: str = "expected_distance",
    classes: Sequence[Any] | NDArray[Any] | None = None,
    confidence: float = 0.95,
) -> LabelIssues:
    """Every label with the probability that it is wrong, from class probabilities that somebody else fitted.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        One column a class, in order, by models that did not see these labels.
    y : column of shape (n_samples,)
        Labels as recorded.
    noise_matrix : array of shape (n_classes, n_classes) or fitted estimator
        ``[true, recorded]``; an estimator's `bootstrap_matrices_` widen `expected_wrong`.
    of : {"true", "recorded"}, default="true"
        Which label the probabilities speak of. A model that trusted the recorded labels gives those of the recorded
        one.
    calibrate, rank_by, classes, confidence
        As in :func:`find_label_issues`. Without `calibrate` each sample is judged by its own probabilities alone.

    Examples
    --------
    >>> from ordinoise.audit import from_probabilities
    >>> from ordinoise.noise import adjacent
    >>> noise = adjacent(3, up=0.2, down=0.1)
    >>> issues = from_probabilities([[0.9, 0.1, 0], [0, 0.2, 0.8]], [1, 2], noise, calibrate=False)
    >>> issues.probability_wrong.round(2).tolist(), issues.suggested.tolist()
    ([0.72, 0.05], [0, 2])
    """
    as_choice("of", of, ("true", "recorded"))
    as_flag("calibrate", calibrate)
    as_choice("rank_by", rank_by, RANKINGS)
    checked = as_probabilities("probabilities", _numbers(probabilities)).clip(min=0)
    known = known_noise(noise_matrix, checked.shape[1])
    ordered = _grades(y, classes, checked.shape[1])
    recorded = ranks_of("y", y, ordered)
    as_same_length("y", len(recorded), "probabilities", len(checked))
    _refuse_impossible(recorded, known.matrix, ordered)
    true = _of_true_labels(checked, recorded, known.matrix, of, calibrate)
    return _judged(true, recorded, ordered, known, rank_by, confidence, library_of(probabilities))


def _of_true_labels(probabilities: Floats, recorded: Ints, noise_matrix: Floats, of: str, calibrate: bool) -> Floats:
    """Probabilities of the true label given the features."""
    true = probabilities
    if of == "recorded":
        n_iter = STEPS_BEFORE_CALIBRATION if calibrate else STEPS_ALONE
        true = deconvolved(probabilities, noise_matrix, n_iter=n_iter)
    return calibrated(true, recorded, noise_matrix) if calibrate else true


def _judged(
    true: Floats,
    recorded: Ints,
    classes: NDArray[Any],
    noise: KnownNoise,
    rank_by: str,
    confidence: float,
    library: Library | None,
) -> LabelIssues:
    level = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    count = wrong_count(true, recorded, noise.matrix, noise.replicates, level)
    after = posterior(true, recorded, noise.matrix)
    return issues_from(after, recorded, classes, noise.matrix, count, rank_by, library)


def _noise(noise: Any, X: Any, recorded: Ints, n_classes: int, rng: np.random.Generator) -> KnownNoise:
    if noise is None:
        advice = "labels without noise have no issues"
        raise complain("noise", "be 'estimate', a noise matrix or an estimator", "None", advice)
    if isinstance(noise, str) or (hasattr(noise, "fit") and not hasattr(noise, "noise_matrix_")):
        noise = resolve_noise(noise, X, recorded, n_classes, None, int(rng.integers(2**31))).estimator
    return known_noise(noise, n_classes)


def _numbers(table: Any) -> Any:
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame) else table


def _grades(y: Any, classes: Sequence[Any] | NDArray[Any] | None, n_classes: int) -> NDArray[Any]:
    """The grades in order; 0..n_classes-1 for ranks that lack some."""
    ordered = ordered_classes(y, classes)
    if len(ordered) == n_classes:
        return ordered
    ranks = np.arange(n_classes)
    if classes is None and len(ordered) < n_classes and np.isin(as_column("y", y), ranks).all():
        return ranks
    advice = "pass classes=, the grades from lowest to highest" if classes is None else ""
    raise complain("classes", f"name all {n_classes} columns of probabilities", ordered.tolist(), advice)


def _refuse_impossible(recorded: Ints, noise_matrix: Floats, classes: NDArray[Any]) -> None:
    found = np.unique(recorded)
    never = found[(noise_matrix[:, found] == 0).all(axis=0)]
    if len(never):
        label = classes[never[0]].item()
        raise complain("noise_matrix", "allow every label in y", f"a column of zeros for {label!r}")
