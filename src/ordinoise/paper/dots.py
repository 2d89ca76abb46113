"""Two numbers a line, theirs and ours: how near they are is seen before it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ordinoise.paper.pictures import write_figure

THEIRS, OURS = "#7f7f7f", "#2a788e"
COLUMNS = 3


@dataclass(frozen=True)
class DotRow:
    """One line: its name, a printed number with its spread (or None), and ours with its spread."""

    label: str
    printed: float | None
    printed_sd: float
    ours: float
    ours_sd: float


def write_dots(path: Path, panels: Mapping[str, Sequence[DotRow]], axis_label: str) -> None:
    """A panel for each name, a line for each row; the format follows from the path's suffix."""
    n_rows = -(-len(panels) // COLUMNS)
    tallest = max(len(rows) for rows in panels.values())
    figure = Figure(figsize=(4.2 * min(COLUMNS, len(panels)), (0.27 * tallest + 1.0) * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(n_rows, min(COLUMNS, len(panels)), squeeze=False).ravel()
    for axis, (title, rows) in zip(axes, panels.items(), strict=False):
        _draw(axis, rows)
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_xlabel(axis_label)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    write_figure(figure, path)


def _draw(axis: Axes, rows: Sequence[DotRow]) -> None:
    places = range(len(rows))
    printed = [(place, row) for place, row in zip(places, rows, strict=True) if row.printed is not None]
    axis.errorbar(
        [row.printed for _, row in printed if row.printed is not None], [place - 0.12 for place, _ in printed],
        xerr=[row.printed_sd for _, row in printed], fmt="o", color=THEIRS, markerfacecolor="white", markersize=5,
        linewidth=1, label="paper (mean, sd)",
    )  # fmt: skip
    axis.errorbar(
        [row.ours for row in rows], [place + 0.12 for place in places], xerr=[row.ours_sd for row in rows],
        fmt="o", color=OURS, markersize=5, linewidth=1, label="here (mean, sd)",
    )  # fmt: skip
    axis.set_yticks(list(places), [row.label for row in rows], fontsize=8)
    axis.invert_yaxis()
    axis.grid(axis="x", linewidth=0.4, alpha=0.6)
    axis.spines[["top", "right"]].set_visible(False)
