"""What was found about several raters, printed as tables and sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ordinoise._text import TextTable, number, percent
from ordinoise.app.cli._console import console, rich_table, say

if TYPE_CHECKING:
    from rich.console import Console

    from ordinoise.app.records.ratings import RatersRecord
    from ordinoise.app.tables.ratings import RatingsTable
    from ordinoise.app.verbs.raters import Consensus

SHOWN_ITEMS, SHOWN_RATERS = 10, 10  # round numbers, chosen by no run; all of them are in the CSV files


def show_ratings(*, is_quiet: bool = False) -> Callable[[RatingsTable], None]:
    """A function that prints what was read from a file of ratings; nothing if `is_quiet`."""

    def show(table: RatingsTable) -> None:
        who = f"{table.n_raters:,} raters" if table.raters is not None else "raters without names"
        size = f"{len(table.labels):,} grades of {len(table.items):,} items by {who}"
        grades = " < ".join(map(str, table.classes))
        for line in (f"{table.path.name}: {size}; grades {grades}", *(f"  {message}" for message in table.messages)):
            say(console(), line)

    return (lambda _: None) if is_quiet else show


def show_consensus(found: Consensus, record: RatersRecord, out: Path) -> None:
    """Print agreement, raters, items to read again and what was written."""
    screen = console()
    show_agreement(screen, record)
    if record.n_raters:
        _show_raters(screen, record)
    _show_items(screen, record)
    for sentence in sentences_of(found):
        say(screen, sentence)
    for doubt in record.noise.doubts:
        say(screen, f" {doubt.sentence}.", bold="In doubt:")
    screen.print()
    files = "report.html (open it in a browser), consensus.csv, raters.csv, items.csv, raters.json"
    say(screen, f" {out}: {files}", bold="Written")
    if record.suspects:
        say(screen, f"Next: ordinoise review {out}")


def sentences_of(found: Consensus) -> list[str]:
    """Number of unanimous items, of those decided by guessers, and of verified ones."""
    from ordinoise.app.report.rater_words import right_words
    from ordinoise.app.verbs.ratings_files import report_counts

    counts = report_counts(found)
    sentences = [
        f"{counts.unanimous:,} of {len(found.table.items):,} items have the same grade from everybody; "
        f"{right_words(counts.expected_right, counts.split)}."
    ]
    if counts.by_guessers:
        sentences.append(
            f"{counts.by_guessers:,} item{'s were' if counts.by_guessers > 1 else ' was'} graded by nobody but "
            "raters who guess; see the flags in consensus.csv."
        )
    if len(found.verified):
        sentences.append(f"{len(found.verified):,} verified grades were trusted.")
    return sentences


def show_agreement(screen: Console, record: RatersRecord) -> None:
    """Print the measures of agreement."""
    if not record.agreement:
        screen.print("No item has two grades, so agreement cannot be measured.")
        return
    from ordinoise.app.report.rater_words import MEASURES

    rows = tuple((MEASURES[name][0], number(one.value), one.span()) for name, one in record.measures.items())
    columns = ("", "value", f"{record.confidence:.0%} interval")
    screen.print(rich_table(TextTable("How far do they agree?", columns, rows)))


def _show_raters(screen: Console, record: RatersRecord) -> None:
    """Print the raters who differ most from the consensus beyond the share of all raters."""
    from ordinoise.app.report.rater_words import habit, off_words
    from ordinoise.estimation.raters.summary import known_words

    overall = record.noise.rate or 0.0
    found = sorted(record.raters, key=lambda line: -line["n_labels"] * (line["noise_rate"] - overall))[:SHOWN_RATERS]
    rows = tuple(
        (
            line["rater"],
            f"{line['n_labels']:,}",
            percent(line["noise_rate"]),
            f"{habit(line, 'severity').times(-1):+.2f}",
            known_words(habit(line, "consistency"), ".2f"),
            known_words(habit(line, "guessing"), ".0%"),
        )
        for line in found
    )
    off = off_words(record)
    most = "with most wrong grades" if off == "wrong" else "who differ most from the consensus"
    title = f"The {len(rows)} raters {most} beyond the share of all" if len(record.raters) > len(rows) else "Raters"
    columns = ("rater", "grades", off, "higher", "consistency", "guesses")
    note = "Higher: grades above the others on the same items. raters.csv has a sentence for each rater."
    if off != "wrong":
        note = f"Differs: from the consensus, which nobody verified. {note}"
    screen.print(rich_table(TextTable(title, columns, rows, (note,))))


def _show_items(screen: Console, record: RatersRecord) -> None:
    from ordinoise.app.report.rater_words import confidence_words
    from ordinoise.app.verbs.ratings_files import given_words

    found = record.suspects[:SHOWN_ITEMS]
    if not found:
        screen.print("Every item has a verified grade.")
        return
    rows = tuple(
        (one.item, one.recorded, confidence_words(one), f"{one.expected_distance:.2f}",
         _shortened(", ".join(given_words(one))))
        for one in found
    )  # fmt: skip
    title = f"The {len(rows)} items to read again first"
    columns = ("item", "consensus", "confidence", "expected distance", "given")
    screen.print(rich_table(TextTable(title, columns, rows)))


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
