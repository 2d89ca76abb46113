"""Which labels are probably wrong, and what they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinoise._lazy import lazy_names

if TYPE_CHECKING:
    from ordinoise.audit.count import WrongCount as WrongCount
    from ordinoise.audit.issues import LabelIssues as LabelIssues
    from ordinoise.audit.search import find_label_issues as find_label_issues
    from ordinoise.audit.search import issues_from_probabilities as issues_from_probabilities

_ORIGINS = {
    "LabelIssues": "issues",
    "WrongCount": "count",
    "find_label_issues": "search",
    "issues_from_probabilities": "search",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _ORIGINS)
