"""The table of labels of an audit: a row for every graded row, and for every other one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.app.records.labels import share_column
from ordinoise.audit.issues import CHANCES
from ordinoise.decisions import decide


def label_frame(
    rows: Ints,
    recorded: NDArray[Any],
    suggested: NDArray[Any],
    suspicion: Floats,
    graded: Floats,
    names: Sequence[str],
    **more: Any,
) -> pl.DataFrame:
    """The labels of graded rows, with more columns before the share of each grade among such rows.

    Chances that are all missing are left out; `names` are the grades.
    """
    known = {
        name: column.round(6) if name in CHANCES else column
        for name, column in more.items()
        if name not in CHANCES or not np.isnan(column).all()
    }
    found = {"recorded": recorded.tolist(), "suggested": suggested.tolist(), "suspicion": suspicion.round(6)}
    return pl.DataFrame(
        {"row": rows, **found, **known, **_shares(names, graded)},
        schema_overrides={"recorded": pl.String, "suggested": pl.String},
    )


def suggestion_frame(
    rows: Ints, names: Sequence[str], probabilities: Floats, graded: Floats, **more: Any
) -> pl.DataFrame:
    """Rows without a grade, which only have a suggestion."""
    suggested = [names[rank] for rank in decide(probabilities, "median")]
    columns = {"row": rows, "suggested": suggested, **more, **_shares(names, graded)}
    return pl.DataFrame(columns, schema_overrides={"suggested": pl.String})


def _shares(names: Sequence[str], graded: Floats) -> dict[str, Floats]:
    return {share_column(grade): graded[:, at].round(6) for at, grade in enumerate(names)}
