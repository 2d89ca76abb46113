"""Pictures for notebooks, in scikit-learn's manner: `from_estimator`, `from_predictions`, `plot(ax=...)`.

The report of the command line is drawn by the same functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinoise._lazy import lazy_names

if TYPE_CHECKING:
    from ordinoise.displays.graders import GradersDisplay as GradersDisplay
    from ordinoise.displays.label_issues import LabelIssuesDisplay as LabelIssuesDisplay
    from ordinoise.displays.noise_matrix import NoiseMatrixDisplay as NoiseMatrixDisplay
    from ordinoise.displays.raters import RatersDisplay as RatersDisplay
    from ordinoise.displays.reliability import ReliabilityDisplay as ReliabilityDisplay

_ORIGINS = {
    "GradersDisplay": "graders",
    "LabelIssuesDisplay": "label_issues",
    "NoiseMatrixDisplay": "noise_matrix",
    "RatersDisplay": "raters",
    "ReliabilityDisplay": "reliability",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _ORIGINS)
