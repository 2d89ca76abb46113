"""Are the probabilities calibrated? The reliability curve as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ordinoise._validation import as_probabilities, complain
from ordinoise.displays.source import noise_of, predicted
from ordinoise.displays.style import Palette, axes_for, current_palette, remove_frame
from ordinoise.labels import ordered_classes, ranks_of
from ordinoise.noise import Noise
from ordinoise.scoring.reliability import Reliability, reliability_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay:
    """Predicted probabilities of a grade above each threshold against observed frequencies, with intervals.

    The frequencies are corrected for the noise of the recorded labels. The dashed line is perfect calibration; larger
    dots stand for more predictions.

    Parameters
    ----------
    reliability : Reliability
        What :func:`ordinoise.scoring.reliability.reliability_curve` returns.

    Attributes
    ----------
    ax_, figure_ : Axes and Figure of matplotlib
    """

    def __init__(self, reliability: Reliability) -> None:
        if not isinstance(reliability, Reliability):
            raise complain("reliability", "be what reliability_curve returns", type(reliability).__name__)
        self.reliability = reliability

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        noise: Any = "model",
        labels: Any = None,
        n_bins: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the calibration of a fitted classifier on rows that it did not learn from.

        Parameters
        ----------
        estimator : fitted classifier, or pipeline that ends in one
        X : array or frame of shape (n_samples, n_features)
        y : column of shape (n_samples,)
            Labels as recorded.
        noise : "model", None, array, mapping or Noise, default="model"
            Noise of the labels: "model" is that of one of our classifiers, None trusts the labels.
        labels : sequence, optional
            The grades in order; needed if they are text and the classifier is not one of ours.
        n_bins : int, default=10
        ax : Axes of matplotlib, optional
        """
        table, ordered = predicted(estimator, X, y, labels)
        matrix = noise_of(estimator, noise, len(ordered)).believed.matrix
        return cls(reliability_curve(table, ranks_of("y", y, ordered), matrix, n_bins)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        probabilities: Any,
        noise: Any = None,
        *,
        labels: Any = None,
        n_bins: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the calibration of existing class probabilities.

        Parameters
        ----------
        y : column of shape (n_samples,)
            Labels as recorded.
        probabilities : array of shape (n_samples, n_classes)
            Of each true grade, lowest first, by a model that did not see these labels.
        noise : None, array, mapping, Noise, or fitted estimator or classifier
            Noise of the labels; None trusts them.
        labels : sequence, optional
            The grades in order; needed for text, and where `y` lacks some.
        n_bins : int, default=10
        ax : Axes of matplotlib, optional
        """
        table = as_probabilities("probabilities", probabilities)
        ordered = ordered_classes(y, labels)
        if len(ordered) != table.shape[1]:
            advice = "pass labels=, the grades from lowest to highest"
            raise complain("labels", f"name all {table.shape[1]} columns of probabilities", ordered.tolist(), advice)
        matrix = Noise.of(noise, table.shape[1]).average.believed.matrix
        return cls(reliability_curve(table, ranks_of("y", y, ordered), matrix, n_bins)).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; a new figure by default.
        """
        self.ax_ = axes_for(ax, 4.4, 4.1)
        self.figure_ = self.ax_.figure
        draw_reliability(self.ax_, self.reliability, current_palette())
        return self


def draw_reliability(axis: Axes, found: Reliability, palette: Palette) -> None:
    """Predicted probabilities against observed frequencies, with intervals."""
    from matplotlib.ticker import PercentFormatter

    remove_frame(axis, left=True)
    axis.plot([0, 1], [0, 1], color=palette.muted, linewidth=1, linestyle=(0, (4, 4)))
    low, high = found.low.clip(-0.05, 1.05), found.high.clip(-0.05, 1.05)
    axis.vlines(found.predicted, low, high, color=palette.accent, linewidth=1.6)
    sizes = 26 + 150 * np.sqrt(found.counts / found.counts.max())
    axis.scatter(
        found.predicted,
        found.observed,
        s=sizes,
        color=palette.accent,
        edgecolor=palette.surface,
        linewidth=1.5,
        zorder=3,
    )
    axis.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), xlabel="predicted probability", ylabel="observed frequency")
    for scale in (axis.xaxis, axis.yaxis):
        scale.set_major_formatter(PercentFormatter(1.0, decimals=0))
        scale.set_tick_params(labelcolor=palette.muted)
    axis.grid(linewidth=0.6)
    axis.set_axisbelow(True)
