"""The paper's network, compiled: it reads tables of levels or noise matrices and knows nothing else of noise."""

from .layout import Architecture
from .network import Network, initial_network
from .settings import Objective, Optimiser
from .training import DivergedError, OptimiserState, Training, mean_loss, train

__all__ = [
    "Architecture",
    "DivergedError",
    "Network",
    "Objective",
    "Optimiser",
    "OptimiserState",
    "Training",
    "initial_network",
    "mean_loss",
    "train",
]
