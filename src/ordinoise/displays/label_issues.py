"""What looking at the most suspicious labels first would find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ordinoise._validation import Floats, complain
from ordinoise.audit import LabelIssues, issues_from_probabilities
from ordinoise.displays.source import fitted_part, noise_of, predicted
from ordinoise.displays.style import Palette, axes_for, current_palette, remove_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 1000
"""Points of the line."""


class LabelIssuesDisplay:
    """Wrong labels found against labels looked at, the most suspicious first.

    The dot is where the next label is more likely right than wrong. The dashed line is what looking in any order finds.

    Parameters
    ----------
    issues : LabelIssues
        What :func:`~ordinoise.find_label_issues` found.

    Attributes
    ----------
    looked_at, found : arrays of shape (n_samples + 1,)
        Number of labels looked at, and expected number of wrong ones among them; where that is not known, the sum of
        their suspicions.
    ax_, figure_ : Axes and Figure of matplotlib

    Examples
    --------
    >>> from ordinoise.audit import issues_from_probabilities
    >>> from ordinoise.displays import LabelIssuesDisplay
    >>> from ordinoise.noise import adjacent
    >>> probabilities = [[0.9, 0.1, 0], [0, 0.2, 0.8]]
    >>> issues = issues_from_probabilities(probabilities, [1, 2], adjacent(3, up=0.2, down=0.1), calibrate=False)
    >>> LabelIssuesDisplay(issues).found.round(2).tolist()
    [0.0, 0.72, 0.77]
    """

    def __init__(self, issues: LabelIssues) -> None:
        if not isinstance(issues, LabelIssues):
            raise complain("issues", "be what find_label_issues returns", type(issues).__name__)
        self.issues = issues
        wrong = (issues.suspicion if self.is_unknown else issues.probability_wrong)[issues.worst]
        self.looked_at = np.arange(len(wrong) + 1)
        self.found = np.concatenate([[0.0], wrong.cumsum()])

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, noise: Any = "model", labels: Any = None, ax: Axes | None = None
    ) -> Self:
        """Draw the issues of rows that a fitted classifier did not learn from.

        Parameters
        ----------
        estimator : fitted classifier, or pipeline that ends in one
        X : array or frame of shape (n_samples, n_features)
        y : column of shape (n_samples,)
            Labels as recorded.
        noise : "model", array, mapping or Noise, default="model"
            Noise of the labels: "model" is that of one of our classifiers. Any other predicts the recorded label, which
            the noise matrix converts to the true one.
        labels : sequence, optional
            The grades in order; needed if they are text and the classifier is not one of ours.
        ax : Axes of matplotlib, optional
        """
        table, ordered = predicted(estimator, X, y, labels)
        of = "true" if hasattr(fitted_part(estimator), "noise_") else "recorded"
        known = noise_of(estimator, noise, len(ordered))
        return cls(issues_from_probabilities(table, y, known, of=of, classes=ordered)).plot(ax)

    @classmethod
    def from_predictions(
        cls, y: Any, probabilities: Any, noise: Any, *, of: str = "true", labels: Any = None, ax: Axes | None = None
    ) -> Self:
        """Draw the issues that follow from existing class probabilities.

        Parameters
        ----------
        y : column of shape (n_samples,)
            Labels as recorded.
        probabilities, noise, of
            As in :func:`ordinoise.audit.issues_from_probabilities`.
        labels : sequence, optional
            The grades in order; needed for text.
        ax : Axes of matplotlib, optional
        """
        return cls(issues_from_probabilities(probabilities, y, noise, of=of, classes=labels)).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the line.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; a new figure by default.
        """
        self.ax_ = axes_for(ax, 5.6, 3.8)
        self.figure_ = self.ax_.figure
        # Ranked by distance, a likely error can stand after an unlikely one: the dot counts all likely ones.
        likely = 0 if self.is_unknown else int((self.issues.probability_wrong > 0.5).sum())
        draw_found(self.ax_, self.looked_at, self.found, likely, current_palette())
        self.ax_.set_ylabel("suspicion, summed" if self.is_unknown else "expected wrong ones among them")
        return self

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows how likely each label is wrong."""
        return bool(np.isnan(self.issues.probability_wrong).all())


def draw_found(axis: Axes, looked_at: Any, found: Floats, likely: int, palette: Palette) -> None:
    """The line of labels found, a dot after `likely` labels, and the straight line of any other order."""
    remove_frame(axis, left=True)
    shown = np.unique(np.linspace(0, len(found) - 1, min(MOST_POINTS, len(found))).round().astype(np.int64))
    axis.plot(looked_at[[0, -1]], found[[0, -1]], color=palette.muted, linewidth=1, linestyle=(0, (4, 4)))
    axis.plot(looked_at[shown], found[shown], color=palette.accent)
    if 0 < likely < len(found) - 1:
        axis.scatter([likely], [found[likely]], color=palette.wrong, zorder=3)
        words = f"the first {likely:,}: {found[likely]:,.0f} of {found[-1]:,.0f}"
        axis.annotate(
            words, (likely, found[likely]), xytext=(8, -4), textcoords="offset points", va="top", color=palette.ink
        )
    axis.set(xlabel="labels looked at, most suspicious first", xlim=(0, None), ylim=(0, None))
    axis.grid(linewidth=0.6)
    axis.set_axisbelow(True)
