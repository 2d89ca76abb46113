"""Checks of our SQLite files: written by us, of a known version, undamaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Execute = Callable[[str], Any]
"""Runs a statement and returns its first value, if any."""


def is_empty(execute: Execute) -> bool:
    """Whether the file has no tables yet."""
    return bool(execute("SELECT count(*) FROM sqlite_master") == 0)


def check_ours(
    execute: Execute, complaint: Callable[..., ValueError], *, what: str, application_id: int, version: int
) -> None:
    """Refuse a file of another program, of a newer version, or a damaged one, before anything is written to it."""
    if is_empty(execute):
        return
    if execute("PRAGMA application_id") != application_id:
        raise complaint(f"be a store of {what} or a new file", "an SQLite file of another program")
    found = execute("PRAGMA user_version")
    if found > version:
        advice = "it was written by a newer ordinoise; update this one"
        raise complaint(f"hold {what} of format version {version} or older", found, advice)
    damage = execute("PRAGMA integrity_check(1)")  # quick_check takes an index that contradicts its table
    if damage != "ok":
        raise complaint("be undamaged", repr(damage), "sqlite3's .recover may save what it holds")
