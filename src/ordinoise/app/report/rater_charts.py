"""The charts of the report on several raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter

from ordinoise.app.report.charts import WIDTH, row_axes
from ordinoise.app.report.svg import ACCENT, PAGE, Chart, chart, new_figure
from ordinoise.app.report.words import number
from ordinoise.displays.raters import WIDTHS, draw_raters
from ordinoise.estimate import Estimate


def agreement_chart(measures: Mapping[str, Estimate], titles: Mapping[str, str], alt: str) -> Chart:
    """One row per measure: a dot with its interval."""
    places = np.arange(len(measures))
    value, low, high = np.array([(one.value, *one.ends) for one in measures.values()]).T
    with new_figure(WIDTH, 64 + 30 * len(measures)) as figure:
        axis = row_axes(figure, [titles[name] for name in measures])
        axis.hlines(places, low, high, color=ACCENT, linewidth=2)
        axis.scatter(value, places, s=60, color=ACCENT, zorder=3)
        axis.set(xlim=(min(0.0, float(np.nanmin(low))) - 0.02, 1.02))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda mark, _: number(mark, 1)))
        caption = "0 is chance and 1 is complete agreement, except for the last row, which is a plain share."
        return chart("agreement", figure, alt, caption)


def raters_chart(lines: Sequence[Mapping[str, Any]], alt: str, caption: str) -> Chart:
    """One row per rater and one panel per habit, each with a dot and its interval."""
    with new_figure(WIDTH, 70 + 21 * len(lines)) as figure:
        draw_raters(figure.subplots(1, len(WIDTHS), sharey=True, width_ratios=WIDTHS), lines, PAGE)
        return chart("raters", figure, alt, caption)
