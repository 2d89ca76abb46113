"""The paper's experiments: its protocol as data, its printed numbers, and ours beside them."""

from ordinoise.experiments.paper.comparison import (
    Comparison,
    Group,
    Measured,
    Order,
    Summary,
    compare,
    orders,
    recovered,
    summarise,
)
from ordinoise.experiments.paper.protocol import PAPER_SETS, PROTOCOLS, SETS, NetworkSettings, PaperTrial, plan
from ordinoise.experiments.paper.running import run
from ordinoise.experiments.paper.tuning import TuningTrial, best_settings, grid, run_tuning

__all__ = [
    "PAPER_SETS",
    "PROTOCOLS",
    "SETS",
    "Comparison",
    "Group",
    "Measured",
    "NetworkSettings",
    "Order",
    "PaperTrial",
    "Summary",
    "TuningTrial",
    "best_settings",
    "compare",
    "grid",
    "orders",
    "plan",
    "recovered",
    "run",
    "run_tuning",
    "summarise",
]
