"""The paper's figure of its synthetic set, a picture of Table 1, and the drawing behind both."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap, to_hex
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ordinoise._files import write_whole
from ordinoise._interrupts import waiting_signals
from ordinoise._validation import Floats, Ints
from ordinoise.datasets.embedded import SYNTHETIC_EDGES
from ordinoise.learners.mlp import Network, Objective
from ordinoise.levels import corrected_levels, labels_from_logits, level_table
from ordinoise.paper.comparison import Summary, compare
from ordinoise.paper.protocol import LOSSES, PROTOCOLS, SETS, noise_matrix
from ordinoise.paper.trials import generator, load_set, recorded_labels, split_rows, train_network

# Colors and sizes in this file are chosen by eye.
# One color per grade, distinguishable without color vision (from the viridis map, lightened for regions).
GRADE_COLORS = ["#3b0f70", "#2a788e", "#7ad151", "#fde725"]
PAPER_COLOR, OUR_COLOR = "#7f7f7f", "#2a788e"
N_COLUMNS = 3
GRID = 240
N_DRAWN = 700
SUFFIXES = (".png", ".svg")


def write_figure_of_rules(folder: Path, protocol: str = "inferred") -> list[Path]:
    """Write the paper's figure: the true rule, and the rules learned from noisy labels with and without correction."""
    data = load_set("synthetic", None)
    rows, _ = split_rows(data, 0)
    noisy = recorded_labels(data, rows, "uniform", 0)
    drawn = generator("synthetic", 0, "drawn").permutation(len(rows))[:N_DRAWN]
    settings = PROTOCOLS[protocol].settings(SETS["synthetic"], "plain")

    def learned(levels: Floats) -> Network:
        objective, rng = Objective("cross_entropy", levels[None]), generator("synthetic", 0, "training")
        return train_network(data.features[rows], noisy, objective, settings, rng).network

    plain = learned(level_table(4))
    corrected = learned(corrected_levels(noise_matrix("uniform", 4)))

    def true_rule(points: Floats) -> Ints:
        return np.digitize(points[:, 0], SYNTHETIC_EDGES)

    points, clean, recorded = data.features[rows][drawn], data.labels[rows][drawn], noisy[drawn]
    panels = [
        Panel("a  clean labels, true rule", points, clean, true_rule),
        Panel("b  noisy labels, true rule", points, recorded, true_rule),
        Panel("c  learned from b by the plain loss", points, recorded, lambda at: labels_from_logits(plain.logits(at))),
        Panel("d  learned from b, known rates", points, recorded, lambda at: labels_from_logits(corrected.logits(at))),
    ]
    paths = [folder / f"figure{suffix}" for suffix in SUFFIXES]
    for path in paths:
        write_panels(path, panels, [f"grade {grade}" for grade in range(4)])
    return paths


def write_picture_of_errors(folder: Path, summary: Summary) -> list[Path]:
    """Write Table 1's mean absolute errors on noisy labels, the paper's and ours, one panel per set."""
    panels: dict[str, list[DotRow]] = {}
    for found in compare(summary):
        cell = found.printed
        if cell.metric == "mae" and cell.train_on == "noisy":
            label = f"{LOSSES[cell.loss]}, {cell.variant}"
            row = DotRow(label, cell.mean, cell.sd, found.mean, found.sd)
            panels.setdefault(SETS[cell.dataset].printed, []).append(row)
    for group, measured in summary.items():
        if group.correction == "forward" and group.noise == "uniform" and SETS[group.dataset].printed in panels:
            errors = measured.mean_absolute_errors
            row = DotRow(f"forward, {group.variant}", None, 0.0, float(errors.mean()), float(errors.std()))
            panels[SETS[group.dataset].printed].append(row)
    if not panels:
        return []
    paths = [folder / f"errors{suffix}" for suffix in SUFFIXES]
    for path in paths:
        write_dots(path, panels, "mean absolute error")
    return paths


@dataclass(frozen=True)
class Panel:
    """Labeled points in the plane, over the regions of a decision rule.

    Attributes
    ----------
    title : str
    features : array of shape (n_samples, 2)
    labels : array of shape (n_samples,)
        Ranks that color the points.
    rule : callable
        Predicted ranks of points in the plane, shape (n_points, 2).
    """

    title: str
    features: NDArray[np.floating]
    labels: Ints
    rule: Callable[[Floats], Ints]


