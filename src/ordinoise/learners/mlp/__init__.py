"""The paper's network, compiled: all that it knows of noise is a table of levels or of noise matrices."""

from .convex import LinearFit, Records, fit_least_squares, fit_linear, linear_start
from .dense import fit_dense_linear
from .layout import Architecture
from .network import Network, initial_network
from .settings import Objective, Optimizer
from .training import DivergedError, OptimizerState, Training, mean_loss, train

__all__ = [
    "Architecture",
    "DivergedError",
    "LinearFit",
    "Network",
    "Objective",
    "Optimizer",
    "OptimizerState",
    "Records",
    "Training",
    "fit_dense_linear",
    "fit_least_squares",
    "fit_linear",
    "initial_network",
    "linear_start",
    "mean_loss",
    "train",
]
