"""Noise estimators: ``fit(X, y)`` on recorded labels gives ``noise_``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinoise._lazy import lazy_names

if TYPE_CHECKING:
    from ordinoise.estimation.anchor_points import AnchorPoints as AnchorPoints
    from ordinoise.estimation.base import IdentifiabilityWarning as IdentifiabilityWarning
    from ordinoise.estimation.confident_joint import ConfidentJoint as ConfidentJoint
    from ordinoise.estimation.raters.estimator import RepeatedLabels as RepeatedLabels
    from ordinoise.estimation.raters.estimator import from_wide as from_wide
    from ordinoise.estimation.score.estimator import ScoreLikelihood as ScoreLikelihood

_ORIGINS = {
    "AnchorPoints": "anchor_points",
    "ConfidentJoint": "confident_joint",
    "IdentifiabilityWarning": "base",
    "RepeatedLabels": "raters.estimator",
    "ScoreLikelihood": "score.estimator",
    "from_wide": "raters.estimator",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _ORIGINS)
