"""The paper's network, compiled: all that it knows of noise is a table of levels or of noise matrices."""

from .layout import Architecture
from .network import Network, initial_network
from .settings import Objective, Optimizer
from .training import DivergedError, OptimizerState, Training, mean_loss, train

__all__ = [
    "Architecture",
    "DivergedError",
    "Network",
    "Objective",
    "Optimizer",
    "OptimizerState",
    "Training",
    "initial_network",
    "mean_loss",
    "train",
]
