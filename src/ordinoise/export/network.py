"""A network of the compiled learner as ONNX nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ordinoise.export.classifier import add_class_probabilities
from ordinoise.export.graph import Graph

if TYPE_CHECKING:
    from ordinoise.learners.mlp import Network

ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "identity": "Identity"}


def network_probabilities(graph: Graph, network: Network, features: str | None = None) -> str:
    """Name of the class probabilities of a network with thresholds.

    Parameters
    ----------
    graph : Graph
    network : Network
    features : str, optional
        Name of the input of the network; the features themselves by default.
    """
    centered = graph.add("Sub", features or graph.features(), graph.constant(network.center))
    units = graph.add("Div", centered, graph.constant(network.scale))
    *hidden, output = (weights.astype(np.float64) for weights in network.weights)
    for weights, biases in zip(hidden, network.biases, strict=True):
        layer = graph.add("Gemm", units, graph.constant(weights), graph.constant(biases.astype(np.float64)))
        units = graph.add(ACTIVATIONS[network.architecture.activation], layer)
    score = graph.add("MatMul", units, graph.constant(output.T))
    logits = graph.add("Add", score, graph.constant(network.thresholds))
    return add_class_probabilities(graph, logits, network.architecture.n_classes)
