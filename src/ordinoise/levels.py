"""Labels as levels: the 0/1 answers to "is the grade above j?" that every threshold loss is made of.

Robustness is one small table: :func:`corrected_levels` replaces the 0/1 levels, and the loss that reads them does not
change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import Floats, Ints, as_class_count, as_floats, as_labels
from ordinoise.noise import correction_matrix

__all__ = [
    "class_probabilities",
    "corrected_levels",
    "level_table",
]


def level_table(n_classes: int) -> Floats:
    """Levels of every label: row k holds 1 for the thresholds that grade k exceeds, else 0.

    Examples
    --------
    >>> level_table(3)
    array([[0., 0.],
           [1., 0.],
           [1., 1.]])
    """
    return np.tri(as_class_count(n_classes), n_classes - 1, k=-1)


def levels(labels: ArrayLike, n_classes: int) -> Floats:
    """Levels of each sample, shape (n_samples, n_classes - 1): 1 where the label exceeds threshold j, else 0."""
    return level_table(n_classes)[as_labels("labels", labels, n_classes)]


def corrected_levels(noise_matrix: ArrayLike) -> Floats:
    """Levels whose average over the noise is the true label's levels: ``inverse(noise_matrix) @ level_table``.

    Row r is used for a sample *recorded* as r. A loss on these levels is the paper's unbiased loss.
    With noise some lie outside [0, 1]; clipping them would undo the correction.
    """
    correction = correction_matrix(noise_matrix)
    return correction @ level_table(len(correction))


def labels_from_logits(logits: ArrayLike) -> Ints:
    """Predicted labels, shape (n_samples,): the number of positive logits."""
    return (as_floats("logits", logits, 2) > 0).sum(axis=1)


def exceedance(logits: ArrayLike) -> Floats:
    """Probability that the label exceeds each threshold, P(y > j); logits need not be descending.

    Unordered logits are sorted in descending order, which does not change the predicted label.
    """
    return _sigmoid(_descending(as_floats("logits", logits, 2)))


def class_probabilities(logits: ArrayLike) -> Floats:
    """Probability of each class, shape (n_samples, n_classes); never negative, rows sum to one."""
    probabilities = np.exp(log_class_probabilities(logits))
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def log_class_probabilities(logits: ArrayLike) -> Floats:
    """Logarithm of each class's probability, exact also if the probability itself would underflow.

    ``log P_j = log sigmoid(f_{j-1}) + log sigmoid(-f_j) + log(1 - exp(f_j - f_{j-1}))``: a sum of logarithms
    where the difference of two sigmoids would cancel. Minus infinity if two logits are equal.
    """
    ordered = _descending(as_floats("logits", logits, 2))
    above, below = _log_sigmoid(ordered), _log_sigmoid(-ordered)
    with np.errstate(divide="ignore"):
        width = np.log(-np.expm1(np.diff(ordered, axis=1)))
    return np.hstack([below[:, :1], above[:, :-1] + below[:, 1:] + width, above[:, -1:]])


def _descending(logits: Floats) -> Floats:
    return -np.sort(-logits, axis=1)


def _sigmoid(logits: Floats) -> Floats:
    return np.exp(_log_sigmoid(logits))


def _log_sigmoid(logits: Floats) -> Floats:
    return -np.logaddexp(0.0, -logits)
