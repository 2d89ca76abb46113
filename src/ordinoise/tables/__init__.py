"""Tables of a person's own: read from a file, understood, written back."""

from __future__ import annotations

from ordinoise.tables.columns import ColumnFindings
from ordinoise.tables.features import features_of
from ordinoise.tables.graded import GradedTable, graded_table
from ordinoise.tables.reading import digest_of, read_table, read_text
from ordinoise.tables.sniffing import delimiter_of
from ordinoise.tables.target import grades_of
from ordinoise.tables.writing import write_table

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
