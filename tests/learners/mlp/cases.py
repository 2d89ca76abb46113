"""Small problems that the tests of the learner share; every matrix is asymmetric."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ordinoise.learners.mlp import Network, Objective

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_CLASSES = 4
NOISE = np.array(
    [[0.70, 0.15, 0.10, 0.05], [0.02, 0.80, 0.13, 0.05], [0.02, 0.20, 0.75, 0.03], [0.05, 0.10, 0.15, 0.70]]
)
OTHER_NOISE = np.array([[0.9, 0.1, 0, 0], [0.2, 0.6, 0.1, 0.1], [0, 0.05, 0.95, 0], [0, 0, 0.4, 0.6]])
LEVELS = (np.arange(N_CLASSES)[:, np.newaxis] > np.arange(N_CLASSES - 1)).astype(np.float64)


def samples(n_samples: int = 330, n_features: int = 5, seed: int = 0) -> tuple[Floats, Ints]:
    """Features of different scales and ordered labels that depend on them, some of them wrong."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_samples, n_features)) * rng.uniform(0.5, 3, n_features) + rng.normal(size=n_features)
    signal = features @ rng.normal(size=n_features)
    labels = np.digitize(signal, np.quantile(signal, [0.3, 0.5, 0.8]))
    recorded = [rng.choice(N_CLASSES, p=NOISE[label]) for label in labels]
    return features, np.array(recorded, dtype=np.int64)


def objective(name: str, *noises: Floats) -> Objective:
    """An objective by name, with one table for each noise matrix."""
    matrices = noises or (NOISE,)
    if name == "forward":
        return Objective("forward", np.stack(matrices))
    inverses = np.stack([np.linalg.inv(matrix) for matrix in matrices])
    loss, _, kind = name.partition(" ")
    if kind == "plain":
        return Objective(loss, np.stack([LEVELS] * len(matrices)))
    return Objective(loss, inverses @ LEVELS)


def literal_logits(network: Network, features: NDArray[np.float64]) -> NDArray[np.float64]:
    """A forward pass written out in numpy, one sample at a time."""
    architecture, arrays = network.architecture, network.arrays
    activations: dict[str, Callable[[Floats], Floats]] = {"relu": lambda u: np.maximum(u, 0), "tanh": np.tanh}
    activation = activations.get(architecture.activation, lambda u: u)
    rows = []
    for row in features:
        units = (row - network.center) / network.scale
        for layer in range(len(architecture.hidden_layer_sizes)):
            units = activation(arrays[f"weights_{layer}"].T.astype(np.float64) @ units + arrays[f"biases_{layer}"])
        offsets = list(arrays["offsets"].astype(np.float64))
        if architecture.head == "ordered":
            for j in range(1, len(offsets)):
                offsets[j] = offsets[j - 1] - np.log1p(np.exp(offsets[j]))
        rows.append(arrays["output_weights"].astype(np.float64) @ units + np.array(offsets))
    return np.array(rows)
