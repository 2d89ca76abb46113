"""Parquet folders larger than memory, streamed by row group."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import IterableDataset

from ordinoise._validation import Floats, Ints, as_count, as_number, complain
from ordinoise.learners.torch.batches import Batch, ReadSample, share_of
from ordinoise.learners.torch.team import Team

READ_ROWS = 4096  # rows decoded at a time: a round number, chosen by no run
CONSTANT_SPREAD = 1e-12  # spread over mean below which a feature counts as constant: a round number, chosen by no run


class ParquetStream(IterableDataset[Any]):
    """A folder of Parquet files as samples, read a few thousand rows at a time.

    Every epoch reads the row groups in a new order and shuffles their rows in a buffer. Each of several processes
    reads different row groups. Iterating over the stream itself yields single samples, in the order of the files.

    Parameters
    ----------
    folder : path
        A folder of Parquet files, or one file.
    features : sequence of str
        Numeric columns.
    target : str
        Column of the recorded labels.
    weight, rater : str, optional
        Columns of the weights, and of the raters who recorded the labels.
    buffer_rows : int, default=65536
        Rows that are shuffled together; with row groups of similar size, these are what memory must hold. The default
        is a round number, chosen by no run.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        features: Sequence[str],
        target: str,
        *,
        weight: str | None = None,
        rater: str | None = None,
        buffer_rows: int = 65536,
    ) -> None:
        self.folder = os.fspath(folder)
        self.features = list(features)
        self.target = target
        self.weight = weight
        self.rater = rater
        self.buffer_rows = as_count("buffer_rows", buffer_rows, 1)
        self._groups = row_groups(self.folder, self._columns)
        self._chosen: Ints = np.arange(len(self._groups))

    @property
    def _columns(self) -> list[str]:
        return [*self.features, self.target, *(name for name in (self.weight, self.rater) if name is not None)]

    @property
    def n_row_groups(self) -> int:
        """Number of row groups."""
        return len(self._chosen)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return sum(info.num_rows for group in self._chosen for info in self._groups[group].row_groups)

    def split(self, fraction: float, seed: int) -> tuple[ParquetStream, ParquetStream]:
        """Two streams without a common row: the rest, then about `fraction` of the row groups."""
        fraction = as_number("fraction", fraction, 0, 1, open_low=True)
        if self.n_row_groups < 2:
            advice = "write smaller row groups, or pass validation data of their own"
            raise complain("the stream", "have at least 2 row groups to be split", self.n_row_groups, advice)
        order = np.random.default_rng(seed).permutation(self._chosen)
        n_second = min(max(1, round(fraction * len(order))), len(order) - 1)
        return self._only(order[n_second:]), self._only(order[:n_second])

    def _only(self, groups: Ints) -> ParquetStream:
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__, _chosen=np.sort(groups))
        return part

    def __iter__(self) -> Iterator[Any]:
        """Single samples ``(x, label[, weight[, rater]])`` in the order of the files."""
        for columns in self.tables():
            yield from zip(*columns, strict=True)

    def tables(
        self, rank: int = 0, n_ranks: int = 1, rng: np.random.Generator | None = None
    ) -> Iterator[list[NDArray[Any]]]:
        """Features (float32), labels, and weights and raters if any, a few thousand rows at a time.

        Each of several processes has different row groups; with a generator, they come in random order.
        """
        order = self._chosen if rng is None else rng.permutation(self._chosen)
        for group in order[rank::n_ranks]:
            parts = self._groups[group].to_batches(
                columns=self._columns, batch_size=READ_ROWS, batch_readahead=1, fragment_readahead=1, use_threads=False
            )
            for part in parts:
                if part.num_rows:
                    yield self._arrays(part)

    def _arrays(self, part: Any) -> list[NDArray[Any]]:
        table = np.empty((part.num_rows, len(self.features)), dtype=np.float32)
        for place, name in enumerate(self.features):
            table[:, place] = part.column(name).to_numpy(zero_copy_only=False)
        if not np.isfinite(table).all():
            raise complain("X", "be finite", f"a missing or infinite number in {self.folder}")
        rest = [part.column(name).to_numpy(zero_copy_only=False) for name in self._columns[len(self.features) :]]
        if self.rater is not None and self.weight is None:
            rest.insert(1, np.ones(part.num_rows))
        return [table, *rest]

    def shuffled(self, rng: np.random.Generator, rank: int = 0, n_ranks: int = 1) -> Iterator[list[NDArray[Any]]]:
        """As `tables`, with row groups, and the rows of every full buffer, in random order."""
        waiting: list[list[NDArray[Any]]] = []
        n_waiting = 0
        for columns in self.tables(rank, n_ranks, rng):
            waiting.append(columns)
            n_waiting += len(columns[0])
            if n_waiting >= self.buffer_rows:
                yield _mixed(waiting, rng)
                waiting, n_waiting = [], 0
        if waiting:
            yield _mixed(waiting, rng)


