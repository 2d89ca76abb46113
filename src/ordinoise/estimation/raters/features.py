"""Item priors from features: a classifier trained on soft labels predicts the true class out of fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise._validation import Floats, Ints
from ordinoise.crossfit import with_every_class

LEAST_WEIGHT = 0.01
"""Less probable classes are dropped from an item's soft label, except its likeliest. Chosen by no run."""
DOUBT = 0.02
"""Weight of the overall class frequencies in the prior, as a classifier may be overconfident. Chosen by no run."""


def default_classifier() -> Pipeline:
    """Multinomial logistic regression on standardized features."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def prior_from_features(classifier: Any, X: Floats, posterior: Floats, fold: Ints) -> Floats:
    """Probability of each true class of each item given its features, by classifiers trained on the other folds.

    Parameters
    ----------
    classifier : scikit-learn classifier
        With `predict_proba`, and `sample_weight` in `fit`; a pipeline passes the weight to its last step.
    X : array of shape (n_items, n_features)
    posterior : array of shape (n_items, n_classes)
        The soft labels.
    fold : int array of shape (n_items,)
    """
    overall = posterior.mean(axis=0)
    prior = np.empty_like(posterior)
    for left_out in range(fold.max() + 1):
        inside, outside = fold != left_out, fold == left_out
        predicted = _fit_predict(clone(classifier), X[inside], posterior[inside], X[outside])
        prior[outside] = DOUBT * overall + (1 - DOUBT) * predicted
    return prior / prior.sum(axis=1, keepdims=True)


def _fit_predict(classifier: Any, X: Floats, posterior: Floats, X_new: Floats) -> Floats:
    """Class probabilities of new items, by a classifier fitted to one weighted copy of each item per probable class."""
    probable = (posterior >= LEAST_WEIGHT) | (posterior == posterior.max(axis=1, keepdims=True))
    items, classes = np.nonzero(probable)
    if len(np.unique(classes)) < 2:
        return np.tile(posterior.mean(axis=0), (len(X_new), 1))
    weight = f"{classifier.steps[-1][0]}__sample_weight" if isinstance(classifier, Pipeline) else "sample_weight"
    classifier.fit(X[items], classes, **{weight: posterior[items, classes]})
    return with_every_class(classifier.predict_proba(X_new), classifier.classes_, posterior.shape[1])
