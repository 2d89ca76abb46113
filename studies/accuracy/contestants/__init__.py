"""Who takes part: our learners, and those of other libraries, which are imported only when they are asked to learn."""

from __future__ import annotations

from studies.accuracy.contestants._base import OWN, Contestant
from studies.accuracy.contestants.classical import CLASSICAL
from studies.accuracy.contestants.networks import NETWORKS
from studies.accuracy.contestants.ours import OURS
from studies.accuracy.contestants.trees import TREES

__all__ = ["CONTESTANTS", "OWN", "Contestant", "missing"]

CONTESTANTS: dict[str, Contestant] = {who.name: who for who in (*OURS, *TREES, *NETWORKS, *CLASSICAL)}
"""Every contestant by its name."""


def missing() -> dict[str, str]:
    """Contestants that cannot take part here, each with a sentence that says what to install."""
    absent = {name: who.absent_packages for name, who in CONTESTANTS.items()}
    return {
        name: f"{name} is left out: it needs {', '.join(packages)}, which the dependency group 'bench' installs"
        for name, packages in absent.items()
        if packages
    }
