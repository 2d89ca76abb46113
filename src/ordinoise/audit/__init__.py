"""Which labels are probably wrong, and what they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinoise._lazy import lazy_names

if TYPE_CHECKING:
    from ordinoise.audit.counting import WrongCount as WrongCount
    from ordinoise.audit.finding import find_label_issues as find_label_issues
    from ordinoise.audit.finding import from_probabilities as from_probabilities
    from ordinoise.audit.issues import LabelIssues as LabelIssues

_ORIGINS = {
    "LabelIssues": "issues",
    "WrongCount": "counting",
    "find_label_issues": "finding",
    "from_probabilities": "finding",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _ORIGINS)
