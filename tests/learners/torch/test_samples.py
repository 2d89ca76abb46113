"""Datasets and streams through the classifier: the same answer as from memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from ordinoise.classifiers.torch import OrdinalTorchClassifier

torch = pytest.importorskip("torch", reason="the datasets are PyTorch's")
torch.set_num_threads(1)
ot: Any = pytest.importorskip("ordinoise.learners.torch")

ASYMMETRIC = np.array([[0.7, 0.15, 0.15, 0], [0, 0.8, 0.15, 0.05], [0.02, 0.2, 0.78, 0], [0.05, 0.1, 0.15, 0.7]])
Array = np.ndarray[Any, Any]
Dataset: Any = torch.utils.data.Dataset
IterableDataset: Any = torch.utils.data.IterableDataset


def _data(n: int = 200, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1, 5, 0.1] + [0, 100, -3]
    score = X[:, 0] + 0.2 * (X[:, 1] - 100) + rng.normal(scale=0.2, size=n)
    return X, np.digitize(score, [-1.2, 0, 1.2])


X, Y = _data()
FAST: dict[str, Any] = {"max_iter": 8, "learning_rate_init": 0.03, "random_state": 0, "device": "cpu", "batch_size": 32}


def _weights(model: OrdinalTorchClassifier) -> Array:
    return np.concatenate([weight.ravel().numpy() for weight in model.module_.state_dict().values()])


class Mapped(Dataset):
    """Samples by number."""

    def __init__(self, *columns: Any) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, row: int) -> Any:
        return tuple(column[row] for column in self.columns)


class Walked(IterableDataset):
    """Samples one after the other."""

    def __init__(self, *columns: Any) -> None:
        self.columns = columns

    def __iter__(self) -> Iterator[Any]:
        return zip(*self.columns, strict=True)


SCALED = StandardScaler().fit_transform(X).astype(np.float32)
# All epochs: the held-out part of an array is stratified, that of a dataset is not.
ON_DATASETS: dict[str, Any] = FAST | {
    "module": lambda: torch.nn.Linear(3, 6), "thresholds": "free", "early_stopping": False,
}  # fmt: skip


@pytest.mark.parametrize("num_workers", [0, 1])
def test_a_dataset_with_an_index_gives_the_model_of_the_array(num_workers: int) -> None:
    by_array = OrdinalTorchClassifier(noise=ASYMMETRIC, **ON_DATASETS).fit(SCALED, Y)
    model = OrdinalTorchClassifier(noise=ASYMMETRIC, classes=[0, 1, 2, 3], num_workers=num_workers, **ON_DATASETS)
    if num_workers:
        model.set_params(max_iter=1)
        by_array = clone(by_array).set_params(max_iter=1).fit(SCALED, Y)
    model.fit(Mapped(SCALED, Y))
    np.testing.assert_array_equal(_weights(model), _weights(by_array))
    np.testing.assert_array_equal(model.predict(Mapped(SCALED, Y)), by_array.predict(SCALED))


def test_a_dataset_that_is_walked_through_gives_the_model_of_the_array_in_order() -> None:
    names = ["a", "b", "c", "d"]
    settings = ON_DATASETS | {"shuffle": False, "classes": names}
    labels = np.array(names)[Y].tolist()
    by_array = OrdinalTorchClassifier(**settings).fit(SCALED, labels)
    model = OrdinalTorchClassifier(**settings).fit(Walked(SCALED, labels), validation=(SCALED, labels))
    np.testing.assert_array_equal(_weights(model), _weights(by_array.fit(SCALED, labels, validation=(SCALED, labels))))
    np.testing.assert_array_equal(model.predict_proba(Walked(SCALED)), model.predict_proba(SCALED))


def test_weights_and_raters_come_with_the_samples_of_a_dataset() -> None:
    names = np.array(["ann", "bob"])[np.arange(len(Y)) % 2]
    weights = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    weights /= weights.mean()
    noise = {"ann": np.eye(4), "bob": ASYMMETRIC}
    settings = ON_DATASETS | {"noise": noise, "classes": [0, 1, 2, 3], "class_weight": {0: 1.0, 1: 2.0, 2: 0.5, 3: 1.0}}
    scale = np.array([1, 2, 0.5, 1])[Y] @ weights / len(Y)
    by_array = OrdinalTorchClassifier(**settings).fit(SCALED, Y, sample_weight=weights, raters=names)
    model = OrdinalTorchClassifier(**settings).fit(Mapped(SCALED, Y, weights / scale, names.tolist()))
    np.testing.assert_allclose(_weights(model), _weights(by_array), rtol=1e-3, atol=1e-4)
    with pytest.raises(ValueError, match=r"X must yield \(x, label, weight, rater\) when noise holds matrices"):
        OrdinalTorchClassifier(**settings).fit(Mapped(SCALED, Y, weights))


@pytest.fixture
def parquet_folder(tmp_path: Path) -> Path:
    """Two files of four row groups each."""
    features, labels = _data(800)
    for number in range(2):
        part = slice(400 * number, 400 * number + 400)
        columns = {"a": features[part, 0], "b": features[part, 1], "c": features[part, 2], "stars": labels[part] + 1}
        pq.write_table(pa.table(columns), tmp_path / f"part-{number}.parquet", row_group_size=100)
    return tmp_path


@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_parquet_folder_is_learnt_from_as_from_memory(parquet_folder: Path, early_stopping: bool) -> None:
    features, labels = _data(800)
    stream = ot.ParquetStream(parquet_folder, features=["a", "b", "c"], target="stars", buffer_rows=250)
    settings = FAST | {"classes": [1, 2, 3, 4], "early_stopping": early_stopping}
    streamed = OrdinalTorchClassifier(**settings).fit(stream)
    in_memory = OrdinalTorchClassifier(**settings).fit(features, labels + 1)
    agreed = streamed.predict(features) == in_memory.predict(features)
    assert agreed.mean() > 0.85
    assert np.abs(streamed.predict(stream) - labels - 1).mean() < 0.35
    assert len(streamed.validation_curve_) == (streamed.n_iter_ if early_stopping else 0)


def test_datasets_stop_early_by_default_where_a_part_of_them_can_be_held_out() -> None:
    model = OrdinalTorchClassifier(**(ON_DATASETS | {"early_stopping": "auto", "classes": [0, 1, 2, 3]}))
    assert model.fit(Mapped(SCALED, Y)).validation_curve_
    assert model.fit(Mapped(SCALED[:199], Y[:199])).validation_curve_ == []
    assert model.fit(Walked(SCALED, Y)).validation_curve_ == []


BAD_DATASETS: list[tuple[dict[str, Any], Any, dict[str, Any], str]] = [
    ({"classes": None}, Mapped(SCALED, Y), {}, r"classes must name the labels from lowest to highest when X is a dataset"),
    ({}, Mapped(SCALED, Y), {"y": Y}, r"y, sample_weight, raters and groups must be None when X is a dataset"),
    ({"noise": "estimate"}, Mapped(SCALED, Y), {}, r"noise must be known when X is a dataset"),
    ({"class_weight": "balanced"}, Mapped(SCALED, Y), {}, r"class_weight must be a mapping when X is a dataset"),
    ({}, Mapped(SCALED, Y + 7), {}, r"the labels of X must hold only the labels \[0, 1, 2, 3\]"),
    ({}, Mapped(SCALED), {}, r"X must yield samples \(x, label\[, weight\[, rater\]\]\)"),
    ({"early_stopping": True}, Walked(SCALED, Y), {}, r"early_stopping must be False for a dataset without an index"),
    ({}, Walked(SCALED[:0], Y[:0]), {}, r"X must hold samples, got none"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "dataset", "more", "sentence"), BAD_DATASETS, ids=[bad[3] for bad in BAD_DATASETS]
)
def test_bad_datasets_get_one_sentence(settings: Any, dataset: Any, more: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        OrdinalTorchClassifier(**(ON_DATASETS | {"classes": [0, 1, 2, 3]} | settings)).fit(dataset, **more)