@dataclass(frozen=True, eq=False)
class StreamBatches:
    """Batches of a Parquet stream.

    Parameters
    ----------
    stream : ParquetStream
    read : callable
        Converts columns to a `Batch`.
    batch_size, shuffle, seed
        As in `ArrayBatches`.
    """

    stream: ParquetStream
    read: ReadSample
    batch_size: int
    shuffle: bool = True
    seed: int = 0

    @property
    def description(self) -> str:
        """Name of the folder and number of row groups."""
        return f"{self.stream.folder}, {self.stream.n_row_groups} row groups in batches of {self.batch_size}"

    def epoch(self, number: int, rank: int, n_ranks: int, start: int = 0) -> Iterator[Batch]:
        """The share of one process in the batches of an epoch."""
        stream = self.stream
        if self.shuffle:
            # The order of row groups must be drawn alike in all processes, so that they share them without overlap.
            tables = stream.shuffled(np.random.default_rng([self.seed, number]), rank, n_ranks)
        else:
            tables = stream.tables(rank, n_ranks)
        size = share_of(self.batch_size, rank, n_ranks)
        return map(self.read, islice(_rebatched(tables, size), start, None))


def row_groups(folder: str, columns: Sequence[str]) -> list[Any]:
    """Row groups of all files, in order; every column must be in their schema."""
    try:
        import pyarrow.dataset
    except ModuleNotFoundError:
        raise ImportError("ParquetStream needs pyarrow: pip install pyarrow") from None
    try:
        dataset = pyarrow.dataset.dataset(folder, format="parquet")
        groups = [group for file in dataset.get_fragments() for group in file.split_by_row_group()]
    except (OSError, ValueError) as error:
        raise complain("folder", "hold Parquet files", f"{type(error).__name__} in {folder!r}") from None
    absent = [name for name in columns if name not in dataset.schema.names]
    if absent:
        raise complain("columns", f"be among {dataset.schema.names}", repr(absent[0]))
    if not groups:
        raise complain("folder", "hold Parquet files", repr(folder))
    return groups


@dataclass(frozen=True)
class Summary:
    """Number of rows, mean and sum of squared deviations of every feature, and weight of each label."""

    n_rows: float
    center: Floats
    squares: Floats
    class_counts: Floats

    @property
    def scale(self) -> Floats:
        """Standard deviation; one for a constant feature."""
        deviation = np.sqrt(self.squares / self.n_rows)
        return np.where(deviation <= CONSTANT_SPREAD * np.maximum(np.abs(self.center), 1e-300), 1.0, deviation)

    def merged(self, other: Summary) -> Summary:
        """The summary of both, by the pairwise formula of Chan, Golub and LeVeque."""
        n_rows = self.n_rows + other.n_rows
        shift = other.center - self.center
        share = other.n_rows / max(n_rows, 1)
        return Summary(
            n_rows,
            self.center + shift * share,
            self.squares + other.squares + shift**2 * (self.n_rows * share),
            self.class_counts + other.class_counts,
        )


def summary(stream: ParquetStream, read: ReadSample, n_classes: int, team: Team) -> Summary:
    """The summary of the whole stream, in one pass; each process reads its row groups."""
    n_features = len(stream.features)
    found = Summary(0, np.zeros(n_features), np.zeros(n_features), np.zeros(n_classes))
    for columns in stream.tables(team.rank, team.size):
        batch, features = read(columns), columns[0].astype(np.float64)
        counts = np.bincount(batch.labels.numpy(), weights=batch.weights.numpy(), minlength=n_classes)
        center = features.mean(axis=0)
        squares = ((features - center) ** 2).sum(axis=0)
        found = found.merged(Summary(len(features), center, squares, counts.astype(np.float64)))
    everyones = team.gathered(np.concatenate([[found.n_rows], found.center, found.squares, found.class_counts]))
    edges = [1, 1 + n_features, 1 + 2 * n_features]
    parts = [np.split(one, edges) for one in everyones]
    return reduce(Summary.merged, [Summary(float(n[0]), *rest) for n, *rest in parts])


def _mixed(waiting: list[list[NDArray[Any]]], rng: np.random.Generator) -> list[NDArray[Any]]:
    whole = [np.concatenate(parts) for parts in zip(*waiting, strict=True)]
    order = rng.permutation(len(whole[0]))
    return [column[order] for column in whole]


def _rebatched(tables: Iterator[list[NDArray[Any]]], size: int) -> Iterator[list[NDArray[Any]]]:
    """Tables of exactly `size` rows, the last one shorter."""
    rest: list[NDArray[Any]] | None = None
    for columns in tables:
        whole = columns if rest is None else [np.concatenate(pair) for pair in zip(rest, columns, strict=True)]
        n_whole = len(whole[0]) // size * size
        for start in range(0, n_whole, size):
            yield [column[start : start + size] for column in whole]
        rest = [column[n_whole:] for column in whole]
    if rest is not None and len(rest[0]):
        yield rest
