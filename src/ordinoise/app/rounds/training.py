"""The rows that a model learns from: the graded ones of a file, and those that only a review graded."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ordinoise.app.rounds.history import History
from ordinoise.app.tables import GradedTable
from ordinoise.app.tables.graded import names_in
from ordinoise.app.verbs.request import Request
from ordinoise.labels import Verified


def training_rows(request: Request, table: GradedTable, history: History | None) -> dict[str, Any]:
    """What `OrdinalClassifier.fit` takes: the graded rows of a file, and after them those that a review graded.

    With several grades per item a grade of the review would count as one more rating, so such rows are left out.
    """
    raters = None if table.items is None else table.raters  # raters are estimated only from several grades of an item
    rows: dict[str, Any] = {"X": table.features, "y": table.labels, "groups": table.groups, "items": table.items}
    rows |= {"raters": raters, "trusted": None}
    if history is None:
        return rows
    verified = history.verified(table)
    if table.items is not None or verified.is_recorded.all():
        return rows | {"trusted": of_recorded(verified)}
    added = np.setdiff1d([one.row for one in history.settled], table.rows)
    ungraded = np.setdiff1d(np.arange(table.frame.height), table.rows)
    rows["X"] = pl.concat([table.features, table.ungraded[np.searchsorted(ungraded, added)]])
    rows["y"] = np.concatenate([table.labels, verified.labels[~verified.is_recorded]])
    if table.groups is not None and request.group is not None:
        rows["groups"] = np.concatenate([table.groups, names_in(table.frame, "group", request.group, added)])
    return rows | {"trusted": verified}


def of_recorded(verified: Verified | None) -> Verified | None:
    """The verified grades of rows that have a recorded one too; None without any."""
    if verified is None or not verified.is_recorded.any():
        return None
    at = verified.is_recorded
    noise = None if verified.noise is None else verified.noise[at]
    return Verified(verified.rows[at], verified.labels[at], noise, verified.is_recorded[at], verified.drawn[at])
