"""The paper's experiments: its protocol as data, its printed numbers, and ours beside them."""

from ordinoise.paper.comparison import (
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
from ordinoise.paper.protocol import PAPER_SETS, PROTOCOLS, SETS, NetworkSettings, PaperTrial, plan
from ordinoise.paper.trials import run
from ordinoise.paper.tuning import TuningTrial, best_settings, grid, run_tuning

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
