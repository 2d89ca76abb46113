"""Compile the functions that most tests use: ``make test`` does it beside the type check, which needs one processor."""

from __future__ import annotations

import warnings

from ordinoise import OrdinalBoostingClassifier, OrdinalClassifier, OrdinalMLPClassifier
from ordinoise.datasets import synthetic

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    data = synthetic(20, random_state=0)
    OrdinalClassifier(n_folds=2, n_rounds=1, random_state=0).fit(data.features, data.labels).predict(data.features)
    for loss in ("cross_entropy", "hinge"):
        OrdinalMLPClassifier(loss=loss, max_iter=1).fit(data.features, data.labels)
    OrdinalBoostingClassifier(n_estimators=2).fit(data.features, data.labels).predict(data.features)
