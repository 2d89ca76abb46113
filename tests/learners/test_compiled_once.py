"""One compilation serves arrays that may be written to and arrays that may not."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ordinoise import OrdinalBoostingClassifier, OrdinalMLPClassifier
from ordinoise.datasets import synthetic
from ordinoise.learners.boosting._walk import add_trees
from ordinoise.learners.mlp._engine import fill_features

DATA = synthetic(20, random_state=0)
LOCKED = DATA.features.copy()
LOCKED.flags.writeable = False


def _variants(function: Any) -> int:
    return len(function.signatures)


def test_trees_are_summed_by_the_same_function_for_locked_rows_and_for_a_copied_model() -> None:
    model = OrdinalBoostingClassifier(n_estimators=2, early_stopping=False, n_jobs=1).fit(DATA.features, DATA.labels)
    expected, before = model.predict_proba(DATA.features), _variants(add_trees)
    for one in (model, copy.deepcopy(model)):
        np.testing.assert_array_equal(one.predict_proba(LOCKED), expected)
    assert _variants(add_trees) == before


def test_networks_read_locked_rows_by_the_same_function() -> None:
    model = OrdinalMLPClassifier(max_iter=1, early_stopping=False, random_state=0)
    expected = model.fit(DATA.features, DATA.labels).predict_proba(DATA.features)
    before = _variants(fill_features)
    np.testing.assert_array_equal(model.fit(LOCKED, DATA.labels).predict_proba(LOCKED), expected)
    assert _variants(fill_features) == before
