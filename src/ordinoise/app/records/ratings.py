"""The record of several raters, stored as JSON: consensus, raters, agreement, and the items to read again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ordinoise._plain import of_plain
from ordinoise._validation import complain
from ordinoise.app.records.audit import AuditRecord, Suspect, check_suspects, read_record
from ordinoise.app.records.stored import Envelope, read_stored, write_stored
from ordinoise.app.records.subject import Subject
from ordinoise.estimate import Estimate

ENVELOPE = Envelope("ordinoise-raters", 1, "raters")
RECORD = "raters.json"
SPLIT = "split"
"""Flag of an item on which the only two voices differ."""


@dataclass(frozen=True, kw_only=True)
class RatedItem(Suspect):
    """An item to read again, with every grade it was given.

    `row` is its number among the items, `recorded` and `suggested` are its consensus, `probability_wrong` is one minus
    the confidence.

    Attributes
    ----------
    probability_wrong, expected_distance : float
    posterior : tuple of float
        Probability of each grade, given all ratings.
    item : str
        Its name.
    raters : tuple of str
        Who graded it; empty if that is not known.
    grades : tuple of str
        The grades given, in the order of `raters`.
    flags : tuple of str
        Among "verified", "only-guessers", "outside-range", "one-grade" and "split".
    """

    probability_wrong: float = field()
    expected_distance: float = field()
    posterior: tuple[float, ...]
    item: str
    raters: tuple[str, ...]
    grades: tuple[str, ...]
    flags: tuple[str, ...]

    @property
    def confidence(self) -> float | None:
        """Probability of the consensus; None if the only two voices differ, as nothing says who is right."""
        return None if SPLIT in self.flags else 1 - self.probability_wrong


@dataclass(frozen=True, kw_only=True)
class RatersRecord(Subject):
    """What was found in a file of ratings; its noise has one matrix per rater, its columns are about the items.

    Attributes
    ----------
    n_ratings, n_items, n_raters : int
        Numbers of grades, items and raters; no raters if they are not known.
    agreement : mapping of str to (value, low, high) or None
        Measures of agreement; empty if no item has two grades.
    raters : tuple of mappings
        What is known about each rater: the columns of ``raters.csv``.
    family_weights : mapping of str to float
    consensus_digest : str
        SHA-256 of ``consensus.csv``, whose rows the numbers of the items count.
    suspects : tuple of RatedItem
        Items in the order to read them again.
    """

    n_ratings: int
    n_items: int
    n_raters: int
    agreement: Mapping[str, tuple[float | None, float | None, float | None] | None]
    raters: tuple[Mapping[str, Any], ...]
    family_weights: Mapping[str, Any]
    consensus_digest: str
    suspects: tuple[RatedItem, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_suspects("suspects", self.suspects, self, self.classes)
        for at, item in enumerate(self.suspects):
            if not {*item.grades} <= {*self.classes} or (item.raters and len(item.raters) != len(item.grades)):
                raise complain(f"suspects[{at}].grades", "be a class by each of its raters", item.grades)
            if item.row >= self.n_items:
                raise complain(f"suspects[{at}].row", f"be below {self.n_items}", item.row)

    @property
    def measures(self) -> dict[str, Estimate]:
        """The measures of agreement that could be computed."""
        lists = {name: ends for name, ends in self.agreement.items() if ends is not None}
        numbers = {name: [math.nan if end is None else end for end in ends] for name, ends in lists.items()}
        return {name: Estimate(value, low, high, self.confidence) for name, (value, low, high) in numbers.items()}

    @property
    def n_graded(self) -> int:
        """Number of items, each of which has a consensus."""
        return self.n_items


def write_ratings_record(folder: Path, record: RatersRecord) -> None:
    """Write ``raters.json`` into an existing folder."""
    write_stored(folder / RECORD, ENVELOPE, record.to_dict())


def read_ratings_record(folder: Path) -> RatersRecord:
    """The record in a folder written by ``ordinoise raters``; refuses damaged records and other versions."""
    return read_stored(folder / RECORD, ENVELOPE, lambda plain: of_plain(RatersRecord, plain))


def is_of_ratings(folder: Path) -> bool:
    """Whether a folder was written by ``ordinoise raters``."""
    return (folder / RECORD).exists()


def read_any_record(folder: Path) -> AuditRecord | RatersRecord:
    """The record in a folder written by ``ordinoise audit`` or ``ordinoise raters``."""
    return read_ratings_record(folder) if is_of_ratings(folder) else read_record(folder)
