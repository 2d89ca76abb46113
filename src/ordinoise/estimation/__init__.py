"""Noise estimators: ``fit(X, y)`` on recorded labels gives ``noise_matrix_``."""

from __future__ import annotations

from typing import Any

from ordinoise.estimation.anchor_points import AnchorPoints

__all__ = ["AnchorPoints", "default_estimator"]


def default_estimator() -> Any:
    """What ``noise="estimate"`` stands for."""
    return AnchorPoints()
