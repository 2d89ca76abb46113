"""The noise matrix as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ordinoise._text import squeezed
from ordinoise._validation import Floats, as_same_length, complain
from ordinoise.displays.cells import MatrixTable, matrix_table
from ordinoise.displays.source import fitted_part
from ordinoise.displays.style import Palette, axes_for, current_palette
from ordinoise.labels import ordered_classes, ranks_of
from ordinoise.noise import Noise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FULL = 0.6
"""Opacity of the strongest cell, so that its number stays readable; chosen by eye."""


class NoiseMatrixDisplay:
    """The noise matrix as colored cells with percentages and intervals, one row per true grade.

    Parameters
    ----------
    noise : None, array, mapping, Noise, or fitted estimator or classifier
        The noise; for several raters or rows the average matrix is drawn.
    classes : sequence, optional
        Names of the grades in order; numbers from 0 by default.

    Attributes
    ----------
    ax_, figure_ : Axes and Figure of matplotlib
    text_ : array of shape (n_classes, n_classes)
        The texts in the cells.

    Examples
    --------
    >>> from ordinoise.displays import NoiseMatrixDisplay
    >>> from ordinoise.noise import adjacent
    >>> display = NoiseMatrixDisplay(adjacent(3, up=0.2, down=0.1), ["low", "medium", "high"])
    >>> display.noise.matrix[0].round(2).tolist()
    [0.8, 0.2, 0.0]
    """

    def __init__(self, noise: Any, classes: Sequence[Any] | None = None) -> None:
        self.noise = Noise.of(noise).average
        names = range(self.noise.n_classes) if classes is None else classes
        self.classes = [str(name) for name in names]
        if len(self.classes) != self.noise.n_classes:
            raise complain("classes", f"name all {self.noise.n_classes} grades", len(self.classes))

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, rater: Any = None, ax: Axes | None = None, intervals: bool = True
    ) -> Self:
        """Draw the noise that a fitted classifier or noise estimator keeps as `noise_`.

        Parameters
        ----------
        estimator : fitted classifier, noise estimator, or pipeline that ends in one
        rater : optional
            The rater whose matrix to draw, of an estimator with one per rater; the average by default.
        ax, intervals
            As in :meth:`plot`.
        """
        last = fitted_part(estimator)
        noise = Noise.of(last)
        if rater is not None:
            if rater not in noise.raters:
                raise complain("rater", f"be one of {list(noise.raters)}", repr(rater))
            noise = Noise.of(noise.matrices[noise.raters.index(rater)])
        return cls(noise, getattr(last, "classes_", None)).plot(ax, intervals=intervals)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_recorded: Any, *, labels: Any = None, ax: Axes | None = None, intervals: bool = True
    ) -> Self:
        """Draw how verified labels were recorded, with Wilson's intervals.

        Parameters
        ----------
        y_true, y_recorded : columns of shape (n_samples,)
            Verified and recorded labels of the same rows.
        labels : sequence, optional
            The grades in order; needed for text.
        ax, intervals
            As in :meth:`plot`.
        """
        ordered = ordered_classes(np.concatenate([np.asarray(y_true), np.asarray(y_recorded)]), labels)
        true, seen = ranks_of("y_true", y_true, ordered), ranks_of("y_recorded", y_recorded, ordered)
        as_same_length("y_recorded", len(seen), "y_true", len(true))
        counts = np.zeros((len(ordered), len(ordered)))
        np.add.at(counts, (true, seen), 1.0)
        absent = np.flatnonzero(counts.sum(axis=1) == 0)
        if len(absent):
            raise complain("y_true", "hold every grade", f"none of {ordered[absent[0]].item()!r}")
        return cls(_verified(counts), ordered.tolist()).plot(ax, intervals=intervals)

    def plot(self, ax: Axes | None = None, *, intervals: bool = True) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; a new figure by default.
        intervals : bool, default=True
            Whether to write the interval of each entry below it, if the noise has any.
        """
        table = matrix_table(self.noise, self.classes)
        if not table.rows:
            raise complain("noise", "have few enough grades for a picture", len(self.classes))
        size = 1.6 + 0.75 * len(self.classes)
        self.ax_ = axes_for(ax, size, size)
        self.figure_ = self.ax_.figure
        self.text_ = draw_matrix(self.ax_, table, current_palette(), intervals)
        return self


def draw_matrix(axis: Axes, table: MatrixTable, palette: Palette, intervals: bool) -> Any:
    """Colored cells with their texts, one row per true grade."""
    from matplotlib.colors import to_rgba

    colors = [
        [to_rgba(palette.accent if cell.is_right else palette.wrong, FULL * cell.strength / 100) for cell in row]
        for row in table.rows
    ]
    axis.imshow(colors, aspect="equal")
    texts = np.empty((len(table.rows), len(table.rows)), dtype=object)
    for true, row in enumerate(table.rows):
        for seen, cell in enumerate(row):
            below = f"\n{cell.interval}" if intervals and cell.interval else ""
            texts[true, seen] = axis.text(
                seen, true, cell.text + below, ha="center", va="center", fontsize="small", color=palette.ink
            )
    places, names = range(len(table.names)), [squeezed(name) for name in table.names]
    axis.set_xticks(places, names, parse_math=False)
    axis.set_yticks(places, names, parse_math=False)
    axis.set(xlabel="recorded grade", ylabel="true grade", title="recorded as, % of each true grade")
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    return texts


def _verified(counts: Floats) -> Noise:
    """The record of counts [true, recorded], with Wilson's interval of every share."""
    rows = counts.sum(axis=1, keepdims=True)
    shares, z = counts / rows, NormalDist().inv_cdf(0.975)
    center = (counts + z**2 / 2) / (rows + z**2)
    reach = z * np.sqrt(shares * (1 - shares) * rows + z**2 / 4) / (rows + z**2)
    interval = np.stack([center - reach, center + reach]).clip(0.0, 1.0)
    return Noise(
        shares, source="estimated", method="verified labels", class_shares=rows[:, 0] / rows.sum(), interval=interval
    )
