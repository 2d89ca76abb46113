"""The charts of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from ordinoise._validation import Floats
from ordinoise.app.report.axis import ScoreAxis
from ordinoise.app.report.directions import Directions
from ordinoise.app.report.drawing import (
    ACCENT,
    INK,
    MUTED,
    SURFACE,
    WRONG,
    Chart,
    chart,
    drawn,
    grade_color,
    quiet,
)
from ordinoise.app.report.measures import TITLES, is_telling
from ordinoise.app.report.wording import count, number, percent, shortened, squeezed
from ordinoise.scoring.metrics import CorrectedScore
from ordinoise.scoring.reliability import Reliability

WIDTH = 680
MOST_POINTS, MOST_CURVES, MOST_FINE = 200, 6, 12


def directions_chart(directions: Directions, classes: Sequence[str], says: str) -> Chart:
    """Bars to the left for labels recorded too low and to the right for those too high, a line a true grade."""
    names, places = [squeezed(name) for name in classes], np.arange(len(classes))
    with drawn(WIDTH, 74 + 26 * len(classes)) as figure:
        axis = figure.subplots()
        quiet(axis)
        axis.barh(places, -directions.too_low, height=0.62, color=ACCENT)
        axis.barh(places, directions.too_high, height=0.62, color=WRONG)
        axis.axvline(0, color=INK, linewidth=1)
        reach = 1.22 * max(directions.too_low.max(), directions.too_high.max(), 0.01)
        axis.set(xlim=(-reach, reach), ylim=(len(classes) - 0.4, -0.6))
        axis.set_yticks(places, names)
        axis.xaxis.set_visible(False)
        axis.spines["bottom"].set_visible(False)
        for place, low, high in zip(range(len(classes)), directions.too_low, directions.too_high, strict=True):
            _beside(axis, -low, place, percent(low), "right", reach)
            _beside(axis, high, place, percent(high), "left", reach)
        axis.set_title("← recorded too low", loc="left", fontsize=12, color=MUTED)
        axis.set_title("recorded too high →", loc="right", fontsize=12, color=MUTED)
        caption = "For every true grade, the share of its rows that is recorded lower (left) and higher (right)."
        return chart("directions", figure, says, caption)


def _beside(axis: Axes, end: float, place: float, text: str, side: str, reach: float) -> None:
    gap = 0.012 * reach * (1 if side == "left" else -1)
    axis.text(end + gap, place, text, ha=side, va="center", color=MUTED, fontsize=11)


def reliability_chart(found: Reliability, says: str) -> Chart:
    """Predicted chances against how often they came true, with intervals."""
    with drawn(420, 390) as figure:
        axis = figure.subplots()
        quiet(axis, left=True)
        axis.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (4, 4)))
        low, high = found.low.clip(-0.05, 1.05), found.high.clip(-0.05, 1.05)
        axis.vlines(found.predicted, low, high, color=ACCENT, linewidth=1.6)
        sizes = 26 + 150 * np.sqrt(found.counts / found.counts.max())
        axis.scatter(found.predicted, found.observed, s=sizes, color=ACCENT, edgecolor=SURFACE, linewidth=1.5, zorder=3)
        axis.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), xlabel="predicted chance", ylabel="how often it came true")
        for scale in (axis.xaxis, axis.yaxis):
            scale.set_major_formatter(PercentFormatter(1.0, decimals=0))
            scale.set_tick_params(labelcolor=MUTED)
        axis.grid(linewidth=0.6)
        axis.set_axisbelow(True)
        caption = (
            "Each dot gathers predictions “the grade is above this one” of like chance; larger dots gather more. On "
            f"the dashed line, chances come true exactly. Bars are {percent(found.confidence)} intervals; the noise "
            "of the recorded grades is corrected for."
        )
        return chart("reliability", figure, says, caption)


def scores_chart(scores: Mapping[str, CorrectedScore], says: str) -> Chart:
    """A line a measure: the observed number as a ring, the corrected one as a dot with its interval."""
    names, places = list(scores), np.arange(len(scores))
    with drawn(WIDTH, 84 + 30 * len(scores)) as figure:
        axis = figure.subplots()
        quiet(axis)
        observed = np.array([scores[name].observed for name in names])
        value = np.array([scores[name].value for name in names])
        low, high = (np.array([getattr(scores[name], end) for name in names]) for end in ("low", "high"))
        told = np.array([is_telling(scores[name]) for name in names])
        axis.hlines(places[told], low[told], high[told], color=ACCENT, linewidth=2)
        axis.scatter(value[told], places[told], s=70, color=ACCENT, zorder=3, label="on clean grades")
        axis.scatter(
            observed, places, s=64, facecolor=SURFACE, edgecolor=MUTED, linewidth=2, zorder=4, label="as recorded"
        )
        axis.set_yticks(places, [TITLES.get(name, shortened(name, 30)) for name in names])
        axis.set(ylim=(len(names) - 0.4, -0.6))
        axis.grid(axis="x", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda mark, _: number(mark, 1)))
        figure.legend(
            loc="outside upper right", ncols=2, frameon=False, fontsize=11, labelcolor=MUTED, handletextpad=0.3
        )
        return chart(
            "scores", figure, says, "Rings: as the recorded grades show it. Dots: on clean grades, with the interval."
        )


def score_axis_chart(found: ScoreAxis, classes: Sequence[str], says: str, caption: str) -> Chart:
    """A ridge a grade along the score, with the thresholds across all."""
    names = [squeezed(name) for name in classes]
    step = 46 if len(classes) <= MOST_FINE else 26
    with drawn(WIDTH, 88 + step * (len(classes) + 0.5)) as figure:
        axis = figure.subplots()
        quiet(axis)
        tallest = max(found.of_true.max(), found.of_recorded.max(), 1e-9)
        for grade in reversed(range(len(classes))):
            _ridge(axis, found, grade, 1.25 / tallest)
        for threshold in found.thresholds[np.isfinite(found.thresholds)]:
            axis.axvline(threshold, color=INK, linewidth=1, linestyle=(0, (2, 3)), zorder=90)
        axis.set(
            xlim=(-0.02, len(classes) - 0.98), ylim=(len(classes) - 0.75, -1.35), xlabel="score: the expected grade"
        )
        axis.set_yticks(range(len(classes)), names)
        shown = _ticks(len(classes))
        axis.set_xticks(shown, [squeezed(classes[grade], 10) for grade in shown])
        sizes = axis.secondary_yaxis("right")
        sizes.set_yticks(range(len(classes)), [f"≈ {count(rows)}" for rows in found.expected_counts])
        sizes.tick_params(length=0, labelcolor=MUTED, labelsize=11)
        sizes.spines["right"].set_visible(False)
        sizes.patch.set_visible(False)
        return chart("axis", figure, says, caption)


def _ridge(axis: Axes, found: ScoreAxis, grade: int, scale: float) -> None:
    # Many grades get coarser hills: the page stays small.
    every = 1 if len(found.of_true) <= MOST_FINE else 4
    places, layer = found.places[::every], 2 + 3 * grade
    crest, ground = grade - scale * found.of_true[grade][::every], np.full(len(places), float(grade))
    axis.fill_between(places, ground, crest, color=SURFACE, linewidth=0, zorder=layer, alpha=0.75)
    axis.fill_between(places, ground, crest, color=grade_color(grade), linewidth=0, zorder=layer, alpha=0.35)
    axis.plot(places, crest, color=grade_color(grade), zorder=layer + 1)
    axis.plot(
        places, grade - scale * found.of_recorded[grade][::every],
        color=MUTED, linewidth=1.1, linestyle=(0, (3, 2)), zorder=layer + 2,
    )  # fmt: skip


def _ticks(n_classes: int) -> list[int]:
    return list(range(0, n_classes, math.ceil(n_classes / 8)))


def curves_chart(curves: Mapping[str, Sequence[float]], says: str, caption: str) -> Chart:
    """A small panel a learner, with the best point marked."""
    shown = dict(list(curves.items())[:MOST_CURVES])
    columns = min(len(shown), 3)
    rows = math.ceil(len(shown) / columns)
    with drawn(WIDTH if columns > 1 else 420, 200 * rows + 10) as figure:
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, (name, losses) in zip(panels, shown.items(), strict=False):
            _curve(panel, np.asarray(losses, dtype=np.float64))
            panel.set_title(shortened(name, 24), loc="left", fontsize=12)
        for panel in panels[len(shown) :]:
            panel.set_axis_off()
        figure.supxlabel("epoch or round", fontsize=11, color=MUTED)
        figure.supylabel("loss of rows left out", fontsize=11, color=MUTED)
        return chart("curves", figure, says, caption)


def _curve(panel: Axes, losses: Floats) -> None:
    quiet(panel, left=True)
    steps = np.unique(np.linspace(0, len(losses) - 1, min(MOST_POINTS, len(losses))).round().astype(int))
    panel.plot(steps + 1, losses[steps], color=ACCENT)
    best = int(np.nanargmin(np.where(np.isfinite(losses), losses, np.inf)))
    panel.scatter([best + 1], [losses[best]], s=46, color=WRONG, zorder=3)
    panel.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    panel.yaxis.set_major_locator(MaxNLocator(4))
    panel.tick_params(labelcolor=MUTED, labelsize=11)
    panel.grid(axis="y", linewidth=0.6)
