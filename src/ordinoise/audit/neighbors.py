"""The rows of a table that are most similar to some of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ordinoise._validation import Floats, Ints, as_count
from ordinoise.classifiers.blend.table import Table
from ordinoise.columns.texts import LENGTHS

# Rows among which similar ones are looked for, evenly spaced in larger tables; rows compared at a time. Round numbers,
# chosen by no run.
MOST_ROWS, CHUNK = 20_000, 500
MOST_CHECKED = 5000  # rows of which all pairs are compared; a round number, chosen by no run


def similar_rows(table: Table, rows: Ints, n_similar: int = 3, embedded: Ints | None = None) -> Ints:
    """Numbers of the rows that are most similar to each of `rows`, nearest first, shape (n_rows, n_similar).

    The distance of two rows is a sum over their columns: of a number half the squared difference in standard deviations
    (1 for an average pair), of a category 1 if it differs, of a text and of an embedding 1 minus the cosine. A row is
    not its own neighbor; fewer rows than asked for leave -1.

    Parameters
    ----------
    table : Table
        All rows, as the models read them.
    rows : int array of shape (n_rows,)
    n_similar : int, default=3
    embedded : int array, optional
        Dense features that together are an embedding.
    """
    as_count("n_similar", n_similar, 1)
    n_rows = len(table.features)
    if n_rows < 2:
        return np.full((len(rows), n_similar), -1)
    step = max(1, -(-n_rows // MOST_ROWS))
    pool = np.arange(0, n_rows, step)
    kept = np.union1d(pool, rows)  # the others are neither weighed nor copied
    numbers, directions = _numbers(table.rows(kept), embedded), _directions(table.rows(kept), embedded)
    found = np.full((len(rows), n_similar), -1)
    for low in range(0, len(rows), CHUNK):
        chunk = rows[low : low + CHUNK]
        distances = _distances(numbers, directions, np.searchsorted(kept, chunk), np.searchsorted(kept, pool))
        distances[chunk[:, None] == pool] = np.inf
        n_found = min(n_similar, len(pool) - 1)
        found[low : low + CHUNK, :n_found] = pool[_smallest(distances, n_found)]
    return found


def nearest_rows(table: Table, embedded: Ints | None = None) -> tuple[Ints, Floats]:
    """The most similar row of every row, and its distance, as in `similar_rows`; -1 and infinite if not looked for.

    In tables of more than `MOST_CHECKED` rows, evenly spaced ones are compared with each other.
    """
    n_rows = len(table.features)
    nearest, distances = np.full(n_rows, -1), np.full(n_rows, np.inf)
    pool = np.arange(0, n_rows, max(1, -(-n_rows // MOST_CHECKED)))
    if len(pool) < 2:
        return nearest, distances
    kept = pool if n_rows > MOST_ROWS else np.arange(n_rows)
    numbers, directions = _numbers(table.rows(kept), embedded), _directions(table.rows(kept), embedded)
    at = np.searchsorted(kept, pool)
    for low in range(0, len(pool), CHUNK):
        chunk = pool[low : low + CHUNK]
        found = _distances(numbers, directions, at[low : low + CHUNK], at)
        found[chunk[:, None] == pool] = np.inf
        best = found.argmin(axis=1)
        nearest[chunk], distances[chunk] = pool[best], found[np.arange(len(chunk)), best]
    return nearest, distances


def _smallest(distances: Floats, n_found: int) -> Ints:
    """Columns of the smallest entries of every row, the smallest first."""
    some = np.sort(np.argpartition(distances, n_found - 1, axis=1)[:, :n_found], axis=1)
    order = np.argsort(np.take_along_axis(distances, some, axis=1), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(some, order, axis=1))


def _numbers(table: Table, embedded: Ints | None) -> Floats:
    """Columns whose squared differences add to the distance: half of an average pair's is 1."""
    kept = [at for at in range(table.features.shape[1]) if embedded is None or at not in set(embedded.tolist())]
    codes = table.filling.codes
    plain = [at for at in kept if at not in codes]
    filled = np.where(np.isnan(table.features), table.filling.medians, table.features)[:, plain]
    spread = filled.std(axis=0)
    scaled = (filled - filled.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    ones = [(table.features[:, at, None] == codes[at]).astype(np.float64) for at in codes if at in kept]
    return np.hstack([scaled, *ones]) / np.sqrt(2.0)


def _directions(table: Table, embedded: Ints | None) -> list[Any]:
    """Blocks of columns of length one, whose cosines are compared."""
    blocks: list[Any] = []
    if embedded is not None and len(embedded):
        block = table.features[:, embedded]
        blocks.append(block / np.maximum(np.linalg.norm(block, axis=1, keepdims=True), 1e-12))
    every = np.arange(len(table.features))
    grams = [some for some in table.counts if some.analyzer] or table.counts  # the summary of a text says little here
    coded = [some.unit_rows(every) for some in grams]
    # The kinds of n-grams of one text column stand together, each with a part of the length.
    n_kinds = len(LENGTHS) if len(coded) % len(LENGTHS) == 0 else 1
    texts = (coded[first : first + n_kinds] for first in range(0, len(coded), n_kinds))
    return blocks + [sparse.hstack(text, format="csr") / np.sqrt(n_kinds) for text in texts]


def _distances(numbers: Floats, directions: list[Any], rows: Ints, pool: Ints) -> Floats:
    own, others = numbers[rows], numbers[pool]
    squares = (own**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * own @ others.T
    total = np.maximum(squares, 0.0)
    for block in directions:
        total += 1 - sparse.csr_matrix(block[rows] @ block[pool].T).toarray()
    return total
