"""Item priors from features, out of fold: a classifier predicts the true class, or a regressor the latent score."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise._validation import Floats, Ints
from ordinoise.crossfit import with_every_class
from ordinoise.estimation.raters.perception import GRID, Perception, PerceptionFit, cells

LEAST_WEIGHT = 0.01
"""Less probable classes are dropped from an item's soft label, except its likeliest. Chosen by no run."""
DOUBT = 0.02
"""Weight of the overall class frequencies in the prior, as a classifier may be overconfident. Chosen by no run."""


RIDGES = np.logspace(-1, 5, 13)
"""Penalties of the default regressor, one of which is chosen within the training items. Round numbers."""


def default_learners() -> tuple[Pipeline, Pipeline]:
    """Multinomial logistic regression of the class and ridge regression of the score, on standardized features."""
    return (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        make_pipeline(StandardScaler(), RidgeCV(RIDGES)),
    )


def prior_from_features(
    learner: Any, X: Floats, posterior: Floats, scores: PerceptionFit[Perception], fold: Ints
) -> Floats:
    """Probability of each true class of each item given its features, by a classifier or through a regressor."""
    if is_regressor(learner):
        return prior_of_scores(learner, X, scores, fold)
    return prior_of_classes(learner, X, posterior, fold)


def prior_of_scores(regressor: Any, X: Floats, scores: PerceptionFit[Perception], fold: Ints) -> Floats:
    """Probability of each grade if the latent score of an item is ``g(x) + e`` with a normal e.

    The regressor fits g to ``E[z | x, ratings]`` of the items in other folds, so that the gradient of its squared loss
    is ``g - E[z | x, ratings]``; the variance of e is the mean of ``E[(z - g)^2 | x, ratings]`` over items left out.

    Parameters
    ----------
    regressor : scikit-learn regressor
    X : array of shape (n_items, n_features)
    scores : PerceptionFit
        The posterior of the scores z, and the cuts of the scale.
    fold : int array of shape (n_items,)
    """
    mean, square = scores.states @ GRID, scores.states @ GRID**2
    predicted = np.empty(len(X))
    for left_out in range(fold.max() + 1):
        inside, outside = fold != left_out, fold == left_out
        predicted[outside] = clone(regressor).fit(X[inside], mean[inside]).predict(X[outside])
    variance = np.mean(square - 2 * mean * predicted + predicted**2)
    log_density = -((GRID - predicted[:, None]) ** 2) / (2 * variance)
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    return _doubted(density / density.sum(axis=1, keepdims=True) @ cells(scores.scale_cuts), scores.posterior)


def prior_of_classes(classifier: Any, X: Floats, posterior: Floats, fold: Ints) -> Floats:
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
    prior = np.empty_like(posterior)
    for left_out in range(fold.max() + 1):
        inside, outside = fold != left_out, fold == left_out
        prior[outside] = _fit_predict(clone(classifier), X[inside], posterior[inside], X[outside])
    return _doubted(prior, posterior)


def _doubted(prior: Floats, posterior: Floats) -> Floats:
    mixed = DOUBT * posterior.mean(axis=0) + (1 - DOUBT) * prior
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))


def _fit_predict(classifier: Any, X: Floats, posterior: Floats, X_new: Floats) -> Floats:
    """Class probabilities of new items, by a classifier fitted to one weighted copy of each item per probable class."""
    probable = (posterior >= LEAST_WEIGHT) | (posterior == posterior.max(axis=1, keepdims=True))
    items, classes = np.nonzero(probable)
    if len(np.unique(classes)) < 2:
        return np.tile(posterior.mean(axis=0), (len(X_new), 1))
    weight = f"{classifier.steps[-1][0]}__sample_weight" if isinstance(classifier, Pipeline) else "sample_weight"
    classifier.fit(X[items], classes, **{weight: posterior[items, classes]})
    return with_every_class(classifier.predict_proba(X_new), classifier.classes_, posterior.shape[1])
