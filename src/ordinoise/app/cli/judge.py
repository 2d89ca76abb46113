"""``ordinoise judge``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ordinoise.app.cli._options import Json, JudgeOptions

if TYPE_CHECKING:
    from rich.console import Console

    from ordinoise.scoring.judges import Judgment
    from ordinoise.scoring.judges.result import SystemScore

SHOWN_SYSTEMS, SHOWN_PAIRS = 30, 20  # round numbers, chosen by no run; all of them are in judge.json


def judge(request: JudgeOptions, *, out: Path = Path("judged"), json: Json = False) -> None:
    """Correct the grades of an automatic judge by the few rows that people graded too. Writes a new folder.

    Example: ordinoise judge scores.csv --judge judge_score --human human_score --by system

    Parameters
    ----------
    out
        New folder for report.html, judge.json and next.csv.
    """
    from ordinoise._files import refuse_existing
    from ordinoise.app.cli._columns import check_columns

    refuse_existing("out", out)
    check_columns(request)
    from ordinoise.app.cli._console import console, say, show_opened
    from ordinoise.app.cli._findings import print_json
    from ordinoise.app.verbs.judge import judge_file

    found = judge_file(request, out, on_opened=show_opened)
    if json:
        print_json(found.to_dict() | {"out": str(out)})
        return
    screen = console()
    for message in found.messages:
        say(screen, f"{message[0].upper()}{message[1:]}.")
    _show_systems(screen, found)
    _show_pairs(screen, found)
    say(screen, found.lean)
    say(screen, found.assumption)
    if found.doubts:
        say(screen, f" {'; '.join(doubt.sentence for doubt in found.doubts)}.", bold="In doubt:")
    screen.print()
    say(screen, f" {out}: report.html (open it in a browser), judge.json, next.csv", bold="Written")
    if len(found.next_rows):
        say(screen, f"Next: let people grade the {len(found.next_rows)} rows of {out}/next.csv")


def _show_systems(screen: Console, found: Judgment) -> None:
    from ordinoise._text import TextTable
    from ordinoise.app.cli._console import rich_table

    rows = tuple(_row(one) for one in found.systems[:SHOWN_SYSTEMS])
    columns = ("system", "rows", "human", "judge alone", "human alone", "corrected mean", "more to halve")
    title = f"Mean grade with {found.confidence:.0%} intervals, from {found.classes[0]} to {found.classes[-1]}"
    note = "More to halve: human grades to add to make the interval of the corrected mean half as wide."
    screen.print(rich_table(TextTable(title, columns, rows, (note,))))
    shares = tuple(
        (one.system, *(share.words(".0%", "-") for share in one.at_least.values()))
        for one in found.systems[:SHOWN_SYSTEMS]
    )
    title = "Corrected share of rows at or above each grade"
    screen.print(rich_table(TextTable(title, ("system", *found.classes[1:]), shares)))


def _row(one: SystemScore) -> tuple[str, ...]:
    from ordinoise._text import NOTHING

    alone = NOTHING if one.judge_mean is None else f"{one.judge_mean:.2f}"
    if one.human_mean is None:
        return one.system, f"{one.n_rows:,}", "0", alone, NOTHING, str(one.mean), NOTHING
    more = "more than its rows" if one.more_to_halve is None else f"{one.more_to_halve:,}"
    return one.system, f"{one.n_rows:,}", f"{one.n_human:,}", alone, str(one.human_mean), str(one.mean), more


def _show_pairs(screen: Console, found: Judgment) -> None:
    from ordinoise._text import TextTable
    from ordinoise.app.cli._console import rich_table

    if not found.differences:
        return
    rows = tuple(
        (f"{one.system} less {one.other}", str(one.mean), "clear" if one.is_clear else "open")
        for one in found.differences[:SHOWN_PAIRS]
    )
    screen.print(rich_table(TextTable("Differences of corrected means", ("", "difference", "zero excluded"), rows)))
