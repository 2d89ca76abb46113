"""The report on several raters: its contents, from the record to what the template shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from ordinoise._files import write_whole
from ordinoise._text import percent
from ordinoise.app.records.ratings import RatedItem, RatersRecord
from ordinoise.app.report.contents import shown_settings
from ordinoise.app.report.page import rendered
from ordinoise.app.report.rater_charts import agreement_chart, raters_chart
from ordinoise.app.report.rater_words import (
    MEASURES,
    advice,
    agreement_words,
    confidence_words,
    doubt_lines,
    habit_words,
    known,
    off_words,
    right_words,
)
from ordinoise.app.report.suspects import MOST_IN_STRIP, CellText, cut_cells, shown_column
from ordinoise.app.report.words import count, counted, number, printable, shortened

# Most raters in the picture and in the table, small matrices and their cells together, items, columns of an item;
# chosen by eye on the page.
MOST_IN_PICTURE, MOST_LISTED, MOST_MATRICES, MOST_CELLS = 40, 200, 24, 2400
MOST_ITEMS, MOST_COLUMNS, MOST_GIVEN = 100, 12, 30
SECTIONS = {
    "found": "What was found",
    "agreement": "How far do they agree?",
    "raters": "Who grades higher, lower, carelessly?",
    "matrices": "How each rater grades",
    "items": "Which items divide them?",
    "unknown": "What cannot be known",
    "about": "About this report",
}


@dataclass(frozen=True)
class Counts:
    """Numbers of items for the opening: one grade from all, grades two or more apart, by guessers, split by two."""

    unanimous: int
    divided: int
    by_guessers: int
    expected_right: float
    split: int = 0


def write_raters_report(path: Path, record: RatersRecord, counts: Counts) -> None:
    """Write the report on several raters as one HTML file."""
    heading = f"Raters of {PurePath(record.source).name}"
    contents = contents_of(record, counts)
    page = rendered("raters.html.j2", heading, record.ordinoise, SECTIONS, len(record.classes), contents)
    write_whole(path, page.encode())


def contents_of(record: RatersRecord, counts: Counts) -> dict[str, Any]:
    """What the template shows of a record, by name; a chart is None if there is nothing to draw."""
    measures, habits = known(record), habit_words(record)
    titles = {name: title[0].upper() + title[1:] for name, (title, _) in MEASURES.items()}
    agreed = agreement_words(record)
    most = sorted(record.raters, key=lambda line: (-line["n_labels"], str(line["rater"])))
    pictured = sorted(most[:MOST_IN_PICTURE], key=lambda line: -line["severity"]) if record.n_raters else []
    rows = _item_rows(record)
    return {
        "record": record,
        "file_name": shortened(PurePath(record.source).name or record.source, 80),
        "names": [shortened(name) for name in record.classes],
        "lead": _lead(record, counts),
        "agreement_words": agreed,
        "agreement_chart": agreement_chart(measures, titles, agreed) if measures else None,
        "agreement_lines": [
            (titles[name], MEASURES[name][1], number(one.value), one.span(number)) for name, one in measures.items()
        ],
        "habit_words": habits,
        "off_words": off_words(record),
        "raters_chart": raters_chart(pictured, habits, _raters_caption(record)) if pictured else None,
        "rater_lines": most[:MOST_LISTED],
        "matrices": _small_matrices(record, [str(line["rater"]) for line in most]),
        "columns": [shown_column(column) for column in record.columns[:MOST_COLUMNS]],
        "items": rows,
        "grades": sorted({row["rank"] for row in rows}),
        "doubts": doubt_lines(record),
        "advice": advice(record),
        "settings": shown_settings(record.settings),
    }


def _lead(record: RatersRecord, counts: Counts) -> list[str]:
    who = counted(record.n_raters, "rater") if record.n_raters else "people without names"
    first = f"{counted(record.n_items, 'item')} were graded {count(record.n_ratings)} times by {who}"
    first = f"{first}; {right_words(counts.expected_right, counts.split)}."
    shares = (
        f"{count(counts.unanimous)} items have the same grade from all who saw them, {count(counts.divided)} have "
        "grades that are two or more apart."
    )
    guessed = f"{counted(counts.by_guessers, 'item')} had nobody but raters who guess." if counts.by_guessers else ""
    n_trusted = record.settings.get("n_trusted", 0)
    trusted = f"{counted(n_trusted, 'verified grade')} set the scale." if n_trusted else ""
    return [first, *(sentence for sentence in (shares, guessed, trusted) if sentence)]


def _raters_caption(record: RatersRecord) -> str:
    which = ""
    if record.n_raters > MOST_IN_PICTURE:
        which = f" The {MOST_IN_PICTURE} raters with the most grades of {count(record.n_raters)}; raters.csv has all."
    return (
        "Left: by how many grades a rater is above or below the others on the same items. Consistency: how far a "
        "grade is due to the item. Guesses: share of grades that ignore the item. Bars are "
        f"{percent(record.confidence)} intervals; a rater of whom little is known is drawn to the middle.{which}"
    )


def _small_matrices(record: RatersRecord, names: Sequence[str]) -> list[dict[str, Any]]:
    """Matrices of the raters with the most grades, as many as the page can hold; one for all without names."""
    n_classes = len(record.classes)
    matrices = record.noise.matrices
    by_name = dict(zip([str(line["rater"]) for line in record.raters], matrices.tolist(), strict=False))
    n_shown = min(MOST_MATRICES, MOST_CELLS // n_classes**2)
    return [
        {
            "name": shortened(name, 40),
            "words": _matrix_words(by_name[name], record.classes),
            "cells": _strengths(by_name[name]),
        }
        for name in names[:n_shown]
        if name in by_name
    ]


def _matrix_words(matrix: Sequence[Sequence[float]], classes: Sequence[str]) -> str:
    rows = enumerate(zip(classes, matrix, strict=True))
    parts = (f"{shortened(name, 20)} {percent(row[at])}" for at, (name, row) in rows)
    return f"as the consensus: {', '.join(parts)}"


def _strengths(matrix: Sequence[Sequence[float]]) -> tuple[tuple[int, bool], ...]:
    return tuple(
        (round(100 * min(max(value, 0.0), 1.0)), true == given)
        for true, row in enumerate(matrix)
        for given, value in enumerate(row)
    )


def _item_rows(record: RatersRecord) -> list[dict[str, Any]]:
    found = record.suspects[:MOST_ITEMS]
    cells = cut_cells([[one.item, *one.cells[:MOST_COLUMNS]] for one in found])
    return [_item_row(record, one, texts) for one, texts in zip(found, cells, strict=True)]


def _item_row(record: RatersRecord, item: RatedItem, texts: Sequence[CellText]) -> dict[str, Any]:
    """An item to read again, as text and as numbers to sort by."""
    strip = item.posterior if len(record.classes) <= MOST_IN_STRIP else ()
    likeliest = max(item.posterior) or 1.0
    raters = item.raters or ("",) * len(item.grades)
    given = sorted(zip(raters, item.grades, strict=True), key=lambda one: record.classes.index(one[1]))
    return {
        "item": item,
        "name": texts[0],
        "rank": record.classes.index(item.recorded),
        "confidence": confidence_words(item),
        "distance": number(item.expected_distance),
        "given": tuple((shortened(who, 24), printable(shortened(grade, 24))) for who, grade in given[:MOST_GIVEN]),
        "n_more": max(len(given) - MOST_GIVEN, 0),
        "probabilities": tuple((percent(one), round(100 * one / likeliest)) for one in strip),
        "cells": tuple(texts[1:]),
    }
