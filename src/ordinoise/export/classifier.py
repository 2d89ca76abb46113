"""The common end of every exported classifier: probabilities from logits, a label from probabilities, the file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import ordinoise
from ordinoise._files import write_whole
from ordinoise._validation import Floats, complain
from ordinoise.decisions import as_decision
from ordinoise.export.graph import Graph
from ordinoise.levels import level_table
from ordinoise.noise.deconvolution import FLOOR

# The oldest versions with all operators used here, so that older runtimes can read the file.
OPSETS = {"": 18, "ai.onnx.ml": 3}
IR_VERSION = 8


def add_class_probabilities(graph: Graph, logits: str, n_classes: int) -> str:
    """Name of the class probabilities, as `ordinoise.levels` computes them: logits are sorted in descending order."""
    descending = graph.add("TopK", logits, graph.constant(np.array([n_classes - 1])), axis=1)
    exceedance = graph.add("Sigmoid", descending)
    one, zero = graph.constant(1.0), graph.constant(0.0)
    before = graph.add("Pad", exceedance, graph.constant(np.array([0, 1, 0, 0])), one)
    after = graph.add("Pad", exceedance, graph.constant(np.array([0, 0, 0, 1])), zero)
    return graph.add("Relu", graph.add("Sub", before, after))  # rounding must not make a probability negative


def average_probabilities(graph: Graph, probabilities: Mapping[str, float], noise_matrix: Floats | None = None) -> str:
    """Name of the weighted sum of class probabilities; `probabilities` maps names to weights.

    With a noise matrix they are turned into probabilities of the recorded label.
    """
    weighted = [graph.add("Mul", name, graph.constant(float(weight))) for name, weight in probabilities.items()]
    total = graph.add("Sum", *weighted)
    return total if noise_matrix is None else graph.add("MatMul", total, graph.constant(noise_matrix))


def deconvolved_probabilities(graph: Graph, recorded: str, records: Floats, n_iter: int) -> str:
    """Name of the probabilities of the true label, from those of the recorded one, as `deconvolved` computes them.

    `records` holds the shares of the true classes, where the iterations start, then the noise matrix.
    """
    noise, back = graph.constant(records[1:]), graph.constant(np.ascontiguousarray(records[1:].T))
    true, least = graph.constant(records[:1] + FLOOR), graph.constant(FLOOR**2)
    for _ in range(n_iter):
        explained = graph.add("Max", graph.add("MatMul", true, noise), least)
        true = graph.add("Mul", true, graph.add("MatMul", graph.add("Div", recorded, explained), back))
    return graph.add("Div", true, graph.add("ReduceSum", true, graph.constant(np.array([1])), keepdims=1))


def add_decision(graph: Graph, probabilities: str, decision: str | ArrayLike, n_classes: int) -> str:
    """Name of the predicted rank, as `ordinoise.labels` decides it."""
    rule = as_decision(decision, n_classes)
    if isinstance(rule, np.ndarray):
        cost = graph.add("MatMul", probabilities, graph.constant(rule))
        return graph.add("ArgMin", cost, axis=1, keepdims=0)
    if rule == "mode":
        return graph.add("ArgMax", probabilities, axis=1, keepdims=0)
    half = graph.constant(0.5)
    if rule == "mean":
        mean = graph.add("MatMul", probabilities, graph.constant(np.arange(n_classes, dtype=np.float64)))
        return graph.cast(graph.add("Floor", graph.add("Add", mean, half)), "int64")
    exceedance = graph.add("MatMul", probabilities, graph.constant(level_table(n_classes)))
    exceeded = graph.cast(graph.add("Greater", exceedance, half), "int64")
    return graph.add("ReduceSum", exceeded, graph.constant(np.array([1])), keepdims=0)


def write_classifier(
    path: str | os.PathLike[str],
    graph: Graph,
    probabilities: str,
    classes: NDArray[Any],
    decision: str | ArrayLike,
) -> None:
    """Write a model with input `features` and outputs `label` and `probabilities`; the whole file or nothing.

    Parameters
    ----------
    path : path
        The file, usually ending in ``.onnx``; replaced if it exists.
    graph : Graph
        With the learner added.
    probabilities : str
        Name of the class probabilities in the graph.
    classes : array of shape (n_classes,)
        Labels in order.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes)
        How the label follows from the probabilities.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise complain("path", "lie in a folder that exists", repr(str(target)))
    labels = _label_table(classes)
    rank = add_decision(graph, probabilities, decision, len(labels))
    label = graph.add("Gather", graph.constant(labels), rank)
    graph.notes["classes"] = labels.tolist()
    model = _model(graph, label, graph.cast(probabilities, "float32"), labels)
    write_whole(target, model.SerializeToString())


def _label_table(classes: NDArray[Any]) -> NDArray[Any]:
    """The classes in a type that ONNX has."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    if classes.dtype.kind in "fb":
        return classes.astype(np.float64) if classes.dtype.kind == "f" else classes
    if not all(isinstance(label, str) for label in classes.tolist()):
        raise complain("classes", "be numbers or text to be written as ONNX", classes.tolist())
    return classes.astype(object)


def _model(graph: Graph, label: str, probabilities: str, labels: NDArray[Any]) -> Any:
    """The model of a graph with these two results, checked by ONNX."""
    onnx = graph.onnx
    label_type = onnx.numpy_helper.from_array(labels).data_type
    for name, result in {"label": label, "probabilities": probabilities}.items():
        graph.nodes.append(onnx.helper.make_node("Identity", [result], [name]))
    described = onnx.helper.make_tensor_value_info
    body = onnx.helper.make_graph(
        graph.nodes,
        "ordinoise",
        [described("features", graph.type_code(graph.dtype), ["n_samples", *graph.shape])],
        [
            described("label", label_type, ["n_samples"]),
            described("probabilities", graph.type_code("float32"), ["n_samples", len(labels)]),
        ],
        initializer=graph.constants,
    )
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    model = onnx.helper.make_model(
        body,
        producer_name="ordinoise",
        producer_version=ordinoise.__version__,
        ir_version=IR_VERSION,
        opset_imports=opsets,
    )
    onnx.helper.set_model_props(model, {name: json.dumps(note, default=str) for name, note in graph.notes.items()})
    onnx.checker.check_model(model, full_check=True)
    return model
