"""The contestants: our learners and those of other libraries, each imported when it is used."""

from __future__ import annotations

from studies.accuracy.contestants.automl import AUTOML
from studies.accuracy.contestants.base import OWN, Contestant
from studies.accuracy.contestants.classical import CLASSICAL
from studies.accuracy.contestants.networks import NETWORKS
from studies.accuracy.contestants.ours import OURS
from studies.accuracy.contestants.trees import TREES

__all__ = ["CONTESTANTS", "OWN", "Contestant", "missing"]

CONTESTANTS: dict[str, Contestant] = {who.name: who for who in (*OURS, *TREES, *AUTOML, *NETWORKS, *CLASSICAL)}
"""Every contestant by name."""


def missing() -> dict[str, str]:
    """Contestants whose packages are not installed, each with a sentence that says what to install."""
    return {
        name: f"{name} is not run, only its kept results are shown: it needs {', '.join(who.absent_packages)}, which "
        f"the dependency group {who.group!r} installs"
        for name, who in CONTESTANTS.items()
        if who.absent_packages
    }
