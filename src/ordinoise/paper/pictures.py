"""Pictures, drawn without a screen and written whole."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ordinoise._files import write_whole
from ordinoise._validation import Floats, Ints

# Four steps of one hue order, told apart also without colour vision (from the viridis map, lightened for regions).
GRADES = ["#3b0f70", "#2a788e", "#7ad151", "#fde725"]
GRID = 240


@dataclass(frozen=True)
class Panel:
    """Labelled points in the plane, and the rule whose regions lie behind them.

    Attributes
    ----------
    title : str
    features : array of shape (n_samples, 2)
    labels : array of shape (n_samples,)
        Ranks that colour the points.
    rule : callable
        Predicted ranks of any points in the plane.
    """

    title: str
    features: NDArray[np.floating]
    labels: Ints
    rule: Callable[[Floats], Ints]


def write_panels(path: Path, panels: Sequence[Panel], class_names: Sequence[str]) -> None:
    """A picture of up to four panels, two a row, one legend for all; the format follows from the name."""
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
    if n_classes <= len(GRADES):
        return GRADES[:n_classes]
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(color) for color in colormaps["viridis"](np.linspace(0, 1, n_classes))]


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure whole; the format follows from the path's suffix."""
    picture, kind = io.BytesIO(), path.suffix.lstrip(".") or "png"
    # Without date and random names, the same picture is the same file.
    with rc_context({"svg.hashsalt": "ordinoise"}):
        figure.savefig(picture, format=kind, dpi=110, metadata={"Date": None} if kind == "svg" else None)
    write_whole(path, picture.getvalue())
