"""Results of studies as tables that are kept in the repository, so that a study can be run in pieces."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ordinoise._files import write_whole
from ordinoise.jobs import ResultStore, StoredResult

FOLDER = Path(__file__).parent
PARTS = ("trial", "result", "seconds", "key")
TEXTS = ("package", "key")  # though they may look like numbers


@contextmanager
def kept(
    table: Path, working: Path, package: str, is_ours: Callable[[Mapping[str, Any]], bool] = lambda _: True
) -> Iterator[ResultStore]:
    """A store that starts with the results in a CSV table and leaves all of its results there.

    Each of our results names the state of the package that it was measured on, as ``package``. Results of other states
    are kept, so that pieces add up, unless the environment variable ORDINOISE_ANEW is set: then ours are measured anew.

    Parameters
    ----------
    table : path
        One row per trial; it need not exist.
    working : path
        The file of the store, which also keeps what a killed run has finished.
    package : str
        The present state, see `studies.sources.package_state`.
    is_ours : callable
        Whether a trial is about this package, so that a change of it asks for another measurement.
    """
    found = list(read(table)) if table.exists() else []
    if os.environ.get("ORDINOISE_ANEW"):
        if working.exists():
            with ResultStore(working) as store:
                found += store.results()
            working.unlink()
        found = [one for one in found if not is_ours(one.trial) or one.result.get("package") == package]
    with ResultStore(working) as store:
        for one in found:
            store.add(one.key, one.trial, one.result, one.seconds)
        try:
            yield store
        finally:
            write(store.results(), table)


def write(results: Sequence[StoredResult], table: Path) -> None:
    """Write one row per trial, sorted, with columns like ``result.found.ours.large``; floats have five digits."""
    rows = [dict(_flat({part: getattr(stored, part) for part in PARTS})) for stored in results]
    names = sorted({name for row in rows for name in row}, key=lambda name: (PARTS.index(name.split(".")[0]), name))
    text = io.StringIO()
    lines = sorted([row.get(name, "") for name in names] for row in rows)
    csv.writer(text, lineterminator="\n").writerows([names, *lines])
    write_whole(table, text.getvalue().encode())


def read(table: Path) -> Iterator[StoredResult]:
    """The results that a table holds."""
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            record: dict[str, Any] = {}
            for name, cell in row.items():
                if cell:
                    *parents, last = name.split(".")
                    inner = record
                    for parent in parents:
                        inner = inner.setdefault(parent, {})
                    inner[last] = cell if last in TEXTS else _value(cell)
            yield StoredResult(**record)


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, str):
            yield prefix + name, value
        else:
            yield prefix + name, json.dumps(float(f"{value:.5g}") if isinstance(value, float) else value)


def _value(cell: str) -> Any:
    """A number, list or null, or else the text itself."""
    try:
        return json.loads(cell)
    except ValueError:
        return cell
