"""The user's tables: read from a file, typed, checked and written back."""

from __future__ import annotations

from ordinoise.app.tables.dialect import delimiter_of
from ordinoise.app.tables.graded import GradedTable, graded_table
from ordinoise.app.tables.label_studio import import_tasks, suggested_tasks, tasks_with
from ordinoise.app.tables.lines import is_lines, lines_and, lines_with
from ordinoise.app.tables.output_dialect import Dialect
from ordinoise.app.tables.reader import read_exact, read_stored, read_table, read_text, typed_columns
from ordinoise.app.tables.roles import ColumnRoles
from ordinoise.app.tables.source import digest_of, format_of
from ordinoise.app.tables.stored import write_stored_with
from ordinoise.app.tables.target import grades_of
from ordinoise.app.tables.workbook_cells import workbook_with
from ordinoise.app.tables.writer import write_content, write_lines, write_table
from ordinoise.columns.features import features_of
from ordinoise.columns.findings import ColumnFindings

__all__ = [
    "ColumnFindings",
    "ColumnRoles",
    "Dialect",
    "GradedTable",
    "delimiter_of",
    "digest_of",
    "features_of",
    "format_of",
    "graded_table",
    "grades_of",
    "import_tasks",
    "is_lines",
    "lines_and",
    "lines_with",
    "read_exact",
    "read_stored",
    "read_table",
    "read_text",
    "suggested_tasks",
    "tasks_with",
    "typed_columns",
    "workbook_with",
    "write_content",
    "write_lines",
    "write_stored_with",
    "write_table",
]
