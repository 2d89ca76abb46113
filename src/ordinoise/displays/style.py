"""Colors and axes of the pictures; matplotlib is imported on first use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ordinoise._validation import complain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Palette:
    """Colors by what they stand for: text, less important text, ordinary and conspicuous marks, the background."""

    ink: str
    muted: str
    accent: str
    wrong: str
    surface: str


def current_palette() -> Palette:
    """Colors that fit the style sheet of matplotlib in use."""
    settings = _matplotlib().rcParams
    return Palette(settings["text.color"], settings["axes.labelcolor"], "C0", "C3", settings["axes.facecolor"])


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure of this size in inches."""
    matplotlib = _matplotlib()
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, matplotlib.axes.Axes):
        raise complain("ax", "be an Axes of matplotlib", type(ax).__name__)
    return ax


def _matplotlib() -> Any:
    try:
        import matplotlib
        import matplotlib.axes
    except ImportError:
        raise ImportError("displays need matplotlib, which is not installed: pip install matplotlib") from None
    return matplotlib


def remove_frame(axis: Axes, *, left: bool = False) -> None:
    """Remove the frame, the tick marks and the background; `left` keeps the left axis."""
    axis.patch.set_visible(False)
    axis.spines[["top", "right", *([] if left else ["left"])]].set_visible(False)
    axis.tick_params(length=0)
