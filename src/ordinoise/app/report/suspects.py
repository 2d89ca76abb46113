"""The table of the most suspicious rows, limited in size."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ordinoise._text import percent
from ordinoise.app.records.audit import AuditRecord, Contribution, Suspect
from ordinoise.app.records.places import places_of
from ordinoise.app.report.words import NAME_LENGTH, number, printable, shortened
from ordinoise.app.tables.file_lines import line_word
from ordinoise.columns.findings import ColumnFindings

# Limits of the table, so that the page stays below 2 MB for any file; round numbers, chosen by eye on the page.
MOST_ROWS, MOST_COLUMNS = 100, 30
CELL_IN_REASON = 24  # characters of a cell, or of a column's name, among the reasons
MOST_IN_STRIP = 12  # grades in the strip of probabilities
CUTS = (200, 100, 50, 25, 12)  # lengths of a cell's text; the first that keeps all cells within MOST_BYTES
MOST_BYTES = 700_000
WHOLE_LENGTH = 2000  # characters of a cell's tooltip


@dataclass(frozen=True)
class CellText:
    """A cell: the text shown (None if missing), the whole text if that is longer, and the shown text in pieces.

    Pieces are (text, mark), where the mark says what a word speaks for: "for" the suggested grade, "against" it for the
    recorded one, "" for neither.
    """

    shown: str | None
    whole: str
    pieces: tuple[tuple[str, str], ...] = ()


def suspect_table(record: AuditRecord) -> dict[str, Any]:
    """The first suspects of a record by name of the template: rows, with the cells of all columns except the target."""
    found = record.suspects[:MOST_ROWS]
    named = places_of(record, found)
    places = [at for at, column in enumerate(record.columns) if column.role != "target" and at != named.column]
    columns = [record.columns[place] for place in places[:MOST_COLUMNS]]
    cells = cut_cells([[suspect.cells[place] for place in places[:MOST_COLUMNS]] for suspect in found])
    rows = tuple(
        _row(suspect, record, places[:MOST_COLUMNS], texts) | {"place": place}
        for suspect, texts, place in zip(found, cells, named.lines, strict=True)
    )
    return {
        "heads": named.heads,
        "note": named.note,
        "word": line_word(record.source).capitalize(),
        "columns": tuple(shown_column(column) for column in columns),
        "rows": rows,
        "n_more_columns": max(len(places) - MOST_COLUMNS, 0),
        "recorded": tuple(sorted({row["recorded_rank"] for row in rows})),
        "suggested": tuple(sorted({row["suggested_rank"] for row in rows})),
        "has_reasons": any(one.contributions or one.similar for one in found),
        "has_words": any(one.words for one in found),
        "has_chances": any(one.probability_wrong is not None for one in found),
    }


def shown_column(column: ColumnFindings) -> dict[str, Any]:
    """A column of the file as the page names it, and its whole name if that is longer."""
    name, whole = shortened(column.name), _whole(column.name, NAME_LENGTH)
    return {"name": name, "whole": whole, "is_number": column.kind == "number"}


def _row(suspect: Suspect, record: AuditRecord, places: Sequence[int], cells: Sequence[CellText]) -> dict[str, Any]:
    """A suspicious row, as numbers to sort by and as text; no probabilities if there are too many grades."""
    classes = record.classes
    strip = suspect.graded if len(classes) <= MOST_IN_STRIP else ()
    likeliest = max(suspect.graded) or 1.0
    return {
        "suspect": suspect,
        "recorded_rank": classes.index(suspect.recorded),
        "suggested_rank": classes.index(suspect.suggested),
        "suspicion": number(suspect.suspicion),
        "wrong": percent(math.nan if suspect.probability_wrong is None else suspect.probability_wrong),
        "probabilities": tuple((percent(one), round(100 * one / likeliest)) for one in strip),
        "cells": tuple(
            replace(cell, pieces=_pieces(record.columns[place].name, suspect, suspect.cells[place], cell.shown))
            for place, cell in zip(places, cells, strict=True)
        ),
        "speaks": tuple(_speaking(record, suspect, one) for one in suspect.contributions),
    }


def _speaking(record: AuditRecord, suspect: Suspect, one: Contribution) -> tuple[str, str]:
    """A column with its cell, and what it speaks for."""
    kinds = {column.name: column.kind for column in record.columns}
    cells = {column.name: cell for column, cell in zip(record.columns, suspect.cells, strict=True)}
    cell = cells.get(one.column) or "missing"
    text = _short_number(cell) if kinds.get(one.column) == "number" else cell
    is_long = one.column not in cells or len(text) > CELL_IN_REASON
    return shortened(one.column, CELL_IN_REASON) + ("" if is_long else f" {shortened(text, CELL_IN_REASON)}"), _mark(
        one
    )


def _short_number(cell: str) -> str:
    """A number with at most four significant digits, if that is shorter."""
    try:
        return min(cell, f"{float(cell):.4g}", key=len)
    except ValueError:
        return cell


def _mark(one: Contribution) -> str:
    return "for" if one.value > 0 else "against"


def _pieces(column: str, suspect: Suspect, cell: str | None, shown: str | None) -> tuple[tuple[str, str], ...]:
    """The shown text of a cell, cut where words that speak for a grade begin and end."""
    pieces, at = [], 0
    if cell is None or shown is None:
        return ()
    for word in suspect.words:
        if word.column != column or word.end > 4 * len(shown) + 100:
            continue
        # Blanks may be fewer in the shown text.
        start, end = (len(shortened(f"{cell[:place]}|", len(cell) + 1)) - 1 for place in (word.start, word.end))
        if at <= start < end < len(shown):
            pieces += [(shown[at:start], ""), (shown[start:end], _mark(word))]
            at = end
    return tuple(piece for piece in [*pieces, (shown[at:], "")] if piece[0])


def cut_cells(rows: Sequence[Sequence[str | None]]) -> list[list[CellText]]:
    """Cells cut so that all together take at most `MOST_BYTES`, tooltips included."""
    cut = next((cut for cut in CUTS if _size(rows, cut) <= MOST_BYTES), CUTS[-1])
    spare = MOST_BYTES - _size(rows, cut)
    table = []
    for row in rows:
        texts = []
        for cell in row:
            whole = "" if cell is None else _whole(cell, cut)
            spare -= _bytes(whole)
            texts.append(CellText(None if cell is None else shortened(cell, cut), whole if spare > 0 else ""))
        table.append(texts)
    return table


def _whole(text: str, cut: int) -> str:
    """The tooltip of a text; empty if the text is not cut."""
    if shortened(text, cut) == shortened(text, WHOLE_LENGTH):
        return ""
    more = printable(text[:WHOLE_LENGTH])
    return more + "…" if len(text) > WHOLE_LENGTH else more


def _size(rows: Sequence[Sequence[str | None]], cut: int) -> int:
    return sum(_bytes(shortened(cell, cut)) for row in rows for cell in row if cell is not None)


def _bytes(text: str) -> int:
    return len(html.escape(text).encode())
