"""Download of the paper's tables from OpenML, converted to the form of the published files.

OpenML's copies differ from the files in the order and the coding of columns (`RAD` of Boston is nominal there, and
arrives as the *position* of its value in a list). So columns are matched by name, nominal ones are decoded, and the
result is checked against the number of rows and the column means of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ordinoise._validation import Floats, complain

MEAN_TOLERANCE = 1e-4
"""Largest relative difference of the means of a fetched column and of the file: above the rounding of the known means,
which have six digits."""


@dataclass(frozen=True)
class OpenMLTable:
    """An OpenML data set: its id, its columns in the file's order with their means, and the numbers of letter codes."""

    data_id: int
    columns: Mapping[str, float]
    codes: Mapping[str, float] = field(default_factory=dict)


def fetch_table(table: OpenMLTable, n_rows: int) -> Floats:
    """The table in the form of the published file, shape (n_rows, n_columns); scikit-learn caches the download."""
    bunch = _download(table.data_id)
    positions = {_plain(name): at for at, name in enumerate(bunch.feature_names)}
    absent = [name for name in table.columns if _plain(name) not in positions]
    if absent:
        raise _differs(table, f"have a column {absent[0]!r}", f"{list(bunch.feature_names)}")
    values = np.column_stack([_column(bunch, positions[_plain(name)], table) for name in table.columns])
    _compare(values, table, n_rows)
    return values


def _download(data_id: int) -> Any:
    from http.client import HTTPException

    from sklearn.datasets import fetch_openml

    try:
        # No target column: a nominal target would come without its list of values.
        return fetch_openml(data_id=data_id, target_column=None, as_frame=False, parser="liac-arff")
    except (OSError, HTTPException, ValueError) as error:
        reason = f"{type(error).__name__} ({str(error).rstrip('.')})"
        advice = "check the network, or pass data_dir with the archive's file"
        raise complain("fetch", f"reach OpenML data set {data_id}", reason, advice) from error


def _column(bunch: Any, at: int, table: OpenMLTable) -> Floats:
    """Column `at` as numbers; nominal columns are decoded from positions to values."""
    column = np.asarray(bunch.data[:, at], dtype=np.float64)
    listed = (bunch.categories or {}).get(bunch.feature_names[at])
    if listed is None or not np.isfinite(column).all():
        return column
    try:
        values = [table.codes.get(value, value) for value in (str(item).strip("'\" ") for item in listed)]
        return np.array(values, dtype=np.float64)[column.astype(np.int64)]
    except ValueError:
        raise _differs(table, f"have numbers in {bunch.feature_names[at]!r}", f"{list(listed)}") from None


def _compare(values: Floats, table: OpenMLTable, n_rows: int) -> None:
    if len(values) != n_rows:
        raise _differs(table, f"have {n_rows} rows", len(values))
    for (name, mean), column in zip(table.columns.items(), values.T, strict=True):
        if not np.isclose(column.mean(), mean, rtol=MEAN_TOLERANCE, atol=0):
            raise _differs(table, f"have a mean of {mean:g} in {name!r}", f"{column.mean():g}")


def _differs(table: OpenMLTable, rule: str, got: object) -> ValueError:
    return complain(f"OpenML data set {table.data_id}", rule, got, "it has changed: pass data_dir with the file")


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
