"""The columns that a command names, compared with those of its file before anything slow is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.dialect import looks_like_data
from ordinoise.app.tables.folder import is_folder
from ordinoise.app.tables.reader import open_stored
from ordinoise.app.tables.reading import BY_RULES, Reading
from ordinoise.app.tables.source import as_file, format_of
from ordinoise.app.tables.target import MOST_GRADES
from ordinoise.columns.names import LISTED, meant, spread
from ordinoise.columns.refusals import is_sentence

# A file of these formats is read twice, which for so many bytes is quick; a round number, chosen by no run.
FORMATS, MOST_BYTES = ("text", "json", "excel"), 2**24
GRADES = ("target", "grade", "judge")
"""Options that name the column of grades, which a sheet must have."""


def check_named(path: Path, named: Mapping[str, Iterable[str]], asked: Reading = BY_RULES) -> None:
    """Refuse a name that is no column of a file, with the columns that could be meant and what they hold.

    Parameters
    ----------
    path : Path
        A file; a folder, a large file and one that stores types are left to who reads them.
    named : mapping of str to iterable of str
        Names of columns by option; one may hold several with commas between.
    asked : Reading
    """
    if not _is_quick(path):
        return
    wanted = [name for option in GRADES for name in named.get(option, ())]
    frame = open_stored(path, asked=asked, wanted=wanted).frame
    if asked.has_header and looks_like_data(frame.columns):
        return  # who reads it says more
    for option, names in named.items():
        unknown = next((name for name in spread(names, frame.columns) if name not in frame.columns), None)
        if unknown is not None:
            raise complain(option, "name a column of the file", repr(unknown), _advice(frame, unknown))


def likely_columns(path: Path) -> str:
    """The columns of a file that could hold grades, in words; empty if it cannot be read."""
    try:
        return _in_words(open_stored(path).frame, only_few=True) if _is_quick(path) else ""
    except (ValueError, OSError) as error:
        if not is_sentence(error) and not isinstance(error, OSError):
            raise
        return ""


def _is_quick(path: Path) -> bool:
    return not is_folder(path) and format_of(as_file(path)) in FORMATS and path.stat().st_size <= MOST_BYTES


def _advice(frame: pl.DataFrame, name: str) -> str:
    near = meant(name, frame.columns)
    if near:
        column = next(one for one in frame.columns if near == f"did you mean {one!r}?")
        return f"did you mean {_held(frame, column)}?"
    return f"the columns are {_in_words(frame)}"


def _in_words(frame: pl.DataFrame, *, only_few: bool = False) -> str:
    """Columns with their numbers of values: all of them, or those with few enough to be grades, the fewest first."""
    counts = {name: frame[name].drop_nulls().n_unique() for name in frame.columns}
    names = sorted((name for name in counts if 2 <= counts[name] <= MOST_GRADES), key=lambda name: counts[name])
    names = names if only_few else frame.columns
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(_held(frame, name) for name in names[:LISTED]) + more


def _held(frame: pl.DataFrame, name: str) -> str:
    n_values = frame[name].drop_nulls().n_unique()
    return f"{name!r} ({n_values:,} value{'s' * (n_values != 1)})"
