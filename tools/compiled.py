"""Compile the functions that most tests use: ``make test`` does it beside the type check, which needs one processor."""

from __future__ import annotations

import warnings

import numpy as np

from ordinoise import OrdinalBoostingClassifier, OrdinalClassifier, OrdinalMLPClassifier
from ordinoise.datasets import synthetic
from ordinoise.learners.boosting.objective import ForwardSoftmax

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    data = synthetic(20, random_state=0)
    OrdinalClassifier(n_folds=2, n_rounds=1, random_state=0).fit(data.features, data.labels).predict(data.features)
    for loss in ("cross_entropy", "hinge"):
        OrdinalMLPClassifier(loss=loss, max_iter=1).fit(data.features, data.labels)
    OrdinalBoostingClassifier(n_estimators=2).fit(data.features, data.labels).predict(data.features)
    for features in (data.features.astype(np.float32), np.asfortranarray(data.features)):
        OrdinalMLPClassifier(max_iter=1).fit(features, data.labels)
    objective, scores = ForwardSoftmax(np.eye(3)[None]), np.zeros((3, 3))  # by rows; trees have them by columns
    objective.slopes(scores, objective.first_offsets(np.ones(3) / 3), np.arange(3), np.ones(3))
    objective.losses(scores, objective.first_offsets(np.ones(3) / 3), np.arange(3))
