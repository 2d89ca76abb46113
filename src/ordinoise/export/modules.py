"""A PyTorch module as ONNX nodes, translated by PyTorch's exporter."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ordinoise._validation import complain
from ordinoise.export.classifier import OPSETS, add_class_probabilities
from ordinoise.export.graph import Graph

if TYPE_CHECKING:
    from torch import Tensor, nn


def module_probabilities(graph: Graph, module: nn.Module, n_classes: int) -> str:
    """Name of the class probabilities of a module that returns K-1 logits.

    Parameters
    ----------
    graph : Graph
        With the shape and type of a sample.
    module : nn.Module
        Set to evaluation mode.
    n_classes : int
        Number of grades (K).
    """
    example = _example(graph, module)
    inner = graph.onnx.compose.add_prefix(_translated(module, example), f"module_{len(graph.nodes)}_")
    features = graph.features(str(example.dtype).removeprefix("torch."))
    graph.constants.extend(inner.graph.initializer)
    graph.nodes.append(graph.onnx.helper.make_node("Identity", [features], [inner.graph.input[0].name]))
    graph.nodes.extend(inner.graph.node)
    return add_class_probabilities(graph, graph.cast(inner.graph.output[0].name, "float64"), n_classes)


def _example(graph: Graph, module: nn.Module) -> Tensor:
    """Two samples of zeros in the type of the module: its own precision, or int64 for integer features."""
    import torch

    weight = next(module.parameters())
    dtype = torch.int64 if graph.dtype == "int64" else weight.dtype
    example = torch.zeros((2, *graph.shape), dtype=dtype, device=weight.device)
    try:
        with torch.no_grad():
            module.eval()(example)
    except (RuntimeError, TypeError, IndexError, ValueError):
        advice = "pass some samples as example="
        raise complain(
            "example", "have the shape that the module accepts", f"samples of {graph.shape}", advice
        ) from None
    return example


def _translated(module: nn.Module, example: Tensor) -> Any:
    """The module as an ONNX model for any number of samples."""
    import torch

    with _quiet():
        try:
            batch = torch.export.Dim("n_samples")
            program: Any = torch.onnx.export(
                module, (example,), dynamo=True, opset_version=OPSETS[""], dynamic_shapes=({0: batch},), verbose=False
            )
        except ModuleNotFoundError:
            raise ImportError('to_onnx needs onnxscript; pip install "ordinoise[onnx]"') from None
    return program.model_proto


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings and log messages of PyTorch's exporter."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        log.setLevel(level)
