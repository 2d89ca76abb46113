"""Findings as a person reads them in a terminal, and as a program reads them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ordinoise.app.cli._console import console, rich_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ordinoise._text import TextTable
    from ordinoise._validation import Floats
    from ordinoise.app.record import AuditRecord
    from ordinoise.noise import NoiseProperties
    from ordinoise.scoring.evaluation import Evaluation

SHOWN_SUSPECTS = 10
SHOWN_METRICS = {
    "mean_absolute_error": "mean absolute error",
    "zero_one_loss": "share predicted wrong",
    "quadratic_weighted_kappa": "quadratic weighted kappa",
    "ranked_probability_score": "ranked probability score",
}


def print_json(found: object) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(found, indent=1, allow_nan=False, default=list) + "\n")


def matrix_table(
    title: str,
    classes: Sequence[str],
    matrix: Sequence[Sequence[float]],
    low: Sequence[Sequence[float]] | None = None,
    high: Sequence[Sequence[float]] | None = None,
) -> Table:
    """A noise matrix, a row a true grade, with the ends of the intervals below where there are any."""
    from ordinoise._text import TextTable

    def cell(row: int, column: int) -> str:
        shown = f"{matrix[row][column]:.0%}"
        if low is None or high is None:
            return shown
        return f"{shown} ({low[row][column]:.0%}-{high[row][column]:.0%})"

    rows = tuple((name, *(cell(row, column) for column in range(len(classes)))) for row, name in enumerate(classes))
    return rich_table(TextTable(title, ("true \\ recorded", *classes), rows))


def tell_noise(screen: Console, record: AuditRecord) -> None:
    """How wrong the grades are, and how sure that is."""
    noise = record.noise
    title = "How each true grade is recorded" + (" (95 % intervals)" if noise.low is not None else "")
    screen.print(matrix_table(title, record.classes, noise.matrix, noise.low, noise.high))
    share, low, high = (
        value / max(record.n_graded, 1) for value in (record.wrong, record.wrong_low, record.wrong_high)
    )
    counted = f"{record.wrong:,.0f} of {record.n_graded:,} grades are probably wrong"
    screen.print(f"[bold]About {counted}[/] ({share:.0%}; {record.confidence:.0%} interval {low:.0%} to {high:.0%}).")
    if not noise.is_estimated:
        screen.print(f"{noise.identifiability.capitalize()}.", markup=False, highlight=False)
    elif not noise.is_identifiable:
        screen.print("[bold]In doubt:[/] ", end="")
        screen.print(f"{noise.identifiability}.", markup=False, highlight=False)
        screen.print(
            "Surer with: reviewed grades (ordinoise review, then --decisions), or a second rater on some rows."
        )


def tell_suspects(screen: Console, record: AuditRecord) -> None:
    """The first of the suspected grades."""
    from ordinoise._text import TextTable

    rows = tuple(
        (str(one.row), one.recorded, one.suggested, f"{one.probability_wrong:.0%}", f"{one.expected_distance:.2f}")
        for one in record.suspects[:SHOWN_SUSPECTS]
    )
    columns = ("row", "recorded", "suggested", "probably wrong", "expected distance")
    note = "Rows are counted from 0, without the header."
    title = f"The {len(rows)} most suspicious of {record.n_graded:,} grades"
    screen.print(rich_table(TextTable(title, columns, rows, (note,))))


def tell_scores(screen: Console, scores: Evaluation, title: str) -> None:
    """The scores most people ask for: observed, on clean grades, interval."""
    from ordinoise._text import TextTable

    rows = tuple(
        (words, f"{score.observed:.3f}", f"{score.value:.3f}", f"{score.low:.3f} to {score.high:.3f}")
        for name, words in SHOWN_METRICS.items()
        if name in scores.scores
        for score in [scores.scores[name]]
    )
    columns = ("", "on recorded grades", "on clean grades", f"{scores.confidence:.0%} interval")
    screen.print(rich_table(TextTable(title, columns, rows)))


def tell_plan(matrix: Floats, properties: NoiseProperties, worth: Mapping[str, float]) -> None:
    """What the noise costs in labels, and which correction it allows."""
    screen = console()
    classes = [str(grade) for grade in range(len(matrix))]
    screen.print(matrix_table("The noise", classes, matrix.tolist()))
    screen.print(f"{1 - matrix.diagonal().mean():.0%} of the labels are wrong where all grades are equally common.")
    screen.print("Noisy labels worth one clean label, by the bound for the unbiased correction:")
    for name, number in worth.items():
        screen.print(f"  {name:<22} {number:8.1f}", highlight=False)
    if not properties.is_dominant:
        screen.print("Some grade is recorded wrong more often than right: the unbiased correction is out of its depth.")
    screen.print("The forward correction, which all learners use by default, needs fewer than the bound says.")


def catalogue_table() -> TextTable:
    """The data sets, a line each."""
    from ordinoise._text import TextTable
    from ordinoise.datasets import catalogue

    rows = tuple(
        (entry.name, entry.kind, entry.source, f"{entry.n_rows:,}", str(entry.n_features), str(entry.n_classes))
        for entry in catalogue()
    )
    columns = ("name", "kind", "source", "rows", "features", "grades")
    return TextTable("Data sets", columns, rows, (), 3)
