"""Noise estimators: ``fit(X, y)`` on recorded labels gives ``noise_matrix_``."""

from __future__ import annotations

from typing import Any

from ordinoise.estimation._base import IdentifiabilityWarning
from ordinoise.estimation.anchor_points import AnchorPoints
from ordinoise.estimation.confident_joint import ConfidentJoint
from ordinoise.estimation.raters import RepeatedLabels, from_wide
from ordinoise.estimation.score_likelihood import ScoreLikelihood

__all__ = [
    "AnchorPoints",
    "ConfidentJoint",
    "IdentifiabilityWarning",
    "RepeatedLabels",
    "ScoreLikelihood",
    "default_estimator",
    "from_wide",
]


def default_estimator() -> Any:
    """What ``noise="estimate"`` stands for."""
    return ScoreLikelihood()
