"""Class probabilities of each sample by a model that did not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline

from ordinoise import crossfit
from ordinoise._frames import as_native
from ordinoise._validation import Floats, Ints, as_generator, as_same_length, complain
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.crossfit import fitted_probabilities, predicted_by, seeded_clone, stratified_folds
from ordinoise.labels import as_groups, ordered_classes, ranks_of


def out_of_fold(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Floats:
    """Class probabilities of every row by models that did not see it, one column per grade, from lowest to highest.

    What ``cross_val_predict(model, X, y, method="predict_proba")`` gives, in the order of the grades: that function
    sorts the labels first, so that its columns, and the grades that an ordinal model learns, are in alphabetical order.

    Parameters
    ----------
    model : classifier with `predict_proba`
        One of ours or of any other library, a pipeline, or an ensemble. Clones are fitted to ranks 0..n_classes-1; ours
        know all grades, also those that a training part lacks.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
    y : column of shape (n_samples,)
        Labels as recorded: whole numbers, an ordered categorical, or text with `classes`.
    cv : int, splitter or iterable of (training, test), default=5
        Number of stratified folds, or folds of your own in which every row is tested once.
    groups : column of shape (n_samples,), optional
        Rows of one group (a patient, a query) are predicted by models that saw none of them.
    classes : sequence, optional
        The grades from lowest to highest; by default those of `model` or of `y`.
    random_state : int, Generator, RandomState or None
        Folds, and every `random_state` in the model that is None.
    n_jobs : int, optional
        Number of folds at a time, in threads; one per processor by default. The result does not depend on it.

    Returns
    -------
    probabilities : array of shape (n_samples, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ordinoise import out_of_fold
    >>> y = np.repeat(["low", "mid", "high"], 20)
    >>> found = out_of_fold(LogisticRegression(), np.arange(60.0)[:, None], y, cv=3, classes=["low", "mid", "high"])
    >>> found[[0, -1]].argmax(axis=1).tolist()
    [0, 2]
    """
    if not hasattr(model, "predict_proba") or isinstance(model, type):
        got = f"the class {model.__name__}, not an instance" if isinstance(model, type) else type(model).__name__
        raise complain("model", "be a classifier with predict_proba", got)
    ordered = ordered_classes(y, _own_classes(model) if classes is None else classes)
    recorded = ranks_of("y", y, ordered)
    table = as_table(X)
    as_same_length("y", len(recorded), "X", table.shape[0])
    rng, together = as_generator(random_state), as_groups(groups, len(recorded))
    of_ranks = _for_ranks(model, ordered)

    def fit_predict(training: Ints, test: Ints, seed: int) -> Floats:
        single = seeded_clone(of_ranks, seed)
        return fitted_probabilities(single, table, recorded, len(ordered), training, test, together)

    splits = _splits(cv, recorded, rng, together)
    return predicted_by(fit_predict, splits, len(ordered), rng=rng, n_jobs=n_jobs)


def as_table(X: Any) -> Any:
    """`X` in memory, read once: a query or stream would give each fold rows of its own."""
    native = as_native(X)
    return native if hasattr(native, "shape") else np.asarray(native)


def _splits(cv: Any, recorded: Ints, rng: np.random.Generator, groups: Ints | None) -> list[tuple[Ints, Ints]]:
    """Training and test rows of each fold; every row is tested once."""
    if isinstance(cv, (int, np.integer)):
        folds = stratified_folds(recorded, int(cv), rng, groups)
        return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(int(folds.max()) + 1)]
    found = check_cv(cv, recorded, classifier=True).split(np.zeros((len(recorded), 1)), recorded, groups)
    splits = [(np.asarray(training), np.asarray(test)) for training, test in found]
    times = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(recorded))
    if len(times) > len(recorded) or (times != 1).any():
        row = int(np.flatnonzero(times != 1)[0])
        raise complain("cv", "test every row once", f"row {row} tested {times[row]} times")
    return splits


def _own_classes(model: Any) -> Any:
    """The grades that one of our classifiers in `model` was given; None if none was."""
    given = (part.classes for part in _ours(model).values() if part.classes is not None)
    return next(given, None)


def _ours(model: Any) -> dict[str, OrdinalClassifierBase]:
    """Our classifiers in `model`, by the prefix of their parameters: empty for the model itself."""
    if isinstance(model, OrdinalClassifierBase):
        return {"": model}
    parts = model.get_params(deep=True).items()
    return {f"{name}__": part for name, part in parts if isinstance(part, OrdinalClassifierBase)}


def _for_ranks(model: Any, classes: NDArray[Any]) -> Any:
    """A clone that is to be fitted to ranks: its `classes`, and the keys of its `class_weight`, are ranks."""
    copy = clone(model)
    # Inside other tools, which number the labels of each training part anew, ours may not know more of them.
    known = np.arange(len(classes)) if isinstance(model, (OrdinalClassifierBase, Pipeline)) else None
    ranks = {label: rank for rank, label in enumerate(classes.tolist())}
    changed: dict[str, Any] = {f"{prefix}classes": known for prefix in _ours(copy)}
    for name, value in copy.get_params(deep=True).items():
        if name.split("__")[-1] == "class_weight" and isinstance(value, Mapping):
            changed[name] = {ranks.get(label, label): weight for label, weight in value.items()}
    return copy.set_params(**changed)


def out_of_fold_probabilities(
    estimator: Any,
    X: Any,
    recorded: Ints,
    noise_matrix: Floats,
    n_folds: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    groups: Ints | None = None,
) -> Floats:
    """Class probabilities of each sample, shape (n_samples, n_classes), by a clone fitted on the other folds.

    Of the true label if the estimator is or contains one of our classifiers, which is given the noise matrix; else of
    the recorded label.
    """
    n_classes = len(noise_matrix)

    def fit_predict(training: Ints, test: Ints, seed: int) -> Floats:
        model = _with_noise(seeded_clone(estimator, seed), noise_matrix)
        return fitted_probabilities(model, X, recorded, n_classes, training, test, groups)

    return crossfit.out_of_fold(
        fit_predict, recorded, n_classes, n_folds=n_folds, rng=rng, n_jobs=n_jobs, groups=groups
    )


def noise_prefix(estimator: Any) -> str | None:
    """Prefix of the parameters of our classifier inside the estimator (empty for the classifier itself), or None."""
    if isinstance(estimator, OrdinalClassifierBase):
        return ""
    parameters = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    ours = [name for name, value in parameters.items() if isinstance(value, OrdinalClassifierBase)]
    return f"{ours[0]}__" if ours else None


def _with_noise(estimator: Any, noise_matrix: Floats) -> Any:
    """The estimator with its parameters `noise` and `classes` set, where it has them."""
    prefix = noise_prefix(estimator)
    if prefix is None:
        return estimator
    return estimator.set_params(**{f"{prefix}noise": noise_matrix, f"{prefix}classes": np.arange(len(noise_matrix))})