def write_panels(path: Path, panels: Sequence[Panel], class_names: Sequence[str]) -> None:
    """Write four panels, two per row, with one legend; the suffix of the path decides the format."""
    figure = Figure(figsize=(11, 7.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for axis, panel in zip(axes, panels, strict=True):
        _draw_panel(axis, panel, len(class_names))
    handles = [
        axes[0].scatter([], [], color=color, s=30, edgecolor="black", linewidth=0.3, label=name)
        for color, name in zip(_colors(len(class_names)), class_names, strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(class_names), frameon=False)
    write_figure(figure, path)


def _draw_panel(axis: Axes, panel: Panel, n_classes: int) -> None:
    colors = ListedColormap(_colors(n_classes))
    low, high = panel.features.min(axis=0) - 0.5, panel.features.max(axis=0) + 0.5
    across, up = np.meshgrid(np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID))
    regions = panel.rule(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    axis.pcolormesh(
        across, up, regions, cmap=colors, vmin=0, vmax=n_classes - 1, alpha=0.3, shading="auto", rasterized=True
    )
    axis.contour(across, up, regions, levels=np.arange(n_classes - 1) + 0.5, colors="black", linewidths=1.2)
    axis.scatter(
        panel.features[:, 0],
        panel.features[:, 1],
        c=panel.labels,
        cmap=colors,
        vmin=0,
        vmax=n_classes - 1,
        s=9,
        edgecolor="black",
        linewidth=0.2,
    )
    axis.set_title(panel.title, loc="left", fontsize=10)
    axis.set_xlabel("$x_1$")
    axis.set_ylabel("$x_2$")


def _colors(n_classes: int) -> list[str]:
    if n_classes <= len(GRADE_COLORS):
        return GRADE_COLORS[:n_classes]
    return [to_hex(color) for color in colormaps["viridis"](np.linspace(0, 1, n_classes))]


@dataclass(frozen=True)
class DotRow:
    """One row of dots: a printed number with its standard deviation (None where there is none), and ours."""

    label: str
    printed: float | None
    printed_sd: float
    ours: float
    ours_sd: float


def write_dots(path: Path, panels: Mapping[str, Sequence[DotRow]], axis_label: str) -> None:
    """Write one panel per name and one line of dots per row; the suffix of the path decides the format."""
    n_rows = -(-len(panels) // N_COLUMNS)
    tallest = max(len(rows) for rows in panels.values())
    figure = Figure(figsize=(4.2 * min(N_COLUMNS, len(panels)), (0.27 * tallest + 1.0) * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(n_rows, min(N_COLUMNS, len(panels)), squeeze=False).ravel()
    for axis, (title, rows) in zip(axes, panels.items(), strict=False):
        _draw_dots(axis, rows)
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_xlabel(axis_label)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    write_figure(figure, path)


def _draw_dots(axis: Axes, rows: Sequence[DotRow]) -> None:
    places = range(len(rows))
    printed = [(place, row) for place, row in zip(places, rows, strict=True) if row.printed is not None]
    axis.errorbar(
        [row.printed for _, row in printed if row.printed is not None], [place - 0.12 for place, _ in printed],
        xerr=[row.printed_sd for _, row in printed], fmt="o", color=PAPER_COLOR, markerfacecolor="white", markersize=5,
        linewidth=1, label="paper (mean, sd)",
    )  # fmt: skip
    axis.errorbar(
        [row.ours for row in rows], [place + 0.12 for place in places], xerr=[row.ours_sd for row in rows],
        fmt="o", color=OUR_COLOR, markersize=5, linewidth=1, label="here (mean, sd)",
    )  # fmt: skip
    axis.set_yticks(list(places), [row.label for row in rows], fontsize=8)
    axis.invert_yaxis()
    axis.grid(axis="x", linewidth=0.4, alpha=0.6)
    axis.spines[["top", "right"]].set_visible(False)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure, the whole file or nothing; the suffix of the path decides the format."""
    picture, kind = io.BytesIO(), path.suffix.lstrip(".") or "png"
    # No date and no random ids: the same figure gives the same bytes.
    with rc_context({"svg.hashsalt": "ordinoise"}), waiting_signals():
        figure.savefig(picture, format=kind, dpi=110, metadata={"Date": None} if kind == "svg" else None)
    write_whole(path, picture.getvalue())
