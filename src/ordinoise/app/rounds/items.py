"""Verified grades of items: from a table, or from the review of a folder written by ``ordinoise raters``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Ints, complain
from ordinoise.app.records.ratings import is_of_ratings, read_ratings_record
from ordinoise.app.review.decisions import DECISIONS, events_in
from ordinoise.app.review.settled import settled_rows
from ordinoise.app.tables.items import item_grades
from ordinoise.app.tables.ratings import RatingsTable


def verified_grades(path: Path, table: RatingsTable) -> tuple[Ints, NDArray[Any]]:
    """Numbers of the items of `table` with a verified grade, and these grades."""
    if not path.is_dir():
        return item_grades(path, table.item, table.target, table.items, table.classes)
    settled = settled_items(path)
    positions = {name: at for at, name in enumerate(table.items)}
    classes = {str(grade): grade for grade in table.classes}
    unknown = next((grade for grade in settled.values() if grade not in classes), None)
    if unknown is not None:
        raise complain("trusted", f"hold grades among {list(classes)}", repr(unknown))
    known = {positions[name]: classes[grade] for name, grade in settled.items() if name in positions}
    if not known:
        raise complain("trusted", "name items of the file", f"none of its items in the review of {str(path)!r}")
    return np.array(list(known), dtype=np.int64), np.array(list(known.values()))


def settled_items(folder: Path) -> dict[str, str]:
    """Names of the items that were settled in the review of a folder, and their grades; disputed ones are skipped."""
    if not is_of_ratings(folder):
        raise complain("trusted", "be a table or a folder written by ordinoise raters", repr(str(folder)))
    record = read_ratings_record(folder)
    if not (folder / DECISIONS).exists():
        raise complain("trusted", "be a folder with reviewed items", repr(str(folder)), f"ordinoise review {folder}")
    names = {item.row: item.item for item in record.suspects}
    settled = settled_rows(events_in(folder, record), (), record.suspects)
    return {names[one.row]: one.grade for one in settled if one.row in names}
