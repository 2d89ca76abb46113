"""Which labels are probably wrong, and what they should be."""

from ordinoise.audit.counting import WrongCount, wrong_count
from ordinoise.audit.finding import find_label_issues, from_probabilities
from ordinoise.audit.issues import LabelIssues
from ordinoise.audit.posterior import calibrated, deconvolved, posterior

__all__ = [
    "LabelIssues",
    "WrongCount",
    "calibrated",
    "deconvolved",
    "find_label_issues",
    "from_probabilities",
    "posterior",
    "wrong_count",
]
