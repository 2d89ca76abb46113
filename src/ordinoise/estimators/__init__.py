"""scikit-learn classifiers over the learners."""

from ordinoise.estimators.boosting import OrdinalBoostingClassifier
from ordinoise.estimators.card import ModelCard
from ordinoise.estimators.front import OrdinalClassifier
from ordinoise.estimators.loading import load_model
from ordinoise.estimators.mlp import OrdinalMLPClassifier
from ordinoise.estimators.noise_aware import NoiseAwareClassifier
from ordinoise.estimators.torch_classifier import OrdinalTorchClassifier

__all__ = [
    "ModelCard",
    "NoiseAwareClassifier",
    "OrdinalBoostingClassifier",
    "OrdinalClassifier",
    "OrdinalMLPClassifier",
    "OrdinalTorchClassifier",
    "load_model",
]
