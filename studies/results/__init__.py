"""Results of studies as tables that are kept in the repository, so that a study can be run in pieces."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ordinoise._files import write_whole
from ordinoise.paper.runs import ResultStore, StoredResult

FOLDER = Path(__file__).parent
PARTS = ("trial", "result", "seconds", "key")


@contextmanager
def kept(
    table: Path, working: Path, is_ours: Callable[[Mapping[str, Any]], bool] = lambda _: True
) -> Iterator[ResultStore]:
    """A store that starts with the results in a CSV table and leaves all of its results there.

    Beside the table, ``NAME.state`` says which state of the package they were begun on. Results of another state are
    kept, so that pieces add up, unless the environment variable ORDINOISE_ANEW is set: then ours are measured anew.

    Parameters
    ----------
    table : path
        One row per trial; it need not exist.
    working : path
        The file of the store, which also keeps what a killed run has finished.
    is_ours : callable
        Whether a trial is about this package, so that a change of it asks for another measurement.
    """
    state = table.with_suffix(".state")
    if os.environ.get("ORDINOISE_ANEW") and state.exists() and state.read_text().strip() != package_state():
        if table.exists():
            write([stored for stored in read(table) if not is_ours(stored.trial)], table)
        for path in (state, working):
            path.unlink(missing_ok=True)
    if not state.exists():
        state.write_text(f"{package_state()}\n")
    with ResultStore(working) as store:
        for stored in read(table) if table.exists() else ():
            store.add(stored.key, stored.trial, stored.result, stored.seconds)
        try:
            yield store
        finally:
            write(store.results(), table)


def package_state() -> str:
    """The name that git has for the content of src, or nothing outside of a checkout."""
    asked = ["git", "rev-parse", "--short", "HEAD:src"]
    return subprocess.run(asked, cwd=FOLDER, capture_output=True, text=True, check=False).stdout.strip()


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
                    inner[last] = cell if last == "key" else _value(cell)
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
