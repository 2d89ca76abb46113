"""The charts of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ordinoise._text import percent
from ordinoise._validation import Floats
from ordinoise.app.report.axis import ScoreAxis
from ordinoise.app.report.matrix import Directions
from ordinoise.app.report.sentences import is_precise, title_of
from ordinoise.app.report.svg import (
    ACCENT,
    INK,
    MUTED,
    PAGE,
    SURFACE,
    WRONG,
    Chart,
    chart,
    grade_color,
    new_figure,
    remove_frame,
)
from ordinoise.app.report.words import count, number, shortened, squeezed
from ordinoise.displays.reliability import draw_reliability
from ordinoise.scoring.metrics import CorrectedScore
from ordinoise.scoring.reliability import Reliability

# Width in pixels, and the most points, panels and finely drawn densities of a chart; chosen by eye on the page, as are
# the sizes in the functions below.
WIDTH = 680
MOST_POINTS, MOST_CURVES, MOST_FINE = 200, 6, 12


def row_axes(figure: Figure, names: Sequence[str], *, grid: bool = True) -> Axes:
    """Axes with one line per name, the first on top."""
    axis = figure.subplots()
    remove_frame(axis)
    axis.set_yticks(range(len(names)), names)
    axis.set(ylim=(len(names) - 0.4, -0.6))
    if grid:
        axis.grid(axis="x", linewidth=0.6)
        axis.set_axisbelow(True)
    return axis


def directions_chart(directions: Directions, classes: Sequence[str], alt: str) -> Chart:
    """Bars to the left for labels that are too low, to the right for those too high; one row per true grade."""
    names, places = [squeezed(name) for name in classes], np.arange(len(classes))
    with new_figure(WIDTH, 74 + 26 * len(classes)) as figure:
        axis = row_axes(figure, names, grid=False)
        axis.barh(places, -directions.too_low, height=0.62, color=ACCENT)
        axis.barh(places, directions.too_high, height=0.62, color=WRONG)
        axis.axvline(0, color=INK, linewidth=1)
        reach = 1.22 * max(directions.too_low.max(), directions.too_high.max(), 0.01)
        axis.set(xlim=(-reach, reach))
        axis.xaxis.set_visible(False)
        axis.spines["bottom"].set_visible(False)
        for place, low, high in zip(range(len(classes)), directions.too_low, directions.too_high, strict=True):
            _beside(axis, -low, place, percent(low), "right", reach)
            _beside(axis, high, place, percent(high), "left", reach)
        axis.set_title("← recorded too low", loc="left", fontsize=12, color=MUTED)
        axis.set_title("recorded too high →", loc="right", fontsize=12, color=MUTED)
        caption = "For each true grade, the share of its rows that is recorded too low (left) and too high (right)."
        return chart("directions", figure, alt, caption)


def _beside(axis: Axes, end: float, place: float, text: str, side: str, reach: float) -> None:
    gap = 0.012 * reach * (1 if side == "left" else -1)
    axis.text(end + gap, place, text, ha=side, va="center", color=MUTED, fontsize=11)


def reliability_chart(found: Reliability, alt: str) -> Chart:
    """Predicted probabilities against observed frequencies, with intervals."""
    with new_figure(420, 390) as figure:
        draw_reliability(figure.subplots(), found, PAGE)
        caption = (
            "Each dot stands for predictions “the true grade is above this one” of similar probability, larger dots "
            f"for more. The dashed line is perfect calibration. Bars are {percent(found.confidence)} intervals. "
            "The frequencies are corrected for the noise of the recorded grades."
        )
        return chart("reliability", figure, alt, caption)


def scores_chart(scores: Mapping[str, CorrectedScore], alt: str) -> Chart:
    """One row per metric: the observed score as a ring, the corrected one as a dot with its interval."""
    names, places = list(scores), np.arange(len(scores))
    with new_figure(WIDTH, 84 + 30 * len(scores)) as figure:
        axis = row_axes(figure, [title_of(name) for name in names])
        observed = np.array([scores[name].observed for name in names])
        value = np.array([scores[name].value for name in names])
        low, high = (np.array([getattr(scores[name], end) for name in names]) for end in ("low", "high"))
        shown = np.array([is_precise(scores[name]) for name in names])
        axis.hlines(places[shown], low[shown], high[shown], color=ACCENT, linewidth=2)
        axis.scatter(value[shown], places[shown], s=70, color=ACCENT, zorder=3, label="on clean grades")
        axis.scatter(
            observed,
            places,
            s=64,
            facecolor=SURFACE,
            edgecolor=MUTED,
            linewidth=2,
            zorder=4,
            label="on recorded grades",
        )
        axis.xaxis.set_major_formatter(FuncFormatter(lambda mark, _: number(mark, 1)))
        figure.legend(
            loc="outside upper right", ncols=2, frameon=False, fontsize=11, labelcolor=MUTED, handletextpad=0.3
        )
        return chart("scores", figure, alt, "Rings: on the recorded grades. Dots: on clean grades, with intervals.")


def score_axis_chart(found: ScoreAxis, classes: Sequence[str], alt: str, caption: str) -> Chart:
    """One density per grade along the score, with the thresholds."""
    names = [squeezed(name) for name in classes]
    step = 46 if len(classes) <= MOST_FINE else 26
    with new_figure(WIDTH, 88 + step * (len(classes) + 0.5)) as figure:
        axis = figure.subplots()
        remove_frame(axis)
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
        return chart("axis", figure, alt, caption)


def _ridge(axis: Axes, found: ScoreAxis, grade: int, scale: float) -> None:
    # Many grades are drawn with fewer points, so that the page stays small.
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


def curves_chart(curves: Mapping[str, Sequence[float]], alt: str, caption: str) -> Chart:
    """One small panel per learner, with the best step marked."""
    shown = dict(list(curves.items())[:MOST_CURVES])
    columns = min(len(shown), 3)
    rows = math.ceil(len(shown) / columns)
    with new_figure(WIDTH if columns > 1 else 420, 200 * rows + 10) as figure:
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, (name, losses) in zip(panels, shown.items(), strict=False):
            _curve(panel, np.asarray(losses, dtype=np.float64))
            panel.set_title(shortened(name, 24), loc="left", fontsize=12)
        for panel in panels[len(shown) :]:
            panel.set_axis_off()
        figure.supxlabel("epoch or round", fontsize=11, color=MUTED)
        figure.supylabel("validation loss", fontsize=11, color=MUTED)
        return chart("curves", figure, alt, caption)


def _curve(panel: Axes, losses: Floats) -> None:
    remove_frame(panel, left=True)
    steps = np.unique(np.linspace(0, len(losses) - 1, min(MOST_POINTS, len(losses))).round().astype(int))
    panel.plot(steps + 1, losses[steps], color=ACCENT)
    best = int(np.nanargmin(np.where(np.isfinite(losses), losses, np.inf)))
    panel.scatter([best + 1], [losses[best]], s=46, color=WRONG, zorder=3)
    panel.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    panel.yaxis.set_major_locator(MaxNLocator(4))
    panel.tick_params(labelcolor=MUTED, labelsize=11)
    panel.grid(axis="y", linewidth=0.6)
