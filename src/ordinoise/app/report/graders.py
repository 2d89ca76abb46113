"""The section of the report on who graded: sentences, chart and table."""

from __future__ import annotations

from dataclasses import dataclass

from ordinoise.app.report.charts import WIDTH
from ordinoise.app.report.svg import PAGE, Chart, chart, new_figure
from ordinoise.app.report.words import number, shortened
from ordinoise.audit.graders.record import GraderEffect, GraderEffects
from ordinoise.displays.graders import MOST_DRAWN, draw_graders, drawn_graders
from ordinoise.estimate import Estimate

MOST_SAID, MOST_LISTED = 6, 200
"""Graders of whom there are sentences, and rows of the table; chosen by eye on the page."""
NOTHING_SAID = "too few rows to tell"


@dataclass(frozen=True)
class GraderSection:
    """What the page says of graders.

    Attributes
    ----------
    headline : tuple of (str, str)
    said : tuple of tuple of str
        Sentences on each grader of whom there is something to say, the largest shifts first.
    n_more : int
        Graders of whom the chart and the table alone say something.
    closing : list of str
    chart : Chart or None
    lines : tuple of tuple of str
        Cells of the table, one line per grader.
    """

    headline: tuple[str, str]
    said: tuple[tuple[str, ...], ...]
    n_more: int
    closing: list[str]
    chart: Chart | None
    lines: tuple[tuple[str, ...], ...]


def grader_section(effects: GraderEffects | None) -> GraderSection | None:
    """The section; None if no column says who graded."""
    if effects is None:
        return None
    said = [tuple(effects.sentences_of(effect)) for effect in sorted(effects, key=_size)]
    said = [sentences for sentences in said if sentences]
    return GraderSection(
        effects.headline, tuple(said[:MOST_SAID]), max(len(said) - MOST_SAID, 0), effects.closing,
        _chart(effects), tuple(_line(effect) for effect in effects.effects[:MOST_LISTED]),
    )  # fmt: skip


def _size(effect: GraderEffect) -> tuple[bool, float]:
    """Graders whose interval leaves out zero come first, those farther from it before others."""
    return not effect.differs, 0.0 if effect.shift is None else -abs(effect.shift.value)


def _chart(effects: GraderEffects) -> Chart | None:
    drawn = drawn_graders(effects, MOST_DRAWN)
    if not drawn:
        return None
    caption = (
        "Dots: how many grades higher than the others on comparable rows, with intervals; in another color where the "
        "interval leaves out zero."
    )
    caption += (
        "" if effects.is_by_lot else " Thin lines: if reasons that no column shows weigh as much as those that do."
    )
    n_left = len(effects) - len(effects.unknown) - len(drawn)
    caption += f" The {len(drawn)} graders with the most rows; {n_left:,} more are in the table." if n_left else ""
    with new_figure(WIDTH, 84 + 26 * len(drawn)) as figure:
        draw_graders(figure.subplots(), drawn, PAGE)
        return chart("graders", figure, "".join(effects.headline), caption)


def _line(effect: GraderEffect) -> tuple[str, ...]:
    def words(one: Estimate | None) -> str:
        return "" if one is None else one.words(number)

    second = "" if effect.second_range is None else effect.second_range.span(number)
    shift = NOTHING_SAID if effect.shift is None else words(effect.shift)
    return (
        shortened(str(effect.grader)),
        f"{effect.n_rows:,}",
        f"{effect.effective_rows:,.0f}",
        shift,
        second,
        words(effect.spread),
    )
