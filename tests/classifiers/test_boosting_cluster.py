"""Boosting on Dask workers; the cluster is two processes of this machine."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ordinoise import corrupt, inverse_decay
from ordinoise.classifiers.boosting import OrdinalBoostingClassifier

NOISE = inverse_decay(4, 0.15)


def _data(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(scale=0.3, size=n), [-1.2, 0, 1.2])


def test_a_dask_collection_without_a_client_is_refused_with_a_sentence() -> None:
    import dask.array

    X, y = _data(20, 0)
    with pytest.raises(
        ValueError, match=r"X must come with an active Dask client if it is a Dask collection, got none; start"
    ):
        OrdinalBoostingClassifier().fit(dask.array.from_array(X), y)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("head", ["ordered", "softmax"])
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_two_workers_learn_as_well_as_one_machine(client: Any, head: str, kind: str) -> None:
    import dask.array
    import dask.dataframe

    X, clean = _data(4000, 0)
    X_test, y_test = _data(2000, 1)
    order = np.argsort(clean, kind="stable")  # every worker sees some of the classes only
    X, noisy = X[order], corrupt(clean[order], NOISE, 0)
    model = OrdinalBoostingClassifier(
        noise=NOISE, head=head, n_estimators=150, learning_rate=0.1, n_jobs=1, random_state=0
    )
    here = np.abs(model.fit(X, noisy).predict(X_test) - y_test).mean()
    there: Any = dask.array.from_array(X, chunks=(1000, 2))
    labels: Any = dask.array.from_array(noisy, chunks=1000)
    if kind == "frame":
        there = dask.dataframe.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3)
        labels = dask.dataframe.from_pandas(pd.Series(noisy), npartitions=3)
        X_test = pd.DataFrame(X_test, columns=["a", "b", "c"])
    model.fit(there, labels)
    assert np.abs(model.predict(X_test) - y_test).mean() < 1.1 * here + 0.01
    assert len(model.validation_curve_) == 150
    assert model.n_iter_ == np.argmin(model.validation_curve_) + 1
    assert model.ensemble_.n_rounds == model.n_iter_
    with pytest.raises(ValueError, match=r"noise must be known for a Dask collection, got 'estimate'; fit once"):
        model.set_params(noise="estimate").fit(there, labels)
