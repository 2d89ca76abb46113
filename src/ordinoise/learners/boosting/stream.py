"""Features that LightGBM reads block by block: a binned table takes one byte per cell, whatever the blocks hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats


@dataclass(frozen=True, eq=False)
class FeatureStream:
    """Rows in blocks that are loaded one at a time, and rows that the bins are made from.

    Parameters
    ----------
    blocks : sequence of (int, callable)
        Number of rows of each block, and the function that loads them.
    pattern : array of shape (n_some, n_features)
        A random sample of rows, whose quantiles are the ends of the bins.
    """

    blocks: Sequence[tuple[int, Callable[[], Floats]]]
    pattern: NDArray[np.floating]

    def dataset(self, cells: Any, categorical: Sequence[int], params: dict[str, Any]) -> Any:
        """The binned rows as LightGBM takes them."""
        import lightgbm

        class Block(lightgbm.Sequence):
            """One block, read whole."""

            def __init__(self, n_rows: int, load: Callable[[], Floats]) -> None:
                self.batch_size, self.load = n_rows, load

            def __getitem__(self, rows: Any) -> Floats:
                return self.load()[rows]

            def __len__(self) -> int:
                return int(self.batch_size)

        bins = lightgbm.Dataset(
            self.pattern, label=np.zeros(len(self.pattern)), categorical_feature=list(categorical), params=dict(params)
        )
        parts = [Block(n_rows, load) for n_rows, load in self.blocks if n_rows]
        return lightgbm.Dataset(
            parts, label=cells, categorical_feature=list(categorical), reference=bins, params=dict(params)
        ).construct()
