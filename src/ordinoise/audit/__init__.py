"""Which labels look wrong, what they should be, and how many are wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinoise._lazy import lazy_names

if TYPE_CHECKING:
    from ordinoise.audit.certificate import SpotCheck as SpotCheck
    from ordinoise.audit.certificate import spot_check as spot_check
    from ordinoise.audit.certificate import spot_check_sample as spot_check_sample
    from ordinoise.audit.contributions import Contributions as Contributions
    from ordinoise.audit.contributions import column_contributions as column_contributions
    from ordinoise.audit.count import WrongCount as WrongCount
    from ordinoise.audit.folds import out_of_fold as out_of_fold
    from ordinoise.audit.graders import GraderEffect as GraderEffect
    from ordinoise.audit.graders import GraderEffects as GraderEffects
    from ordinoise.audit.graders import grader_effects as grader_effects
    from ordinoise.audit.issues import LabelIssues as LabelIssues
    from ordinoise.audit.neighbors import similar_rows as similar_rows
    from ordinoise.audit.search import find_label_issues as find_label_issues
    from ordinoise.audit.search import issues_from_probabilities as issues_from_probabilities

_ORIGINS = {
    "Contributions": "contributions",
    "GraderEffect": "graders",
    "GraderEffects": "graders",
    "LabelIssues": "issues",
    "WrongCount": "count",
    "column_contributions": "contributions",
    "find_label_issues": "search",
    "grader_effects": "graders",
    "issues_from_probabilities": "search",
    "out_of_fold": "folds",
    "similar_rows": "neighbors",
    "SpotCheck": "certificate",
    "spot_check": "certificate",
    "spot_check_sample": "certificate",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _ORIGINS)
