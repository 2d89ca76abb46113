"""An ONNX graph, built node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._validation import as_choice

INPUT_TYPES = ("float32", "float64", "int64")


class Graph:
    """Nodes and constants; every method that adds one returns the name of its result.

    Arithmetic is in float64, as in the models, so that labels near a threshold agree.

    Parameters
    ----------
    shape : tuple of int
        Shape of one sample's features.
    dtype : {"float32", "float64", "int64"}, default="float32"
        Type of the input features.

    Attributes
    ----------
    nodes, constants : list
        In the order of their addition.
    notes : dict
        Metadata of the file, written as JSON.
    """

    def __init__(self, shape: tuple[int, ...], dtype: str = "float32") -> None:
        self.onnx = import_onnx()
        self.shape = shape
        self.dtype = as_choice("dtype", dtype, INPUT_TYPES)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.notes: dict[str, Any] = {}
        self._features = {self.dtype: "features"}

    def features(self, dtype: str = "float64") -> str:
        """Name of the features converted to this type."""
        if dtype not in self._features:
            self._features[dtype] = self.cast("features", dtype)
        return self._features[dtype]

    def constant(self, values: ArrayLike) -> str:
        """Name of a constant array of numbers or text."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Name of the result of a new node."""
        name = f"{operator}_{len(self.nodes)}"
        # TopK has a second output, the positions, which is not used.
        outputs = [name, f"{name}_places"] if operator == "TopK" else [name]
        node = self.onnx.helper.make_node(operator, list(inputs), outputs, name=name, domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def cast(self, name: str, dtype: str) -> str:
        """Name of the values converted to another type."""
        return self.add("Cast", name, to=self.type_code(dtype))

    def type_code(self, dtype: str) -> int:
        """ONNX's code of a numpy type."""
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def import_onnx() -> Any:
    """The module onnx; raises an ImportError that says how to install it."""
    try:
        import onnx
    except ImportError:
        raise ImportError('to_onnx needs onnx; pip install "ordinoise[onnx]"') from None
    return onnx
