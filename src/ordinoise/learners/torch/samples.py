"""The data of `fit` as sources of batches: arrays, tensors, datasets, Parquet streams."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

from ordinoise._sparse import is_sparse
from ordinoise._validation import Floats, Ints, as_floats, as_ranks, complain
from ordinoise.labels import ranks_of
from ordinoise.learners.torch.batches import (
    ArrayBatches,
    Batch,
    Batches,
    DatasetBatches,
    IterableBatches,
    SparseRows,
    moved,
)
from ordinoise.learners.torch.heads import OrdinalModule
from ordinoise.learners.torch.modules import MLP
from ordinoise.learners.torch.parquet import ParquetStream, StreamBatches

PREDICTED_ROWS = 1024  # rows predicted at a time, to bound memory: a round number, chosen by no run


@dataclass(frozen=True, eq=False)
class SampleReader:
    """Converts collated samples ``(x, label[, weight[, rater]])`` to a `Batch`.

    Parameters
    ----------
    classes : array
        Labels from lowest to highest.
    class_weights : array of shape (n_classes,), optional
        Factor of the weights of each class.
    raters : array, optional
        Names of the raters, in the order of their matrices.
    """

    classes: NDArray[Any]
    class_weights: Floats | None = None
    raters: NDArray[Any] | None = None

    def __call__(self, sample: Any) -> Batch:
        """The batch."""
        if not isinstance(sample, (tuple, list)) or not 2 <= len(sample) <= 4:
            raise complain("X", "yield samples (x, label[, weight[, rater]])", type(sample).__name__)
        inputs, labels, *rest = sample
        ranks = ranks_of("the labels of X", _column(labels), self.classes)
        weights = as_floats("the weights of X", _column(rest[0]), 1) if rest else np.ones(len(ranks))
        if self.class_weights is not None:
            weights = weights * self.class_weights[ranks]
        who = None
        if self.raters is not None:
            if len(rest) < 2:
                raise complain("X", "yield (x, label, weight, rater) when noise holds matrices of raters", "no rater")
            who = torch.from_numpy(as_ranks("the raters of X", _column(rest[1]), self.raters))
        tensor = _tensor(inputs) if isinstance(inputs, np.ndarray) else inputs
        return Batch(tensor, _tensor(ranks), _tensor(weights), who)


def is_dataset(X: Any) -> bool:
    """Whether X is a dataset, whose samples include their labels."""
    return isinstance(X, Dataset)


def is_tensor(X: Any) -> bool:
    """Whether X is a tensor."""
    return isinstance(X, Tensor)


def as_input(X: Any) -> Tensor | SparseRows:
    """A tensor unchanged, anything else as a float32 tensor; a sparse matrix becomes one batch by batch."""
    if isinstance(X, Tensor):
        return X
    if is_sparse(X):
        return SparseRows(X)
    return torch.from_numpy(np.array(X, dtype=np.float32, order="C"))


def array_batches(
    X: Any, ranks: Ints, weights: Floats, raters: Ints | None, rows: Ints, batch_size: int, shuffle: bool, seed: int
) -> ArrayBatches:
    """Batches from arrays."""
    return ArrayBatches(
        inputs=as_input(X),
        labels=_tensor(ranks),
        weights=_tensor(weights),
        raters=None if raters is None else _tensor(raters),
        rows=rows,
        batch_size=batch_size,
        shuffle=shuffle,
        seed=seed,
    )


def dataset_batches(
    X: Any, read: SampleReader, batch_size: int, shuffle: bool, seed: int, n_workers: int, rows: Ints | None = None
) -> Batches:
    """Batches from a dataset of any kind."""
    if isinstance(X, ParquetStream):
        return StreamBatches(X, read, batch_size, shuffle, seed)
    if isinstance(X, IterableDataset):
        return IterableBatches(X, read, batch_size)
    chosen = np.arange(len(X)) if rows is None else rows
    return DatasetBatches(X, read, chosen, batch_size, shuffle, seed, n_workers)


def n_samples(X: Any) -> int | None:
    """Length of a dataset, or None if it has none."""
    if isinstance(X, ParquetStream):
        return X.n_rows
    return len(X) if hasattr(X, "__len__") else None


def can_split(X: Any) -> bool:
    """Whether a part of a dataset can be held out: it has an index, or row groups."""
    return X.n_row_groups > 1 if isinstance(X, ParquetStream) else not isinstance(X, IterableDataset)


def split_dataset(X: Any, fraction: float, seed: int) -> tuple[tuple[Any, Ints | None], tuple[Any, Ints | None]]:
    """A training part and a validation part, each a dataset and the rows of it to use."""
    if isinstance(X, ParquetStream):
        training, validation = X.split(fraction, seed)
        return (training, None), (validation, None)
    length = n_samples(X)
    if length is None or isinstance(X, IterableDataset):
        advice = "pass fit(..., validation=another dataset)"
        raise complain("early_stopping", "be False for a dataset without an index", "True", advice)
    order = np.random.default_rng(seed).permutation(length)
    n_validation = min(max(1, round(fraction * length)), length - 1)
    return (X, np.sort(order[n_validation:])), (X, np.sort(order[:n_validation]))


def logits_of(model: OrdinalModule, X: Any, *, score: bool = False) -> Floats:
    """Logits of every sample, shape (n_samples, n_classes - 1), or their scores, in float64."""
    model.eval()
    if isinstance(model.module, MLP) and model.head.offsets.device.type == "cpu":
        # So small that float64 costs little; a sample's result then does not depend on the others in its batch.
        model = copy.deepcopy(model).double()
    offsets = model.head.offsets
    parts = []
    with torch.no_grad():
        for inputs in _inputs(X):
            here = moved(inputs, offsets.device, offsets.dtype)
            parts.append((model.score(here) if score else model(here)).double().cpu().numpy())
    return np.concatenate(parts)


def _inputs(X: Any) -> Iterator[Any]:
    """Inputs in blocks of rows, without the labels that a dataset may hold."""
    if not is_dataset(X):
        rows = as_input(X)
        yield from (rows[start : start + PREDICTED_ROWS] for start in range(0, rows.shape[0], PREDICTED_ROWS))
        return
    if isinstance(X, ParquetStream):
        yield from (torch.from_numpy(columns[0]) for columns in X.tables())
        return
    for batch in DataLoader(X, batch_size=PREDICTED_ROWS, generator=torch.Generator()):
        yield batch[0] if isinstance(batch, (list, tuple)) else batch


def _column(values: Any) -> NDArray[Any]:
    return values.cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)


def _tensor(array: NDArray[Any]) -> Tensor:
    """The array as a tensor, sharing its memory unless that is read-only, as for memory-mapped files."""
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))
