"""The record of several raters, stored as JSON: consensus, raters, agreement, and the items to read again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ordinoise._files import write_whole
from ordinoise._validation import complain
from ordinoise.app.records.audit import AuditRecord, Suspect, check_types, read_record, read_whole, suspect_parts
from ordinoise.columns.findings import ColumnFindings
from ordinoise.estimate import Estimate
from ordinoise.noise import Noise

FORMAT, FORMAT_VERSION = "ordinoise-raters", 1
RECORD = "raters.json"


@dataclass(frozen=True, kw_only=True)
class RatedItem(Suspect):
    """An item to read again, with every grade it was given.

    `row` is its number among the items, `recorded` and `suggested` are its consensus, `probability_wrong` is one minus
    the confidence.

    Attributes
    ----------
    item : str
        Its name.
    raters : tuple of str
        Who graded it; empty if that is not known.
    grades : tuple of str
        The grades given, in the order of `raters`.
    flags : tuple of str
        Among "verified", "only-guessers", "outside-range" and "one-grade".
    """

    item: str
    raters: tuple[str, ...]
    grades: tuple[str, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class RatersRecord:
    """What was found in a file of ratings.

    Attributes
    ----------
    source, digest : str
        Absolute path of the file, and its SHA-256 when it was read.
    target : str
        What is graded.
    classes : tuple of str
        Grades from lowest to highest, as text.
    columns : tuple of ColumnFindings
        What is known about each item; `RatedItem.cells` has one cell per column.
    n_ratings, n_items, n_raters : int
        Numbers of grades, items and raters; no raters if they are not known.
    noise : Noise
        One matrix per rater; its replicates are not written to disk.
    agreement : mapping of str to (value, low, high) or None
        Measures of agreement; empty if no item has two grades.
    confidence : float
        Level of the intervals.
    raters : tuple of mappings
        What is known about each rater: the columns of ``raters.csv``.
    family_weights : mapping of str to float
    consensus_digest : str
        SHA-256 of ``consensus.csv``, whose rows the numbers of the items count.
    settings : mapping
        Options of the command.
    suspects : tuple of RatedItem
        Items in the order to read them again.
    ordinoise : str
        Version that wrote it.
    """

    source: str
    digest: str
    target: str
    classes: tuple[str, ...]
    columns: tuple[ColumnFindings, ...]
    n_ratings: int
    n_items: int
    n_raters: int
    noise: Noise
    agreement: Mapping[str, Any]
    confidence: float
    raters: tuple[Mapping[str, Any], ...]
    family_weights: Mapping[str, Any]
    consensus_digest: str
    settings: Mapping[str, Any]
    suspects: tuple[RatedItem, ...]
    ordinoise: str

    @property
    def measures(self) -> dict[str, Estimate]:
        """The measures of agreement that could be computed."""
        lists = {name: ends for name, ends in self.agreement.items() if ends is not None}
        numbers = {name: [math.nan if end is None else end for end in ends] for name, ends in lists.items()}
        return {name: Estimate(value, low, high, self.confidence) for name, (value, low, high) in numbers.items()}

    @property
    def suspicion(self) -> str:
        """What `probability_wrong` of an item is called."""
        return "probability that the consensus is wrong"

    @property
    def n_graded(self) -> int:
        """Number of items, each of which has a consensus."""
        return self.n_items

    def to_dict(self, *, suspects: bool = True) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain |= {"noise": self.noise.to_dict(replicates=False)}
        plain |= {name: [asdict(one) for one in getattr(self, name)] for name in ("columns", "suspects")}
        if not suspects:
            del plain["suspects"]
        return {"format": FORMAT, "format_version": FORMAT_VERSION, **plain}


def write_ratings_record(folder: Path, record: RatersRecord) -> None:
    """Write ``raters.json`` into an existing folder."""
    write_whole(folder / RECORD, json.dumps(record.to_dict(), indent=1, allow_nan=False).encode())


def read_ratings_record(folder: Path) -> RatersRecord:
    """The record in a folder written by ``ordinoise raters``; refuses damaged records and other versions."""
    return read_whole(folder, RECORD, FORMAT, FORMAT_VERSION, "raters", _from_plain)


def is_of_ratings(folder: Path) -> bool:
    """Whether a folder was written by ``ordinoise raters``."""
    return (folder / RECORD).exists()


def read_any_record(folder: Path) -> AuditRecord | RatersRecord:
    """The record in a folder written by ``ordinoise audit`` or ``ordinoise raters``."""
    return read_ratings_record(folder) if is_of_ratings(folder) else read_record(folder)


def _from_plain(found: dict[str, Any]) -> RatersRecord:
    record = RatersRecord(
        **found
        | {
            "classes": tuple(found["classes"]),
            "columns": tuple(ColumnFindings(**column) for column in found["columns"]),
            "noise": Noise.of(Noise.from_dict(found["noise"]), len(found["classes"])),
            "raters": tuple(found["raters"]),
            "suspects": tuple(_item(one) for one in found["suspects"]),
        }
    )
    for one in (record, *record.columns, *record.suspects):
        check_types(one)
    if len(set(record.classes)) < len(record.classes):
        raise complain("classes", "name every grade once", list(record.classes))
    for item in record.suspects:
        _check_item(record, item)
    return record


def _item(plain: dict[str, Any]) -> RatedItem:
    return RatedItem(**suspect_parts(plain) | {name: tuple(plain[name]) for name in ("raters", "grades", "flags")})


def _check_item(record: RatersRecord, item: RatedItem) -> None:
    if len(item.cells) != len(record.columns) or len(item.posterior) != len(record.classes):
        raise ValueError(f"item {item.row} does not fit the columns or classes")
    if {item.recorded, item.suggested, *item.grades} - set(record.classes):
        raise ValueError(f"item {item.row} has a grade that is not among the classes")
    if item.raters and len(item.raters) != len(item.grades):
        raise ValueError(f"item {item.row} has {len(item.grades)} grades of {len(item.raters)} raters")
    if item.row >= record.n_items:
        raise ValueError(f"item {item.row} is not among the {record.n_items} items")
