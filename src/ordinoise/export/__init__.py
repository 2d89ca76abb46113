"""Fitted models as ONNX files, for programs without Python."""

from ordinoise.export.classifier import average_probabilities, deconvolved_probabilities, write_classifier
from ordinoise.export.graph import Graph
from ordinoise.export.modules import module_probabilities
from ordinoise.export.network import network_probabilities
from ordinoise.export.tables import dense_features
from ordinoise.export.trees import tree_probabilities

__all__ = [
    "Graph",
    "average_probabilities",
    "deconvolved_probabilities",
    "dense_features",
    "module_probabilities",
    "network_probabilities",
    "tree_probabilities",
    "write_classifier",
]
