"""scikit-learn classifiers over the learners: ordered labels in, ordered labels out."""

from ordinoise.estimators.mlp import OrdinalMLPClassifier

__all__ = ["OrdinalMLPClassifier"]
