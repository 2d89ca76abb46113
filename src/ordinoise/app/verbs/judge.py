"""A file of automatic and human grades: corrected, with a report and the rows to grade next."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl

from ordinoise._files import new_folder, write_whole
from ordinoise._validation import as_count, complain
from ordinoise.app.tables import Dialect, write_table
from ordinoise.app.tables.reader import Opened, read_opened
from ordinoise.app.verbs.request import JudgeRequest
from ordinoise.columns.names import as_column, spread
from ordinoise.scoring.judges import Judgment, judge

REPORT, RECORD, NEXT = "report.html", "judge.json", "next.csv"


def judge_file(request: JudgeRequest, out: Path, *, on_opened: Callable[[Opened], None] = lambda _: None) -> Judgment:
    """Correct the judge's grades of a file, and write report.html, judge.json and next.csv into a new folder."""
    from ordinoise.app.report.judge import write_judge_report

    with new_folder("out", out) as folder:
        opened = read_opened(request.file, asked=request.reading, wanted=[request.judge])
        on_opened(opened)
        frame = opened.frame
        found = judge_frame(frame, request)
        write_judge_report(folder / REPORT, request.file.name, found)
        write_whole(folder / RECORD, json.dumps(found.to_dict(), indent=1, allow_nan=False).encode())
        dialect = Dialect.of(opened.reading)
        write_table(_next_frame(frame, found), folder / NEXT, dialect=dialect, excel_safe=request.excel_safe)
    return found


def judge_frame(frame: pl.DataFrame, request: JudgeRequest) -> Judgment:
    """The judge's grades of a table, corrected."""
    as_count("next", request.next, 0)
    as_count("seed", request.seed, 0)
    scores = _column(frame, "judge", request.judge)
    names = spread([request.human], frame.columns)
    people = [_column(frame, "human", name) for name in names]
    if request.judge in names:
        raise complain("human", "name a column of people's grades", f"that of the judge, {request.judge!r}")
    systems = None if request.by is None else _column(frame, "by", request.by)
    return judge(
        scores,
        people[0] if len(people) == 1 else people,
        systems,
        items=None if request.item is None else _column(frame, "item", request.item),
        classes=_order("order", request.order),
        judge_classes=_order("judge-order", request.judge_order),
        confidence=request.confidence,
        n_next=request.next,
        random_state=request.seed,
    )


def _column(frame: pl.DataFrame, argument: str, name: str) -> list[object]:
    """The cells of a column; dates and the like as text."""
    column = frame.get_column(as_column(argument, name, frame.columns))
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        column = column.cast(pl.String)
    return column.to_list()


def _order(argument: str, text: str | None) -> list[object] | None:
    """Grades between commas, numbers as numbers."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if "" in parts:
        raise complain(argument, "have a grade between any two commas", repr(text))
    return [_number(part) for part in parts]


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _next_frame(frame: pl.DataFrame, found: Judgment) -> pl.DataFrame:
    """The rows to grade next as they are in the file, after their numbers."""
    name = "row"
    while name in frame.columns:
        name += "_"
    return frame[found.next_rows].insert_column(0, pl.Series(name, found.next_rows))
