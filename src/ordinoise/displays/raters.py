"""How each rater grades: severity, consistency and guessing, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ordinoise._text import number, squeezed
from ordinoise._validation import as_count, complain
from ordinoise.displays.style import Palette, axes_for, current_palette, remove_frame
from ordinoise.estimation import RepeatedLabels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Titles of the panels by their place, and the value that stands for nothing unusual; None where there is none.
PANELS: dict[str, tuple[dict[str, str], float | None]] = {
    "severity": ({"left": "← higher", "right": "lower →"}, 0.0),
    "consistency": ({"center": "consistency"}, None),
    "guessing": ({"center": "guesses"}, None),
}
WIDTHS = (1.5, 1, 1)


class RatersDisplay:
    """One row per rater, and a dot with its interval for severity, consistency and chance of guessing.

    Dots in another color stand out: their interval excludes no severity, or guessing more often than not.

    Parameters
    ----------
    table : mapping of str to arrays
        What :meth:`ordinoise.RepeatedLabels.rater_table` returns.

    Attributes
    ----------
    axes_ : list of three Axes of matplotlib
    figure_ : Figure of matplotlib
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        needed = {"rater", *(name + end for name in PANELS for end in ("", "_low", "_high"))}
        if not isinstance(table, Mapping) or not needed <= set(table):
            raise complain("table", "be what rater_table returns", type(table).__name__)
        self.table = table

    @classmethod
    def from_estimator(cls, estimator: Any, *, most: int = 30, ax: Axes | None = None) -> Self:
        """Draw the raters of a fitted :class:`~ordinoise.RepeatedLabels`.

        Parameters
        ----------
        estimator : fitted RepeatedLabels
        most, ax
            As in :meth:`plot`.
        """
        if not hasattr(estimator, "rater_table"):
            raise complain("estimator", "be a RepeatedLabels", type(estimator).__name__)
        return cls(estimator.rater_table()).plot(ax, most=most)

    @classmethod
    def from_predictions(
        cls, items: Any, raters: Any, labels: Any, *, classes: Any = None, random_state: Any = 0, most: int = 30,
        ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Estimate the raters from their grades, and draw them.

        Parameters
        ----------
        items, raters, labels : columns with one entry per rating
            ``raters[r]`` gave ``items[r]`` the grade ``labels[r]``.
        classes : sequence, optional
            The grades in order; needed for text.
        random_state : int, Generator, RandomState or None
        most, ax
            As in :meth:`plot`.
        """
        estimator = RepeatedLabels(classes=classes, n_bootstrap=0, random_state=random_state)
        return cls.from_estimator(estimator.fit(items, raters, labels), most=most, ax=ax)

    def plot(self, ax: Axes | None = None, *, most: int = 30) -> Self:
        """Draw the raters.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Its place is divided into three panels; a new figure by default.
        most : int, default=30
            Number of raters to draw, those with the most labels first.
        """
        busiest = np.argsort(-np.asarray(self.table["n_labels"]), kind="stable")[: as_count("most", most, 1)]
        lines = [{name: column[at] for name, column in self.table.items()} for at in sorted(busiest.tolist())]
        whole = axes_for(ax, 8.0, 1.2 + 0.28 * len(lines))
        self.figure_ = whole.figure
        whole.set_axis_off()
        place = whole.get_subplotspec()
        if place is None:
            raise complain("ax", "be one of subplots, so that it can be divided", "Axes that were placed by hand")
        grid = place.subgridspec(1, len(PANELS), width_ratios=WIDTHS)
        first = whole.figure.add_subplot(grid[0])
        self.axes_ = [first, *(whole.figure.add_subplot(grid[at], sharey=first) for at in range(1, len(PANELS)))]
        draw_raters(self.axes_, lines, current_palette())
        return self


def draw_raters(panels: Sequence[Axes], lines: Sequence[Mapping[str, Any]], palette: Palette) -> None:
    """One row per rater and one panel per habit, each with a dot and its interval."""
    for panel, (name, (titles, center)) in zip(panels, PANELS.items(), strict=True):
        _draw_habit(panel, lines, name, center, palette)
        for place, title in titles.items():
            panel.set_title(title, loc=place, fontsize="medium", color=palette.muted)  # type: ignore[arg-type]
        panel.tick_params(labelleft=panel is panels[0])
    panels[0].set_yticks(range(len(lines)), [squeezed(str(line["rater"])) for line in lines], parse_math=False)
    panels[0].set(ylim=(len(lines) - 0.4, -0.6))


def _draw_habit(
    panel: Axes, lines: Sequence[Mapping[str, Any]], name: str, center: float | None, palette: Palette
) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

    remove_frame(panel)
    places = np.arange(len(lines))
    value, low, high = (np.array([line[name + end] for line in lines], dtype=float) for end in ("", "_low", "_high"))
    stands_out = (low > 0) | (high < 0) if center is not None else low > 0.5
    if name == "consistency":
        stands_out = np.zeros(len(lines), dtype=bool)
    for chosen, color in ((~stands_out, palette.accent), (stands_out, palette.wrong)):
        panel.hlines(places[chosen], low[chosen], high[chosen], color=color, linewidth=1.8)
        panel.scatter(value[chosen], places[chosen], s=26, color=color, zorder=3)
    if center is not None:
        panel.axvline(center, color=palette.ink, linewidth=1)
        reach = 1.05 * max(float(np.abs([low, high]).max()), 0.1)
        panel.set_xlim(-reach, reach)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda mark, _: number(mark, 1)))
    else:
        panel.set_xlim(-0.03, 1.03)
        panel.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    panel.xaxis.set_major_locator(MaxNLocator(3))
    panel.grid(axis="both", linewidth=0.5)
    panel.set_axisbelow(True)
