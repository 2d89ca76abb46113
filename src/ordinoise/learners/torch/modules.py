"""Modules below the head: the paper's network, or the user's own."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ordinoise._validation import as_choice, as_count, complain
from ordinoise.learners.torch.batches import Batches, moved
from ordinoise.learners.torch.heads import OrderedThresholdHead, OrdinalModule, ThresholdHead
from ordinoise.learners.torch.team import as_device

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "identity": nn.Identity}


class Standardize(nn.Module):
    """Features minus their center, divided by their scale.

    Parameters
    ----------
    center, scale : sequence of n_features numbers
    """

    center: Tensor
    scale: Tensor

    def __init__(self, center: Any, scale: Any) -> None:
        super().__init__()
        self.register_buffer("center", torch.as_tensor(center, dtype=torch.float32))
        self.register_buffer("scale", torch.as_tensor(scale, dtype=torch.float32))

    def forward(self, features: Tensor) -> Tensor:
        """Standardized features."""
        return (features - self.center) / self.scale


class MLP(nn.Sequential):
    """The paper's network below its score: fully connected layers, an activation after each.

    Parameters
    ----------
    n_features : int
        Columns of the features.
    hidden_layer_sizes : sequence of int
        Units of each layer; empty for a linear model.
    activation : {"relu", "tanh", "identity"}
        Activation of the hidden units.
    scaling : pair of arrays, optional
        Center and scale of the features, to standardize them first.
    """

    def __init__(
        self,
        n_features: int,
        hidden_layer_sizes: Sequence[int] = (10,),
        activation: str = "relu",
        scaling: tuple[Any, Any] | None = None,
    ) -> None:
        make = ACTIVATIONS[as_choice("activation", activation, ACTIVATIONS)]
        sizes = [as_count("hidden_layer_sizes", size, 1) for size in hidden_layer_sizes]
        widths = [as_count("n_features", n_features, 1), *sizes]
        layers: list[nn.Module] = [] if scaling is None else [Standardize(*scaling)]
        for n_in, n_out in pairwise(widths):
            layers += [nn.Linear(n_in, n_out), make()]
        super().__init__(*layers)
        self.widths, self.activation = widths, activation


def default_model(
    batches: Batches,
    hidden_layer_sizes: Sequence[int],
    activation: str,
    scaling: tuple[Any, Any] | None,
    num_classes: int,
    thresholds: str,
    class_frequencies: Any,
) -> OrdinalModule:
    """The paper's network for these batches, randomly initialized."""
    n_features = int(_example(batches, torch.float32).shape[-1])
    body = MLP(n_features, hidden_layer_sizes, activation, scaling)
    return OrdinalModule(body, make_head(body.widths[-1], num_classes, thresholds, class_frequencies))


def model_on(
    module: Any,
    batches: Batches,
    scaling: tuple[Any, Any] | None,
    num_classes: int,
    thresholds: str,
    class_frequencies: Any,
) -> OrdinalModule:
    """The user's module with a head that fits its output for the first batch."""
    body = _scaled(fresh(module), scaling).cpu().eval()
    dtype = next((weight.dtype for weight in body.parameters() if weight.is_floating_point()), torch.float32)
    with torch.no_grad():
        given = body(_example(batches, dtype))
    if not isinstance(given, Tensor) or given.ndim not in (1, 2):
        shape = f"shape {tuple(given.shape)}" if isinstance(given, Tensor) else type(given).__name__
        raise complain("module", "give features (n_samples, n) or a score (n_samples,)", shape)
    in_features = None if given.ndim == 1 or given.shape[1] == 1 else int(given.shape[1])
    head = make_head(in_features, num_classes, thresholds, class_frequencies)
    return OrdinalModule(body, head.to(dtype))


def fresh(module: Any) -> nn.Module:
    """A copy of a module, or the module that a callable returns."""
    made = copy.deepcopy(module) if isinstance(module, nn.Module) else module() if callable(module) else None
    if not isinstance(made, nn.Module):
        raise complain("module", "be an nn.Module or a callable that makes one", type(module).__name__)
    return made


def make_head(
    in_features: int | None, num_classes: int, thresholds: str, class_frequencies: Any = None
) -> ThresholdHead | OrderedThresholdHead:
    """The head with "ordered" or "free" thresholds."""
    if thresholds == "free":
        return ThresholdHead(in_features, num_classes)
    return OrderedThresholdHead(in_features, num_classes, class_frequencies)


def described(model: OrdinalModule) -> dict[str, Any]:
    """The structure of the model, from which `rebuilt` makes it again together with the user's module."""
    body = model.module
    return {
        "is_scaled": _is_scaled(body),
        "widths": body.widths if isinstance(body, MLP) else None,
        "activation": body.activation if isinstance(body, MLP) else None,
        "in_features": model.head.in_features,
        "num_classes": model.head.num_classes,
        "thresholds": "free" if isinstance(model.head, ThresholdHead) else "ordered",
    }


def rebuilt(
    module: Any, structure: Mapping[str, Any], weights: Mapping[str, NDArray[Any]], device: str
) -> OrdinalModule:
    """The model with the structure of `described` and these weights; `module` is the user's, if any."""
    scaling = (torch.zeros(1), torch.ones(1))
    if structure["is_scaled"]:
        scaling = (torch.from_numpy(weights["module.0.center"]), torch.from_numpy(weights["module.0.scale"]))
        n_columns = None if structure["widths"] is None else structure["widths"][0]
        shapes = {(len(one) if n_columns is None else n_columns,) for one in scaling} | {one.shape for one in scaling}
        if len(shapes) > 1:
            raise complain("center and scale", "have one number per feature", f"shapes {sorted(map(tuple, shapes))}")
    body: nn.Module
    if structure["widths"] is not None:
        n_features, *sizes = structure["widths"]
        body = MLP(n_features, sizes, structure["activation"], scaling if structure["is_scaled"] else None)
    else:
        body = _scaled(fresh(module), scaling if structure["is_scaled"] else None)
    model = OrdinalModule(body, make_head(structure["in_features"], structure["num_classes"], structure["thresholds"]))
    model.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in weights.items()})
    return model.to(as_device(device)).eval()


def weights_of(model: OrdinalModule) -> dict[str, NDArray[Any]]:
    """All weights by name, as arrays; half precision becomes float32, which holds it exactly."""
    halves = (torch.bfloat16, torch.float16)
    return {
        name: (weight.float() if weight.dtype in halves else weight).detach().cpu().numpy().copy()
        for name, weight in model.state_dict().items()
    }


def _scaled(module: nn.Module, scaling: tuple[Any, Any] | None) -> nn.Module:
    return module if scaling is None else nn.Sequential(Standardize(*scaling), module)


def _is_scaled(body: nn.Module) -> bool:
    return isinstance(body, nn.Sequential) and len(body) > 0 and isinstance(body[0], Standardize)


def _example(batches: Batches, dtype: torch.dtype) -> Any:
    """The inputs of the first batch."""
    first = next(batches.epoch(0, 0, 1), None)
    if first is None:
        raise complain("X", "hold samples", "none")
    return moved(first.inputs, torch.device("cpu"), dtype)
