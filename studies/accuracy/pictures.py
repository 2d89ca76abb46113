"""The critical-difference diagram: mean ranks on one axis, a bar over entries that do not differ significantly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ordinoise._validation import as_same_length, complain
from ordinoise.paper.pictures import write_figure

__all__ = ["write_ranks"]

# Inches per name or bar, and above the axis: chosen by eye.
ROW, HEAD = 0.26, 1.0


def write_ranks(
    path: Path,
    entries: Sequence[str],
    mean_ranks: Sequence[float],
    critical_difference: float,
    *,
    title: str = "",
    highlighted: Sequence[str] = (),
) -> None:
    """Write a diagram of mean ranks, the best on the left; the suffix of the path decides the format.

    Parameters
    ----------
    path : Path
        Where to write it.
    entries : sequence of str
    mean_ranks : sequence of float
        One per entry; 1 for an entry that is always the best.
    critical_difference : float
        Largest difference of the ranks under one bar.
    title : str
    highlighted : sequence of str
        Entries printed in bold.
    """
    as_same_length("mean_ranks", len(mean_ranks), "entries", len(entries))
    if len(entries) < 2:
        raise complain("entries", "be at least two", len(entries))
    order = np.argsort(mean_ranks, kind="stable")
    ranks = [float(mean_ranks[place]) for place in order]
    names = [entries[place] for place in order]
    bars = _bars(ranks, critical_difference)
    n_rows = len(bars) + (len(names) + 1) // 2 + 1
    height = HEAD + ROW * n_rows
    figure = Figure(figsize=(9, height))
    FigureCanvasAgg(figure)
    axis = figure.add_axes((0.27, 0, 0.46, 1 - HEAD / height))
    _draw_axis(axis, len(names), n_rows, critical_difference)
    for row, (first, last) in enumerate(bars):
        axis.plot([ranks[first], ranks[last]], [row + 0.7] * 2, color="black", linewidth=3, solid_capstyle="round")
    for place, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        _draw_name(axis, place, len(names), name, rank, len(bars) + 0.8, name in highlighted)
    figure.text(0.02, 1 - 0.2 / height, title, va="center", fontsize=10)
    write_figure(figure, path)


def _bars(ranks: Sequence[float], reach: float) -> list[tuple[int, int]]:
    """First and last position of every maximal run of at least two ascending ranks within `reach`."""
    bars: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = int(np.searchsorted(ranks, rank + reach, side="right")) - 1
        if last > first and (not bars or last > bars[-1][1]):
            bars.append((first, last))
    return bars


def _draw_axis(axis: Axes, n_entries: int, n_rows: int, critical_difference: float) -> None:
    axis.set_xlim(1, n_entries)
    axis.set_ylim(n_rows, 0)
    axis.xaxis.tick_top()
    axis.set_yticks([])
    for side in ("left", "right", "bottom"):
        axis.spines[side].set_visible(False)
    # Above the tick labels, starting at rank 1.
    end = 1 + critical_difference
    axis.plot([1, end], [-1.7, -1.7], color="grey", linewidth=2, clip_on=False)
    axis.text(end, -1.7, f"  critical difference {critical_difference:.2f}", color="grey", va="center", fontsize=9)


def _draw_name(axis: Axes, place: int, n_entries: int, name: str, rank: float, top: float, is_bold: bool) -> None:
    """The better half on the left, best on top; the rest on the right, worst on top, so that no lines cross."""
    on_left = place < (n_entries + 1) // 2
    depth = top + (place if on_left else n_entries - 1 - place)
    edge = 1 if on_left else n_entries
    axis.plot([rank, rank, edge], [0, depth, depth], color="black", linewidth=0.8, clip_on=False)
    axis.annotate(
        f"{name} ({rank:.1f})",
        (edge, depth),
        xytext=(-4 if on_left else 4, 0),
        textcoords="offset points",
        ha="right" if on_left else "left",
        va="center",
        fontsize=9,
        fontweight="bold" if is_bold else "normal",
    )
