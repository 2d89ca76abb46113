"""Sentences that the terminal and the pages share."""

from __future__ import annotations

from collections.abc import Sequence

from ordinoise.columns.findings import ColumnFindings
from ordinoise.columns.names import LISTED

NOTHING_FOUND = "Nothing can be found from these columns: they say next to nothing about the grade."


def left_out_words(columns: Sequence[ColumnFindings]) -> str:
    """Which columns were left out and why, or that none was, and what to do."""
    if not columns:
        return "None was left out. Add columns that the grade depends on."
    named = "; ".join(f"{column.name!r} ({column.note})" for column in columns[:LISTED])
    more = f" and {len(columns) - LISTED} more" if len(columns) > LISTED else ""
    return f"Left out: {named}{more}. Add columns that the grade depends on."
