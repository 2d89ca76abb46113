"""The table of labels of an audit: a row for every graded row, and for every other one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ordinoise._validation import Floats, Ints
from ordinoise.audit.posterior import Posterior
from ordinoise.decisions import decide


def label_frame(rows: Ints, names: Sequence[str], posterior: Posterior, **more: Any) -> pl.DataFrame:
    """The labels of graded rows, with more columns before the probability of each grade; `names` are the grades."""
    grades = np.array(names, dtype=object)
    return pl.DataFrame(
        {
            "row": rows,
            "recorded": grades[posterior.ranks].tolist(),
            "suggested": grades[posterior.suggested].tolist(),
            "probability_wrong": posterior.probability_wrong.round(6),
            "expected_distance": posterior.expected_distance.round(6),
            **more,
            **_probabilities(names, posterior.probabilities),
        },
        schema_overrides={"recorded": pl.String, "suggested": pl.String},
    )


def suggestion_frame(rows: Ints, names: Sequence[str], probabilities: Floats, **more: Any) -> pl.DataFrame:
    """Rows without a grade, which only have a suggestion."""
    suggested = [names[rank] for rank in decide(probabilities, "median")]
    columns = {"row": rows, "suggested": suggested, **more, **_probabilities(names, probabilities)}
    return pl.DataFrame(columns, schema_overrides={"suggested": pl.String})


def probability_column(grade: str) -> str:
    """The column with the probability of a grade given the row and, if it has one, its recorded grade."""
    return f"probability_{grade}"


def _probabilities(names: Sequence[str], probabilities: Floats) -> dict[str, Floats]:
    return {probability_column(grade): probabilities[:, at].round(6) for at, grade in enumerate(names)}
