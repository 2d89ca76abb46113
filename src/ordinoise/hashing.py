"""Reproducible random numbers of rows and names, wherever they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints

Keys = NDArray[np.uint64]


def row_keys(rows: Ints, seed: int) -> Keys:
    """64 random-looking bits for each row number: the same wherever and in whatever part the row is read.

    The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
    """
    return _mixed(rows.astype(np.uint64) + _mixed(np.array([seed], dtype=np.uint64)))


def name_keys(names: Sequence[str], seed: int) -> Keys:
    """64 random-looking bits for each name, such as that of a group; equal names have equal keys."""
    known: dict[str, int] = {}
    for name in names:
        if name not in known:
            digest = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
            known[name] = int.from_bytes(digest, "little")
    return row_keys(np.array([known[name] for name in names], dtype=np.uint64), seed)


def hashed_folds(keys: Keys, n_folds: int) -> Ints:
    """Fold of each key, 0..n_folds-1; each fold has about as many."""
    return (keys % np.uint64(n_folds)).astype(np.int64)


def places_of(keys: Keys, draw: int) -> Floats:
    """A number from 0 to 1 for each key; those of another `draw`, and the folds, do not depend on them."""
    bits = _mixed(keys + _mixed(np.array([draw + 1], dtype=np.uint64))) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53


def _mixed(keys: Keys) -> Keys:
    with np.errstate(over="ignore"):
        keys = keys + np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return keys ^ (keys >> np.uint64(31))
