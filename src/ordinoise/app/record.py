"""An audit on disk: what was found in a file, and the labels a person should look at, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ordinoise._files import write_whole
from ordinoise._validation import complain
from ordinoise.app.tables.columns import ColumnFindings

FORMAT, FORMAT_VERSION = "ordinoise-audit", 1
RECORD = "audit.json"


@dataclass(frozen=True)
class NoiseFindings:
    """How the labels go wrong, as plain numbers.

    Attributes
    ----------
    matrix : tuple of tuple of float
        ``[true, recorded]``.
    low, high : tuple of tuple of float, or None
        Ends of the interval of every entry; None where the matrix was given or has none.
    rate, rate_low, rate_high : float
        Share of wrong labels and its interval; the ends are None where there is none.
    class_prior : tuple of float
        How common each true grade is.
    is_estimated : bool
        Whether the matrix was estimated from the data at hand.
    is_identifiable : bool
        Whether nothing speaks against the estimate.
    identifiability : str
        What does, in words.
    """

    matrix: tuple[tuple[float, ...], ...]
    low: tuple[tuple[float, ...], ...] | None
    high: tuple[tuple[float, ...], ...] | None
    rate: float
    rate_low: float | None
    rate_high: float | None
    class_prior: tuple[float, ...]
    is_estimated: bool
    is_identifiable: bool
    identifiability: str


@dataclass(frozen=True)
class Suspect:
    """A label that is probably wrong, with the row it belongs to.

    Attributes
    ----------
    row : int
        Number of the data row in the file, from 0.
    rank : int
        1 is the most suspicious.
    recorded, suggested : str
        Grades as text, both among the classes of the record.
    probability_wrong, expected_distance : float
        Probability that the true grade is another, and the expected number of grades between.
    posterior : tuple of float
        Probability of each grade, given the features and what was recorded.
    cells : tuple of (str or None)
        The row as text, one cell a column of the record; None where missing.
    """

    row: int
    rank: int
    recorded: str
    suggested: str
    probability_wrong: float
    expected_distance: float
    posterior: tuple[float, ...]
    cells: tuple[str | None, ...]


@dataclass(frozen=True)
class AuditRecord:
    """What an audit of a file found.

    Attributes
    ----------
    source : str
        Absolute path of the file.
    digest : str
        SHA-256 of the file when it was read.
    target : str
        The column of grades.
    classes : tuple of str
        Grades from lowest to highest, as text.
    columns : tuple of ColumnFindings
        Every column of the file, the target among them, in the file's order.
    n_rows, n_graded : int
        Rows of the file, and those of them with a grade.
    noise : NoiseFindings
    wrong, wrong_low, wrong_high : float
        How many labels are wrong, with an interval of level `confidence`.
    confidence : float
    learner : str
        What the judgement is made of.
    settings : mapping of str to plain values
        How the audit was asked for (learner, seed, order, trusted labels ...).
    suspects : tuple of Suspect
        The most suspicious first.
    ordinoise : str
        Version that wrote it.
    """

    source: str
    digest: str
    target: str
    classes: tuple[str, ...]
    columns: tuple[ColumnFindings, ...]
    n_rows: int
    n_graded: int
    noise: NoiseFindings
    wrong: float
    wrong_low: float
    wrong_high: float
    confidence: float
    learner: str
    settings: Mapping[str, Any]
    suspects: tuple[Suspect, ...]
    ordinoise: str

    def to_dict(self, *, suspects: bool = True) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self) | {"settings": dict(self.settings)}
        if not suspects:
            del plain["suspects"]
        return {"format": FORMAT, "format_version": FORMAT_VERSION, **plain}


def write_record(folder: Path, record: AuditRecord) -> None:
    """Write ``audit.json`` into an existing folder."""
    write_whole(folder / RECORD, json.dumps(record.to_dict(), indent=1, allow_nan=False).encode())


def read_record(folder: Path) -> AuditRecord:
    """The record in a folder that ``ordinoise audit`` wrote; anything unexpected is refused with a sentence."""
    try:
        found = json.loads((folder / RECORD).read_text())
    except (OSError, ValueError, RecursionError):
        raise complain("folder", f"hold a readable {RECORD}", repr(str(folder)), "run ordinoise audit first") from None
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
        raise complain("folder", "be one that ordinoise audit wrote", repr(str(folder)))
    version = found.pop("format_version", None)
    if not isinstance(version, int) or version > FORMAT_VERSION:
        advice = "it was written by a newer ordinoise; update this one"
        raise complain("folder", f"hold an audit of format version {FORMAT_VERSION} or older", version, advice)
    try:
        return _from_plain(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise complain("folder", "hold a whole audit", f"{type(error).__name__}: {error}", "it is damaged") from None


def _from_plain(found: dict[str, Any]) -> AuditRecord:
    noise = found["noise"]
    matrices = {name: _rows(noise[name]) for name in ("matrix", "low", "high")}
    record = AuditRecord(
        **found
        | {
            "classes": tuple(found["classes"]),
            "columns": tuple(ColumnFindings(**column) for column in found["columns"]),
            "noise": NoiseFindings(**noise | matrices | {"class_prior": tuple(noise["class_prior"])}),
            "suspects": tuple(
                Suspect(**one | {"posterior": tuple(one["posterior"]), "cells": tuple(one["cells"])})
                for one in found["suspects"]
            ),
        }
    )
    for suspect in record.suspects:
        if len(suspect.cells) != len(record.columns) or len(suspect.posterior) != len(record.classes):
            raise ValueError(f"suspect of row {suspect.row} does not fit the columns or classes")
        if {suspect.recorded, suspect.suggested} - set(record.classes):
            raise ValueError(f"suspect of row {suspect.row} has a grade that is none of the classes")
    return record


def _rows(matrix: Any) -> tuple[tuple[float, ...], ...] | None:
    return None if matrix is None else tuple(tuple(float(entry) for entry in row) for row in matrix)
