"""Names in messages: lists of names, and the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

from ordinoise._validation import complain

LISTED = 8  # most items that a message lists; chosen by no run


def listed(items: Iterable[object], limit: int = LISTED) -> str:
    """The first few items, joined: ``'a', 'b' and 7 more``."""
    everything = [repr(item) for item in items]
    shown, rest = everything[:limit], len(everything) - limit
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def meant(name: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?`` with the nearest of the `known` names; empty if none is near."""
    candidates = list(known)
    folded = {candidate.strip().casefold(): candidate for candidate in reversed(candidates)}
    near = difflib.get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.6)
    return f"did you mean {folded[near[0]]!r}?" if near else ""


def spread(names: Iterable[str], columns: Collection[str]) -> list[str]:
    """Names of columns from lists with commas between; a column whose own name has commas is found too."""
    found = []
    for entry in names:
        parts = entry.split(",")
        while parts:
            sizes = (size for size in range(min(len(parts), LISTED), 1, -1) if ",".join(parts[:size]) in columns)
            size = len(parts) if entry in columns else next(sizes, 1)
            name = ",".join(parts[:size])
            found.append(name if name in columns or size > 1 else name.strip())
            parts = parts[size:]
    return found


def as_column(argument: str, name: str, columns: Sequence[str]) -> str:
    """`name` if it is one of the `columns`; the error names the nearest one."""
    if name in columns:
        return name
    advice = meant(name, columns) or f"the columns are {listed(columns)}"
    raise complain(argument, "name a column of the file", repr(name), advice)
