"""Processes forked after a fit, and workers of joblib and scikit-learn: they learn and predict as their parent does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

PRELUDE = """
import multiprocessing
import numpy as np
import joblib
from sklearn.model_selection import cross_val_predict
from ordinoise.classifiers import OrdinalBoostingClassifier, OrdinalClassifier, OrdinalMLPClassifier
from ordinoise.datasets import synthetic

data = synthetic(250, random_state=0)
boosting = OrdinalBoostingClassifier(n_estimators=20, n_jobs=2, random_state=0)
models = {
    "boosting": boosting, "network": OrdinalMLPClassifier(max_iter=3, random_state=0),
    "blend": OrdinalClassifier(learner="boosting", n_jobs=2, random_state=0),
}

def learned(model):
    return model.fit(data.features, data.labels).predict_proba(data.features)

def predicted(model):
    return model.predict_proba(np.tile(data.features, (40, 1)))

def crossed(model, n_jobs):
    return cross_val_predict(model, data.features, data.labels, cv=2, method="predict_proba", n_jobs=n_jobs)

def forked(function, *arguments):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.starmap(function, [arguments] * 2)
"""
FORKED = """
model = models["{name}"]
learned(boosting)
own = learned(model)
for other in forked(learned, model):
    assert np.array_equal(own, other)
own = predicted(model)
for other in forked(predicted, model):
    assert np.array_equal(own, other)
assert np.array_equal(own, predicted(model))
"""
CROSSED = """
model = models["{name}"]
learned(boosting)
alone = crossed(model, 1)
with joblib.parallel_config("{backend}"):
    assert np.array_equal(alone, crossed(model, 2))
"""


def _ends(code: str, timeout_s: float) -> None:
    """Run in a process with two OpenMP threads, which must end in time and without an error."""
    environment = os.environ | {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, "-c", PRELUDE + code]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    try:
        _, errors = process.communicate(timeout=timeout_s)
    finally:
        with suppress(ProcessLookupError):  # its workers may wait forever
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0, errors


slow = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("name", ["boosting", pytest.param("network", marks=slow), pytest.param("blend", marks=slow)])
def test_a_fork_after_a_boosting_fit_learns_and_predicts_as_its_parent(name: str) -> None:
    _ends(FORKED.format(name=name), 240)


@slow
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.parametrize("name", ["boosting", "network", "blend"])
def test_the_workers_of_scikit_learn_learn_as_one_process(name: str, backend: str) -> None:
    _ends(CROSSED.format(name=name, backend=backend), 300)
