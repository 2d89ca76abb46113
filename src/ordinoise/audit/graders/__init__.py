"""Who grades higher, and who less consistently, where every row has one grade and a column says whose it is."""

from __future__ import annotations

from ordinoise.audit.graders.effects import grader_effects
from ordinoise.audit.graders.record import GraderEffect, GraderEffects

__all__ = ["GraderEffect", "GraderEffects", "grader_effects"]
