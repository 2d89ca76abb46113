"""What one more verified label, or one more rating, is expected to teach."""

from __future__ import annotations

import numpy as np

from ordinoise._validation import Floats, Ints


def verification_gain(posterior: Floats, recorded: Ints) -> Floats:
    """What a model is expected to gain from the true label of each row, shape (n_samples,).

    At every threshold verification answers "is the true label above it?", which the posterior expects with probability
    G. A learner that takes the record at its word is moved by ``E|answer - record|``, the sum of which is the expected
    distance; one that knows the noise is moved by the variance ``G (1 - G)``. Real learners are in between, and the
    gain is the sum of both over the thresholds. Rows without a record have the variance only.

    Parameters
    ----------
    posterior : array of shape (n_samples, n_classes)
        Of the true label, given the features and the recorded label if there is one.
    recorded : int array of shape (n_samples,)
        Ranks of the recorded labels; -1 without one.
    """
    above = 1 - np.cumsum(posterior, axis=1)[:, :-1]
    distance = (posterior * np.abs(np.arange(posterior.shape[1]) - recorded[:, None])).sum(axis=1)
    return np.asarray((above * (1 - above)).sum(axis=1) + np.where(recorded < 0, 0.0, distance))


def rating_gain(posterior: Floats, matrices: Floats) -> Floats:
    """What one more grade of each rater is expected to tell about each item, in nats, shape (n_items, n_raters).

    The mutual information of the true label and the grade, ``H(grade) - H(grade | true label)``.

    Parameters
    ----------
    posterior : array of shape (n_items, n_classes)
        Of the true label, given all grades so far.
    matrices : array of shape (n_raters, n_classes, n_classes)
        ``[rater, true, recorded]``.
    """
    expected = np.einsum("ik,rkj->irj", posterior, matrices)
    given = -(matrices * np.log(np.maximum(matrices, 1e-300))).sum(axis=2)
    whole = -(expected * np.log(np.maximum(expected, 1e-300))).sum(axis=2)
    return np.asarray(np.maximum(whole - posterior @ given.T, 0.0))
