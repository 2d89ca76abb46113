"""Tables of a person's own: read from a file, understood, written back."""

from __future__ import annotations

from ordinoise.app.tables.columns import ColumnFindings
from ordinoise.app.tables.features import features_of
from ordinoise.app.tables.graded import GradedTable, graded_table
from ordinoise.app.tables.reading import digest_of, read_table, read_text
from ordinoise.app.tables.sniffing import delimiter_of
from ordinoise.app.tables.target import grades_of
from ordinoise.app.tables.writing import write_table

__all__ = [
    "ColumnFindings",
    "GradedTable",
    "delimiter_of",
    "digest_of",
    "features_of",
    "graded_table",
    "grades_of",
    "read_table",
    "read_text",
    "write_table",
]
