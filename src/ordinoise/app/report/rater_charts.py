"""The charts of the report on several raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from ordinoise.app.report.charts import WIDTH
from ordinoise.app.report.svg import ACCENT, INK, MUTED, WRONG, Chart, chart, new_figure, remove_frame
from ordinoise.app.report.words import number, squeezed

# Titles of the panels by their place, and the value that stands for nothing unusual; None where there is none.
PANELS: dict[str, tuple[dict[str, str], float | None]] = {
    "severity": ({"left": "← lax", "right": "severe →"}, 0.0),
    "consistency": ({"center": "consistency"}, None),
    "guessing": ({"center": "guesses"}, None),
}


def agreement_chart(measures: Mapping[str, Sequence[float]], titles: Mapping[str, str], alt: str) -> Chart:
    """One row per measure: a dot with its interval."""
    places = np.arange(len(measures))
    value, low, high = np.array(list(measures.values()), dtype=np.float64).T
    with new_figure(WIDTH, 64 + 30 * len(measures)) as figure:
        axis = figure.subplots()
        remove_frame(axis)
        axis.hlines(places, low, high, color=ACCENT, linewidth=2)
        axis.scatter(value, places, s=60, color=ACCENT, zorder=3)
        axis.set_yticks(places, [titles[name] for name in measures])
        axis.set(xlim=(min(0.0, float(np.nanmin(low))) - 0.02, 1.02), ylim=(len(measures) - 0.4, -0.6))
        axis.grid(axis="x", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda mark, _: number(mark, 1)))
        caption = "0 is chance and 1 is complete agreement, except for the last row, which is a plain share."
        return chart("agreement", figure, alt, caption)


def raters_chart(lines: Sequence[Mapping[str, Any]], alt: str, caption: str) -> Chart:
    """One row per rater and one panel per habit, each with a dot and its interval."""
    places = np.arange(len(lines))
    with new_figure(WIDTH, 70 + 21 * len(lines)) as figure:
        panels = figure.subplots(1, len(PANELS), sharey=True, width_ratios=(1.5, 1, 1))
        for panel, (name, (titles, center)) in zip(panels, PANELS.items(), strict=True):
            _habit(panel, lines, name, center)
            for place, title in titles.items():
                panel.set_title(title, loc=place, fontsize=12, color=MUTED)
        panels[0].set_yticks(places, [squeezed(str(line["rater"])) for line in lines])
        panels[0].set(ylim=(len(lines) - 0.4, -0.6))
        return chart("raters", figure, alt, caption)


def _habit(panel: Axes, lines: Sequence[Mapping[str, Any]], name: str, center: float | None) -> None:
    remove_frame(panel)
    places = np.arange(len(lines))
    value, low, high = (np.array([line[name + end] for line in lines], dtype=float) for end in ("", "_low", "_high"))
    stands_out = (low > 0) | (high < 0) if center is not None else low > 0.5
    if name == "consistency":
        stands_out = np.zeros(len(lines), dtype=bool)
    for chosen, color in ((~stands_out, ACCENT), (stands_out, WRONG)):
        panel.hlines(places[chosen], low[chosen], high[chosen], color=color, linewidth=1.8)
        panel.scatter(value[chosen], places[chosen], s=26, color=color, zorder=3)
    if center is not None:
        panel.axvline(center, color=INK, linewidth=1)
        reach = 1.05 * max(float(np.abs([low, high]).max()), 0.1)
        panel.set_xlim(-reach, reach)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda mark, _: number(mark, 1)))
    else:
        panel.set_xlim(-0.03, 1.03)
        panel.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    panel.xaxis.set_major_locator(MaxNLocator(3))
    panel.grid(axis="both", linewidth=0.5)
    panel.set_axisbelow(True)
