"""The search for wrong labels: from features, by fitting a model, or from existing probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._frames import as_native, frame_of
from ordinoise._validation import (
    Floats,
    Ints,
    as_choice,
    as_count,
    as_flag,
    as_floats,
    as_generator,
    as_number,
    as_probabilities,
    as_same_length,
    complain,
)
from ordinoise.audit.count import WrongCount, verified_count, wrong_by_rate, wrong_count
from ordinoise.audit.folds import as_table, noise_prefix, out_of_fold_probabilities
from ordinoise.audit.graders.floor import numbered_graders
from ordinoise.audit.issues import LabelIssues, issues_from, library_of
from ordinoise.audit.order import ORDERED, doubts_about_order
from ordinoise.audit.posterior import RANKINGS, PosteriorModel, calibrated, is_believed, likelihood_of
from ordinoise.classifiers import OrdinalClassifier
from ordinoise.classifiers.blend.evidence import (
    NOTHING_LEARNED,
    Evidence,
    Trusting,
    course,
    gains_of_correction,
    gains_over_shares,
)
from ordinoise.estimation.base import warn_of_doubts
from ordinoise.estimation.resolution import resolve_noise
from ordinoise.estimation.score.estimator import noise_from_probabilities
from ordinoise.labels import Verified, as_column, as_groups, ordered_classes, ranks_of, verified_among
from ordinoise.noise import Noise
from ordinoise.threads import one_blas_thread


def find_label_issues(
    X: Any,
    y: Any,
    *,
    noise: Any = "estimate",
    estimator: Any = None,
    n_folds: int = 5,
    calibrate: bool = True,
    rank_by: str = "auto",
    classes: Sequence[Any] | NDArray[Any] | None = None,
    trusted: Any = None,
    groups: Any = None,
    noise_by: Any = None,
    confidence: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LabelIssues:
    """How suspicious every label is, the grade it should have, and how many are wrong, out of fold.

    By default this is what ``ordinoise audit`` does: the same columns, the same models, the same numbers.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        Numbers and, in a frame, categories, dates and text; identifiers and row numbers are ignored with a warning.
    y : column of shape (n_samples,)
        Labels as recorded.
    noise : "estimate", array, mapping, Noise or estimator, default="estimate"
        Noise of the labels, ``noise_matrix[true, recorded]``: estimated from `X` and `y`, known, or by your own
        estimator. Its replicates widen the interval of `expected_wrong`.
    estimator : classifier, optional
        By default :class:`OrdinalClassifier`, with its own out-of-fold predictions. Another of ours (or a pipeline
        around it) is given the noise matrix and predicts the true label; any other with `predict_proba` predicts the
        recorded label, and the noise matrix converts that to the true one.
    n_folds : int, default=5
        Folds for your own `estimator`: no label is judged by a model that saw it.
    calibrate : bool, default=True
        Whether to calibrate the probabilities on the recorded labels, through the noise matrix.
    rank_by : {"auto", "expected_distance", "probability_wrong", "large_error"}, default="auto"
        What makes a label suspicious: "auto" is the distance where the noise is believed, else the probability.
        "large_error" looks for labels that are wrong by two grades or more, by the distance, every longer one counted
        as two, and by how much less likely the record is than grades of its row are on average.
    classes : sequence, optional
        The grades from lowest to highest, if `y` is text or lacks some.
    trusted : (rows, labels) or Verified, optional
        Numbers of rows whose true label is known, and those labels; for the default estimator. They are the last in
        the ranking, and `expected_wrong` is about the other rows. ``ordinoise.labels.Verified`` says how often
        the verifier errs.
    groups : column of shape (n_samples,), optional
        Rows of one group (a patient, a query, an item with several labels) are judged by models that saw none of them.
    noise_by : column of shape (n_samples,), optional
        Who graded each row (a person, a branch, a device; missing where nobody is named), only if rows were given out
        to them at random: then graders who differ are wrong on some rows, so that `expected_wrong` has a higher lower
        end. Where rows are given out by difficulty that no column shows, that end is too high, and nothing tells.
    confidence : float, default=0.95
        Level of the interval of `expected_wrong`.
    random_state : int, Generator, RandomState or None
        Folds, and every `random_state` in the estimators that is None.
    n_jobs : int, optional
        Number of fits at a time, in threads.
    verbose : bool, default=False
        Whether to show the progress of the default estimator, in the terminal or in the notebook.

    Examples
    --------
    >>> from ordinoise import corrupt, find_label_issues, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> data, noise = synthetic(300, random_state=0), inverse_decay(4, 0.1)
    >>> recorded = corrupt(data.labels, noise, random_state=0)
    >>> issues = find_label_issues(data.features, recorded, noise=noise, random_state=0)
    >>> bool((recorded != data.labels)[issues.worst[:50]].mean() > 0.9)
    True
    """
    as_choice("rank_by", rank_by, RANKINGS)
    as_flag("calibrate", calibrate)
    if noise is None:
        advice = "labels without noise have no issues"
        raise complain("noise", "be 'estimate', a noise matrix or an estimator", "None", advice)
    options: dict[str, Any] = {
        "calibrate": calibrate,
        "rank_by": rank_by,
        "confidence": confidence,
        "groups": groups,
        "noise_by": noise_by,
    }
    if estimator is None and len(getattr(X, "shape", ())) > 2:
        advice = "pass estimator=, such as an OrdinalTorchClassifier, or embeddings, one row per sample"
        raise complain("X", "be a table", f"shape {tuple(X.shape)}", advice)
    X = as_native(X) if estimator is None else as_table(X)
    if estimator is None:
        model = OrdinalClassifier(
            noise=noise, classes=classes, n_jobs=n_jobs, random_state=random_state, verbose=verbose
        )
        model.fit(X, y, trusted=trusted, groups=groups)
        assert model.out_of_fold_ is not None
        found = issues_from_probabilities(
            model.out_of_fold_, y, model.noise_, classes=model.classes_, trusted=trusted,
            recorded_probabilities=model.recorded_out_of_fold_, **options,
        )  # fmt: skip
        return replace(found, library=library_of(X))
    if trusted is not None:
        raise complain("trusted", "be None with an estimator of your own", "labels")
    ordered = ordered_classes(y, classes)
    recorded = ranks_of("y", y, ordered)
    as_same_length("y", len(recorded), "X", X.shape[0])
    n_folds = as_count("n_folds", n_folds, 2)
    if len(recorded) < n_folds:
        raise complain("n_folds", f"be at most the number of samples ({len(recorded)})", n_folds)
    if isinstance(estimator, type):
        name = estimator.__name__
        raise complain("estimator", "be a classifier", f"the class {name}", f"pass an instance, {name}()")
    if not hasattr(estimator, "predict_proba"):
        raise complain("estimator", "have predict_proba", type(estimator).__name__)
    rng = as_generator(random_state)
    # The default noise estimator takes arrays of numbers only.
    seed, together = int(rng.integers(2**31)), as_groups(groups, len(recorded))
    of = "recorded" if noise_prefix(estimator) is None else "true"
    known, matrix = noise, np.eye(len(ordered))
    if of == "true" or not (isinstance(noise, str) and noise == "estimate"):
        known, _ = resolve_noise(noise, _numbers(X), recorded, len(ordered), None, seed, groups=together)
        matrix = known.matrix
        _refuse_impossible(recorded, matrix, ordered)
    # Otherwise the probabilities of a model that knows no noise are what the noise is estimated from.
    probabilities = out_of_fold_probabilities(estimator, X, recorded, matrix, n_folds, rng, n_jobs, together)
    found = issues_from_probabilities(probabilities, y, known, of=of, classes=ordered, random_state=seed, **options)
    return replace(found, library=library_of(X))


@one_blas_thread()
def issues_from_probabilities(
    probabilities: ArrayLike,
    y: Any,
    noise: Any = "estimate",
    *,
    of: str | None = None,
    calibrate: bool = True,
    rank_by: str = "auto",
    classes: Sequence[Any] | NDArray[Any] | None = None,
    trusted: Any = None,
    recorded_probabilities: ArrayLike | None = None,
    confidence: float = 0.95,
    random_state: Any = None,
    groups: Any = None,
    noise_by: Any = None,
) -> LabelIssues:
    """How suspicious every label is and how many are wrong, from the class probabilities of a model of your own.

    Parameters
    ----------
    probabilities : array or frame of shape (n_samples, n_classes)
        One column per class, in order, by models that did not see these labels. Columns of a frame that are named after
        the grades may be in any order.
    y : column of shape (n_samples,)
        Labels as recorded.
    noise : "estimate", array, mapping, Noise, or fitted estimator or classifier, default="estimate"
        Noise of the labels, estimated from the probabilities and `y`, or known; its replicates widen the interval of
        `expected_wrong`. For several raters the average matrix is used.
    of : {"true", "recorded"}, optional
        Whether the probabilities are of the true or of the recorded label; a model that trusted the labels predicts the
        recorded one. By default "recorded" if the noise is estimated from them, else "true". If the noise is not
        believed (its `answer` is not "corrected") they are taken as they are, those of the recorded label calibrated
        half-way at most, and not at all where the order of the rows left its trace in them (doubt `ordered-rows`); if
        they say no more of the labels than the class shares, these are used.
    calibrate, rank_by, classes, trusted, confidence
        As in :func:`find_label_issues`. Without `calibrate` each sample is judged by its own probabilities alone.
    recorded_probabilities : array of shape (n_samples, n_classes), optional
        Probabilities of the recorded label by models that trust the labels, if `probabilities` are of the true one: the
        number of wrong labels is counted by them. By default they follow from `probabilities` and `noise`.
    random_state : int, Generator, RandomState or None
        For the estimate of the noise.
    groups : column of shape (n_samples,), optional
        Rows of one group (a patient, a query) are not independent, which widens the intervals; the probabilities must
        come from models that saw none of a row's group.
    noise_by : column of shape (n_samples,), optional
        As in :func:`find_label_issues`; the models must not have seen it.

    Examples
    --------
    >>> from ordinoise.audit import issues_from_probabilities
    >>> from ordinoise.noise import adjacent
    >>> noise = adjacent(3, up=0.2, down=0.1)
    >>> issues = issues_from_probabilities([[0.9, 0.1, 0], [0, 0.2, 0.8]], [1, 2], noise, calibrate=False)
    >>> issues.probability_wrong.round(2).tolist(), issues.suggested.tolist()
    ([0.72, 0.05], [0, 2])
    """
    estimates = isinstance(noise, str)
    usual = "recorded" if estimates else "true"
    of = as_choice("of", usual if of is None else of, ("true", "recorded"))
    as_flag("calibrate", calibrate)
    as_choice("rank_by", rank_by, RANKINGS)
    level = as_number("confidence", confidence, 0.0, 1.0, open_low=True)
    table = as_native(probabilities)
    n_columns = as_floats("probabilities", table, 2).shape[1]
    ordered = _grades(y, classes, n_columns)
    checked = as_probabilities("probabilities", table, n_columns, ordered.tolist()).clip(min=0)
    record = Noise.of(None if estimates else noise, n_columns).average
    recorded = ranks_of("y", y, ordered)
    as_same_length("y", len(recorded), "probabilities", len(checked))
    known = verified_among(trusted, ordered, len(recorded))
    together = as_groups(groups, len(recorded))
    graders = None if noise_by is None else numbered_graders(noise_by, len(recorded))
    is_left = np.ones(len(recorded), dtype=bool)
    if known is not None:
        is_left[known.rows] = False
    if estimates:
        record = _estimated(noise, of, checked, recorded, known, together, as_generator(random_state))
        # Models that never saw rows like those that they judge are worse than the shares, and still tell them apart.
        if record.reason == NOTHING_LEARNED and ORDERED not in record.doubt_codes:
            checked = np.tile(_shares(recorded, record.n_classes), (len(recorded), 1))
    if is_believed(record):
        _refuse_impossible(recorded, record.matrix, ordered)
    if record.source == "given" and not isinstance(noise, Noise):  # of a record it was warned before
        warn_of_doubts(record)
    model = PosteriorModel.fitted(record, checked, recorded, of=of, calibrate=calibrate, verified=known)
    after = model.of(checked, recorded, known)
    # Of a verified row what it was before anybody looked: the count compares verdicts with it.
    ranked = after if known is None else model.of(checked, recorded)
    if of == "recorded" and calibrate and record.is_estimated and record.answer == "corrected":
        # The correction may be of little use for the ranking where the model is too sure of itself, or too weak.
        doubted = PosteriorModel.fitted(replace(record, answer="trusting"), checked, recorded, of=of, verified=known)
        ranked = ranked.half_way(doubted.of(checked, recorded))
    suspicion = ranked.probability_wrong
    of_left = None if together is None else together[is_left]
    by_matrix = _by_matrix(record, model.true(checked)[is_left], recorded[is_left], level, of_left)
    if record.source in ("given", "trusted"):
        count, chances = by_matrix, after.probability_wrong
    else:
        trusting = _of_records(checked, recorded_probabilities, record, of, ordered)
        under = None if by_matrix is None else by_matrix.estimate
        count, chances = verified_count(trusting, recorded, suspicion, known, under, level, together, graders)
        if record.source == "too few rows" and np.isnan(chances).all():
            count = None
    return issues_from(
        after, suspicion, chances, ordered, record, count, rank_by, library_of(probabilities), ~is_left, ranked=ranked
    )


def _by_matrix(noise: Noise, true: Floats, recorded: Ints, confidence: float, groups: Ints | None) -> WrongCount | None:
    """The number of wrong labels if one matrix describes the noise; None for too few rows."""
    if noise.source == "too few rows":
        return None
    if is_believed(noise):
        return wrong_count(true, recorded, noise, confidence, groups)
    return wrong_by_rate(noise, len(recorded))


def _of_records(probabilities: Floats, given: ArrayLike | None, noise: Noise, of: str, classes: NDArray[Any]) -> Floats:
    """Probabilities of the recorded label."""
    if given is not None:
        n_classes, own = len(classes), as_native(given)
        table = as_probabilities("recorded_probabilities", own, n_classes, classes.tolist()).clip(min=0)
        as_same_length("recorded_probabilities", len(table), "probabilities", len(probabilities))
        return table
    return probabilities @ noise.matrix if of == "true" and noise.answer == "corrected" else probabilities


def _estimated(
    noise: str,
    of: str,
    probabilities: Floats,
    recorded: Ints,
    known: Verified | None,
    groups: Ints | None,
    rng: np.random.Generator,
) -> Noise:
    """The noise estimated from probabilities of the recorded label, with the answer that the evidence calls for."""
    if noise != "estimate":
        raise complain("noise", "be 'estimate', a noise matrix or a fitted estimator", repr(noise))
    if of != "recorded":
        advice = "pass the noise that the model corrected for, such as model.noise_"
        raise complain("of", "be 'recorded' where the noise is estimated", repr(of), advice)
    weights = np.ones(len(recorded))
    seed = int(rng.integers(2**31))
    found = noise_from_probabilities(probabilities, recorded, weights, trusted=known, random_state=seed, groups=groups)
    warn_of_doubts(found)
    gains = gains_over_shares(probabilities, recorded, _shares(recorded, found.n_classes), "median")

    def correct(noise: Noise) -> tuple[Floats, Evidence]:
        # Both calibrated by as many weights: a model that is too sure of itself is mended as well without any noise.
        true = PosteriorModel.fitted(noise, probabilities, recorded, of="recorded").true(probabilities)
        trusted = calibrated(probabilities, likelihood_of(recorded, np.eye(noise.n_classes)))
        return true, Evidence.of(gains_of_correction(trusted, true, noise.matrix, recorded), groups=groups)

    first = Trusting(probabilities, found, Evidence.of(*gains, groups=groups))
    chosen, _ = course("auto", first, correct)
    # It is no reason not to correct: shuffled folds of rows in the order of their true grades raise it too.
    chosen = replace(chosen, doubts=(*chosen.doubts, *doubts_about_order(probabilities, recorded)))
    if chosen.answer == "trusting" and found.rate_range is not None:
        # The same probabilities explain the records as well without any noise: all labels may be right.
        return replace(chosen, rate_range=(0.0, found.rate_range[1]))
    return chosen


def _shares(recorded: Ints, n_classes: int) -> Floats:
    return np.asarray(np.bincount(recorded, minlength=n_classes) / len(recorded))


def _numbers(table: Any) -> Any:
    frame = frame_of(table)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame) else table


def _grades(y: Any, classes: Sequence[Any] | NDArray[Any] | None, n_classes: int) -> NDArray[Any]:
    """The grades in order; 0..n_classes-1 if `y` holds ranks but lacks some."""
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
