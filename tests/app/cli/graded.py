"""A table with text grades, a tenth of each next to the right one, and the true grades."""

from pathlib import Path

import numpy as np
import polars as pl

from ordinoise import corrupt, inverse_decay

GRADES = ("poor", "fair", "good", "best")
N_ROWS = 240
_RNG = np.random.default_rng(0)
_SIZE, _WEIGHT = _RNG.normal(size=(2, N_ROWS))
_COLOUR = _RNG.choice(["red", "blue", "green"], size=N_ROWS)
TRUE = np.digitize(_SIZE + (_COLOUR == "red") + _RNG.normal(scale=0.1, size=N_ROWS), [-0.7, 0.2, 1.1])
RECORDED = corrupt(TRUE, inverse_decay(4, 0.1), random_state=0)


def write_graded(path: Path) -> Path:
    """Write the table with semicolons."""
    columns = {"size": _SIZE, "weight": _WEIGHT, "color": _COLOUR, "quality": np.array(GRADES)[RECORDED]}
    pl.DataFrame(columns).write_csv(path, separator=";")
    return path
