"""Numbers and tables as text: percentages, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ordinoise._files import write_whole

NOTHING = "–"  # noqa: RUF001

LATEX_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


@dataclass(frozen=True)
class TextTable:
    """A table of text, ready to be printed.

    Attributes
    ----------
    title : str
    columns : tuple of str
    rows : tuple of tuple of str
        One cell per column.
    notes : tuple of str
        Sentences below the table.
    n_names : int
        Number of leading columns that name the row; the rest are numbers, aligned right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    n_names: int = 1

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows)


def markdown(table: TextTable) -> str:
    """The table in Markdown, its title above and its notes below."""
    rule = ["---" if at < table.n_names else "---:" for at in range(len(table.columns))]
    lines = [_markdown_row(row) for row in (table.columns, rule, *table.rows)]
    return "\n".join([f"**{table.title}**", "", *lines, "", *(f"{note}\n" for note in table.notes)])


def comma_separated(table: TextTable) -> str:
    """The table in CSV, without title and notes."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()


def latex(table: TextTable) -> str:
    """The table in LaTeX, for the package booktabs."""
    layout = "l" * table.n_names + "r" * (len(table.columns) - table.n_names)
    body = [_latex_row(row) for row in table.rows]
    return "\n".join(
        [
            r"\begin{table}", rf"\caption{{{_latex(table.title)}}}", rf"\begin{{tabular}}{{{layout}}}", r"\toprule",
            _latex_row(table.columns), r"\midrule", *body, r"\bottomrule", r"\end{tabular}",
            *(_latex(note) + r"\\" for note in table.notes), r"\end{table}", "",
        ]
    )  # fmt: skip


def write_tables(folder: Path, name: str, table: TextTable) -> list[Path]:
    """Write ``name.md``, ``name.csv`` and ``name.tex`` into an existing folder."""
    texts = {".md": markdown(table), ".csv": comma_separated(table), ".tex": latex(table)}
    paths = [folder / f"{name}{suffix}" for suffix in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        write_whole(path, text.encode())
    return paths


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(_latex(cell) for cell in cells) + r" \\"


def _latex(text: str) -> str:
    return re.sub("|".join(map(re.escape, LATEX_ESCAPES)), lambda found: LATEX_ESCAPES[found[0]], text)


def percent(share: float) -> str:
    """A share as a percentage, with one decimal below 10 % and above 99 %."""
    if not math.isfinite(share):
        return NOTHING
    of_hundred = 100 * share
    if 0 < of_hundred < 0.05:
        return "<0.1%"
    if 99.95 < of_hundred < 100:
        return ">99.9%"
    fine = 0 < round(of_hundred, 1) < 10 or 99 < round(of_hundred, 1) < 100
    return f"{of_hundred:.1f}%" if fine else f"{of_hundred:.0f}%"
