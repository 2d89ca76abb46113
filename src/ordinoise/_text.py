"""Numbers, names and tables as text: percentages, Markdown, CSV, LaTeX and HTML."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordinoise._files import write_whole

NOTHING = "–"  # noqa: RUF001
# Characters of a name in a table and in a chart; chosen by eye on the page.
NAME_LENGTH, CHART_NAME_LENGTH = 60, 16

# Characters that a page or a chart cannot hold: control characters, lone surrogates, marks of text direction.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")

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


def matrix_text(
    title: str, classes: Iterable[object], matrix: Any, interval: Any = None, notes: tuple[str, ...] = ()
) -> TextTable:
    """A noise matrix with one row per true grade, and the interval of each entry if there is one."""
    names, layers = tuple(map(str, classes)), [matrix] if interval is None else [matrix, *interval]
    form = "{:.0%}" if interval is None else "{:.0%} ({:.0%}-{:.0%})"
    rows = tuple((name, *map(form.format, *lines)) for name, *lines in zip(names, *layers, strict=True))
    return TextTable(title, ("true \\ recorded", *names), rows, notes)


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


def plain(table: TextTable) -> str:
    """The table as lines of aligned text, its title above and its notes below."""
    lines = [tuple(map(printable, row)) for row in (table.columns, *table.rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    body = [
        "  ".join(f"{cell:{'<' if at < table.n_names else '>'}{widths[at]}}" for at, cell in enumerate(row)).rstrip()
        for row in lines
    ]
    return "\n".join([printable(table.title), *body, *map(printable, table.notes)])


def hypertext(table: TextTable) -> str:
    """The table as a piece of HTML for notebooks, everything escaped; numbers are aligned right."""
    head = "".join(_html_cell("th", cell, at < table.n_names) for at, cell in enumerate(table.columns))
    rows = ("".join(_html_cell("td", cell, at < table.n_names) for at, cell in enumerate(row)) for row in table.rows)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    notes = "".join(f"<p>{escaped(note)}</p>" for note in table.notes)
    return (
        f"<p><strong>{escaped(table.title)}</strong></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"
    )


def _html_cell(tag: str, cell: str, is_name: bool) -> str:
    return f'<{tag} style="text-align: {"left" if is_name else "right"}">{escaped(cell)}</{tag}>'


def escaped(text: str) -> str:
    """`text` as HTML shows it, whatever it holds."""
    return html.escape(printable(text))


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
    if 99.95 <= of_hundred < 100:
        return ">99.9%"
    fine = 0 < round(of_hundred, 1) < 10 or 99 < round(of_hundred, 1) < 100
    return f"{of_hundred:.1f}%" if fine else f"{of_hundred:.0f}%"


def number(value: float, decimals: int = 2) -> str:
    """A number with a fixed number of decimals and a true minus sign; a dash if it is not finite."""
    if not math.isfinite(value):
        return NOTHING
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


def first_of_consecutive(classes: Iterable[Any]) -> int | None:
    """The lowest grade if the grades are consecutive whole numbers; else None."""
    try:
        grades = [int(str(name)) for name in classes]
    except ValueError:
        return None
    return grades[0] if grades == list(range(grades[0], grades[0] + len(grades))) else None


def printable(text: str) -> str:
    """`text` with a replacement character for every character that a page cannot hold."""
    return _UNFIT.sub("\ufffd", text)


def shortened(text: str, length: int = NAME_LENGTH) -> str:
    """`text` on one line, cut with an ellipsis if it is longer than `length`."""
    # A cell can be very long: only the part that could be shown is processed.
    start = text[: 4 * length + 100]
    line = " ".join(printable(start).split())
    return line if len(line) <= length and len(start) == len(text) else line[: length - 1].rstrip() + "…"


def squeezed(text: str, length: int = CHART_NAME_LENGTH) -> str:
    """`text` cut in the middle, because long names of grades often differ at their ends."""
    line = shortened(text, NAME_LENGTH)
    front = 2 * length // 3
    return line if len(line) <= length else f"{line[:front].rstrip()}…{line[front + 1 - length :].lstrip()}"
