"""What one more verified label, or one more rating, is expected to teach."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from ordinoise._validation import Floats, Ints


def verification_gain(posterior: Floats, recorded: Ints, *, corrected: bool = True) -> Floats:
    """What a model is expected to gain from the true label of each row, shape (n_samples,).

    A model that corrects for the noise knows of every row what the posterior says, so the true label tells it as much
    as the posterior leaves open: its entropy, in nats. A model that takes the records at their word is moved by the
    expected distance between record and truth; rows without a record move it by their spread, the summed variances of
    "is the true label above the threshold?".

    On seeds 100 to 107 of the sets of `studies.next` the entropy reached the error of random picking with fewer labels,
    summed over the sets, than distance, spread and products of these (decision 0023); for a model that trusts the
    records the distance was far ahead.

    Parameters
    ----------
    posterior : array of shape (n_samples, n_classes)
        Of the true label, given the features and the recorded label if there is one.
    recorded : int array of shape (n_samples,)
        Ranks of the recorded labels; -1 without one.
    corrected : bool, default=True
        Whether the model corrects for the noise.
    """
    if corrected:
        return np.asarray(entr(posterior).sum(axis=1))
    above = 1 - np.cumsum(posterior, axis=1)[:, :-1]
    spread = np.maximum(above * (1 - above), 0.0).sum(axis=1)
    distance = (posterior * np.abs(np.arange(posterior.shape[1]) - recorded[:, None])).sum(axis=1)
    return np.asarray(np.where(recorded < 0, spread, distance))


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
