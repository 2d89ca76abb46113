"""JSON files in the folder of a verb: written whole, and read whole or refused with one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ordinoise._files import MOST_SETTINGS, regular_content, write_whole
from ordinoise._validation import complain

Record = TypeVar("Record")


class Envelope(NamedTuple):
    """What a JSON file says that it is, its format and version; the verb that writes it, and how to have it again."""

    name: str
    version: int
    verb: str
    argument: str = "folder"
    again: str = ""
    earlier: tuple[int, ...] = ()  # versions that `made` brings up to date


def write_stored(path: Path, envelope: Envelope, plain: Mapping[str, Any]) -> None:
    """Write a record, as plain values, into an existing folder."""
    whole = {"format": envelope.name, "format_version": envelope.version, **plain}
    write_whole(path, json.dumps(whole, indent=1, allow_nan=False).encode())


def read_stored(path: Path, envelope: Envelope, made: Callable[[dict[str, Any]], Record]) -> Record:
    """What `made` makes of the plain values in a file; a damaged file or another one is refused."""
    name, version, verb, argument, again, earlier = envelope
    folder, damaged = repr(str(path.parent)), "the folder is damaged"
    try:
        plain = json.loads(regular_content(path, MOST_SETTINGS).decode(), parse_constant=_refused)
    except (OSError, ValueError, RecursionError, MemoryError):
        advice = damaged if path.exists() else f"run ordinoise {verb} first"
        raise complain(argument, f"hold a readable {path.name}", folder, advice) from None
    if not isinstance(plain, dict) or plain.pop("format", None) != name:
        raise complain(argument, f"hold the {path.name} of ordinoise {verb}", folder, damaged)
    stored = plain.pop("format_version", None)
    if type(stored) is not int or stored not in (version, *earlier):
        advice = f"it was written by another version of ordinoise; {again or f'run ordinoise {verb} again'}"
        raise complain(argument, f"hold {path.name} of format version {version}", stored, advice)
    try:
        return made(plain)
    except (ValueError, RecursionError, MemoryError) as error:
        got = str(error).encode(errors="backslashreplace").decode()
        raise complain(argument, f"hold a complete {path.name}", got, damaged) from None


def _refused(constant: str) -> None:
    raise complain("JSON", "hold finite numbers", constant)
