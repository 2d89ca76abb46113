"""Gradient boosting that reads noise matrices; the only place that imports LightGBM."""

from .ensemble import Ensemble
from .objective import OBJECTIVES, ForwardObjective, ForwardOrdered, ForwardSoftmax
from .settings import BoosterSettings
from .stream import FeatureStream
from .training import Sample, Training, train
from .trees import Trees

__all__ = [
    "OBJECTIVES",
    "BoosterSettings",
    "Ensemble",
    "FeatureStream",
    "ForwardObjective",
    "ForwardOrdered",
    "ForwardSoftmax",
    "Sample",
    "Training",
    "Trees",
    "train",
]
