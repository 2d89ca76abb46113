"""How much higher or lower each grader grades than the others on comparable rows, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ordinoise._text import number, squeezed
from ordinoise._validation import as_count, complain
from ordinoise.audit.graders import GraderEffect, GraderEffects, grader_effects
from ordinoise.displays.style import Palette, axes_for, current_palette, remove_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWN = 30
"""Graders of a picture; chosen by eye."""


class GradersDisplay:
    """One row per grader: a dot with its interval and, as a thin line, the second range.

    Dots in another color stand out: their interval leaves out zero. The thin line is where the shift may lie if reasons
    for the assignment that no column shows weigh as much as those that the columns show; there is none where rows look
    as given out at random. Graders of too few rows are not drawn.

    Parameters
    ----------
    effects : GraderEffects
        What :func:`ordinoise.audit.grader_effects` returns.

    Attributes
    ----------
    ax_, figure_ : Axes and Figure of matplotlib
    """

    def __init__(self, effects: GraderEffects) -> None:
        if not isinstance(effects, GraderEffects):
            raise complain("effects", "be what grader_effects returns", type(effects).__name__)
        self.effects = effects

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, graders: Any, *, most: int = MOST_DRAWN, ax: Axes | None = None
    ) -> Self:
        """Draw who graded the rows that a classifier was fitted to, by its held-out predictions.

        Parameters
        ----------
        estimator : fitted OrdinalClassifier
        X : array or frame of shape (n_samples, n_features)
            The rows of the fit, without their grader.
        y, graders : columns of shape (n_samples,)
            Labels as recorded, and who gave them.
        most, ax
            As in :meth:`plot`.
        """
        if not hasattr(estimator, "out_of_fold_"):
            raise complain("estimator", "be a fitted OrdinalClassifier", type(estimator).__name__)
        return cls(grader_effects(estimator, y, graders, X)).plot(ax, most=most)

    @classmethod
    def from_predictions(
        cls, y: Any, probabilities: Any, graders: Any, X: Any, *, most: int = MOST_DRAWN, ax: Axes | None = None
    ) -> Self:
        """Draw who graded some rows, by existing held-out class probabilities.

        Parameters
        ----------
        y, graders : columns of shape (n_samples,)
            Labels as recorded, and who gave them.
        probabilities, X
            As in :func:`ordinoise.audit.grader_effects`.
        most, ax
            As in :meth:`plot`.
        """
        return cls(grader_effects(probabilities, y, graders, X)).plot(ax, most=most)

    def plot(self, ax: Axes | None = None, *, most: int = MOST_DRAWN) -> Self:
        """Draw the graders.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; a new figure by default.
        most : int, default=30
            Number of graders to draw, those with the most rows first.
        """
        drawn = drawn_graders(self.effects, as_count("most", most, 1))
        self.ax_ = axes_for(ax, 6.4, 1.1 + 0.28 * len(drawn))
        self.figure_ = self.ax_.figure
        draw_graders(self.ax_, drawn, current_palette())
        return self


def drawn_graders(effects: GraderEffects, most: int) -> list[GraderEffect]:
    """The graders with the most effective rows, in the order of their shifts."""
    known = [effect for effect in effects if effect.shift is not None]
    busiest = sorted(range(len(known)), key=lambda at: -known[at].effective_rows)[:most]
    return [known[at] for at in sorted(busiest)]


def draw_graders(axis: Axes, drawn: Sequence[GraderEffect], palette: Palette) -> None:
    """One row per grader: dot, interval, and second range."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    remove_frame(axis)
    for place, effect in enumerate(drawn):
        assert effect.shift is not None
        color = palette.wrong if effect.differs else palette.accent
        if effect.second_range is not None:
            axis.hlines(place, *effect.second_range.ends, color=palette.muted, linewidth=1)
        axis.hlines(place, *effect.shift.ends, color=color, linewidth=2.4)
        axis.scatter([effect.shift.value], [place], s=34, color=color, zorder=3)
    axis.axvline(0, color=palette.ink, linewidth=1)
    ends = [abs(end) for one in drawn for range_ in (one.shift, one.second_range) if range_ for end in range_.ends]
    reach = 1.05 * max([0.1, *ends])
    axis.set(xlim=(-reach, reach), ylim=(max(len(drawn), 1) - 0.4, -0.6))
    axis.set_yticks(np.arange(len(drawn)), [squeezed(str(one.grader)) for one in drawn], parse_math=False)
    axis.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))  # marks that their decimals show whole
    axis.xaxis.set_major_formatter(FuncFormatter(lambda mark, _: number(mark, 1 if reach >= 0.3 else 2)))
    axis.set_title("← grades lower", loc="left", fontsize="medium", color=palette.muted)
    axis.set_title("grades higher →", loc="right", fontsize="medium", color=palette.muted)
    axis.grid(axis="x", linewidth=0.6)
    axis.set_axisbelow(True)
