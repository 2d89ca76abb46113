"""The network: one score (or K outputs) of raw features, and the thresholds that turn it into labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._sparse import as_csr, is_sparse
from ordinoise._validation import as_floats, complain

from .layout import Architecture, Float32s, array_shapes, split

Floats = NDArray[np.float64]

ROWS_AT_A_TIME = 4096  # bounds the memory of a prediction: a round number, chosen by no run
# Share added to every class, so that the threshold of a class without samples starts finite: a round number, chosen by
# no run.
SMOOTHING = 0.01


@dataclass(frozen=True)
class Network:
    """A network that reads raw features and standardizes them itself.

    Parameters
    ----------
    architecture : Architecture
    parameters : array of float32, shape (architecture.n_parameters,)
        All weights in one vector; `arrays` names them.
    center, scale : array of shape (n_features,)
        Subtracted from, then divided into, every row of features.
    """

    architecture: Architecture
    parameters: Float32s
    center: Floats
    scale: Floats

    def __post_init__(self) -> None:
        n_features, n_parameters = self.architecture.n_features, self.architecture.n_parameters
        if np.shape(self.parameters) != (n_parameters,):
            raise complain("parameters", f"have shape ({n_parameters},)", f"shape {np.shape(self.parameters)}")
        for name in ("center", "scale"):
            if np.shape(getattr(self, name)) != (n_features,):
                raise complain(name, f"have shape ({n_features},)", f"shape {np.shape(getattr(self, name))}")

    @property
    def arrays(self) -> dict[str, Float32s]:
        """Named views: ``weights_0``, ``biases_0``, ..., ``output_weights``, ``offsets``."""
        return split(self.architecture, self.parameters)

    @property
    def weights(self) -> list[Float32s]:
        """Weights of each hidden layer, shape (units before, units), then those of the output, (n_outputs, units)."""
        return [array for name, array in self.arrays.items() if "weights" in name]

    @property
    def biases(self) -> list[Float32s]:
        """Bias of each hidden layer."""
        return [array for name, array in self.arrays.items() if "biases" in name]

    @property
    def thresholds(self) -> Floats:
        """The K-1 thresholds added to the score (b), for the free and the ordered head."""
        offsets = self.arrays["offsets"].astype(np.float64)
        if self.architecture.head == "softmax":
            raise complain("head", "be 'free' or 'ordered' to have thresholds", "'softmax'")
        if self.architecture.head == "ordered":
            offsets[1:] = -np.logaddexp(0, offsets[1:])
            offsets = np.cumsum(offsets)
        return offsets

    def score(self, features: Any) -> Floats:
        """Score of every sample, shape (n_samples,) (g)."""
        if self.architecture.head == "softmax":
            raise complain("head", "be 'free' or 'ordered' to have a score", "'softmax'")
        return self.outputs(features)[:, 0]

    def logits(self, features: Any) -> Floats:
        """Score plus thresholds, shape (n_samples, K-1); for the softmax head its K outputs (f)."""
        if self.architecture.head == "softmax":
            return self.outputs(features) + self.arrays["offsets"]
        return self.score(features)[:, np.newaxis] + self.thresholds

    def outputs(self, features: Any) -> Floats:
        """The last layer before the offsets, shape (n_samples, n_outputs)."""
        table = as_feature_table(features, self.architecture.n_features)
        outputs = np.empty((table.shape[0], self.architecture.n_outputs))
        layers, scale = self._layers(), self.scale[:, np.newaxis]
        if is_sparse(table):  # a sparse block is not made dense: its columns are scaled by way of the weights
            first, bias = layers[0][0] / scale, layers[0][1]
            layers[0] = np.ascontiguousarray(first), bias - self.center @ first
        for rows in _slices(table.shape[0]):
            outputs[rows] = self._outputs_of_block(table[rows], layers)
        return outputs

    def _layers(self) -> list[tuple[Floats, Floats]]:
        """Weights, shape (units before, units), and bias of each layer; the output has none."""
        biases: list[Float32s] = [*self.biases, np.zeros(1, dtype=np.float32)]
        weights: list[Float32s] = [*self.weights[:-1], self.weights[-1].T]
        return [(one.astype(np.float64), bias.astype(np.float64)) for one, bias in zip(weights, biases, strict=True)]

    def _outputs_of_block(self, block: Any, layers: list[tuple[Floats, Floats]]) -> Floats:
        rows = block.astype(np.float64)
        units = (rows if is_sparse(block) else (rows - self.center) / self.scale) @ layers[0][0] + layers[0][1]
        for weights, biases in layers[1:]:
            units = _activate(self.architecture.activation, units) @ weights + biases
        return np.asarray(units)


def initial_network(
    architecture: Architecture,
    rng: np.random.Generator,
    *,
    center: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    class_frequencies: ArrayLike | None = None,
) -> Network:
    """A network to start training from.

    Weights and biases are uniform within ``1 / sqrt(columns that enter)``, as in PyTorch's linear layer; the score
    has no bias. Free thresholds start at zero, as in the paper. Ordered ones start at the logits of the exceedance
    frequencies.

    Parameters
    ----------
    architecture : Architecture
    rng : numpy Generator
        Source of the weights.
    center, scale : array of shape (n_features,), optional
        Subtracted from the features, and divided into them; zero and one by default.
    class_frequencies : array of shape (n_classes,), optional
        How often each label was recorded (counts, or shares of the samples); equally often by default.
    """
    n_features, n_classes = architecture.n_features, architecture.n_classes
    parameters = np.empty(architecture.n_parameters, dtype=np.float32)
    arrays = split(architecture, parameters)
    fan_in = dict(zip(_layer_names(architecture), architecture.widths, strict=True))
    for name, shape in array_shapes(architecture):
        layer = "output" if name in ("output_weights", "offsets") else name.split("_")[1]
        bound = 1 / np.sqrt(fan_in[layer])
        if name != "offsets" or architecture.head == "softmax":
            arrays[name][...] = rng.uniform(-bound, bound, shape)
    if architecture.head != "softmax":
        frequencies = np.ones(n_classes) if class_frequencies is None else class_frequencies
        arrays["offsets"][...] = _initial_thresholds(architecture, as_floats("class_frequencies", frequencies, 1))
    return Network(
        architecture,
        parameters,
        np.zeros(n_features) if center is None else as_floats("center", center, 1),
        np.ones(n_features) if scale is None else as_floats("scale", scale, 1),
    )


def as_feature_table(features: Any, n_features: int) -> Any:
    """`features` as a numeric table, a CSR matrix if they are sparse; a numeric array is not copied."""
    table = as_csr(features) if is_sparse(features) else np.asarray(features)
    if table.ndim != 2 or table.shape[1] != n_features:
        raise complain("features", f"have shape (n_samples, {n_features})", f"shape {table.shape}")
    if table.dtype.kind not in "fiub":
        raise complain("features", "be numbers", f"an array of {table.dtype}")
    return table


def _layer_names(architecture: Architecture) -> list[str]:
    return [str(layer) for layer in range(len(architecture.hidden_layer_sizes))] + ["output"]


def _initial_thresholds(architecture: Architecture, frequencies: Floats) -> Floats:
    if frequencies.shape != (architecture.n_classes,):
        raise complain("class_frequencies", f"have shape ({architecture.n_classes},)", f"shape {frequencies.shape}")
    if architecture.head == "free":
        return np.zeros(architecture.n_classes - 1)
    smoothed = frequencies / frequencies.sum() + SMOOTHING
    exceedance = 1 - np.cumsum(smoothed / smoothed.sum())[:-1]
    logits = np.log(exceedance) - np.log1p(-exceedance)
    gaps = -np.diff(logits)
    return np.concatenate([logits[:1], gaps + np.log(-np.expm1(-gaps))])  # the inverse of softplus


def _activate(activation: str, units: Floats) -> Floats:
    if activation == "relu":
        return np.maximum(units, 0, out=units)
    return np.tanh(units, out=units) if activation == "tanh" else units


def _slices(n_rows: int) -> Iterator[slice]:
    return (slice(start, start + ROWS_AT_A_TIME) for start in range(0, n_rows, ROWS_AT_A_TIME))
