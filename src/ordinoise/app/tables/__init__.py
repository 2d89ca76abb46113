"""The user's tables: read from a file, typed, checked and written back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinoise._lazy import lazy_names

if TYPE_CHECKING:
    from ordinoise.app.tables.dialect import delimiter_of as delimiter_of
    from ordinoise.app.tables.graded import GradedTable as GradedTable
    from ordinoise.app.tables.graded import graded_table as graded_table
    from ordinoise.app.tables.label_studio import import_tasks as import_tasks
    from ordinoise.app.tables.label_studio import suggested_tasks as suggested_tasks
    from ordinoise.app.tables.label_studio import tasks_with as tasks_with
    from ordinoise.app.tables.lines import is_lines as is_lines
    from ordinoise.app.tables.lines import lines_and as lines_and
    from ordinoise.app.tables.lines import lines_with as lines_with
    from ordinoise.app.tables.output_dialect import Dialect as Dialect
    from ordinoise.app.tables.reader import read_exact as read_exact
    from ordinoise.app.tables.reader import read_stored as read_stored
    from ordinoise.app.tables.reader import read_table as read_table
    from ordinoise.app.tables.reader import read_text as read_text
    from ordinoise.app.tables.reader import typed_columns as typed_columns
    from ordinoise.app.tables.roles import ColumnRoles as ColumnRoles
    from ordinoise.app.tables.source import digest_of as digest_of
    from ordinoise.app.tables.source import format_of as format_of
    from ordinoise.app.tables.stored import write_stored_with as write_stored_with
    from ordinoise.app.tables.target import grades_of as grades_of
    from ordinoise.app.tables.workbook_cells import workbook_with as workbook_with
    from ordinoise.app.tables.writer import write_content as write_content
    from ordinoise.app.tables.writer import write_lines as write_lines
    from ordinoise.app.tables.writer import write_table as write_table

_ORIGINS = {
    "ColumnRoles": "roles",
    "Dialect": "output_dialect",
    "GradedTable": "graded",
    "delimiter_of": "dialect",
    "digest_of": "source",
    "format_of": "source",
    "graded_table": "graded",
    "grades_of": "target",
    "import_tasks": "label_studio",
    "is_lines": "lines",
    "lines_and": "lines",
    "lines_with": "lines",
    "read_exact": "reader",
    "read_stored": "reader",
    "read_table": "reader",
    "read_text": "reader",
    "suggested_tasks": "label_studio",
    "tasks_with": "label_studio",
    "typed_columns": "reader",
    "workbook_with": "workbook_cells",
    "write_content": "writer",
    "write_lines": "writer",
    "write_stored_with": "stored",
    "write_table": "writer",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _ORIGINS)
