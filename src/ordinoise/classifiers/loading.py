"""A saved model, whatever class wrote it."""

from __future__ import annotations

import os

from ordinoise._validation import as_choice
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.classifiers.boosting import OrdinalBoostingClassifier
from ordinoise.classifiers.mlp import OrdinalMLPClassifier
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.classifiers.saving import kind_of
from ordinoise.classifiers.torch import OrdinalTorchClassifier

KINDS: dict[str, type[OrdinalClassifierBase]] = {
    kind.__name__: kind
    for kind in (OrdinalBoostingClassifier, OrdinalClassifier, OrdinalMLPClassifier, OrdinalTorchClassifier)
}


def load_model(path: str | os.PathLike[str]) -> OrdinalClassifierBase:
    """The model in a folder that `save` wrote, of whatever class it is.

    A PyTorch model with a module of your own needs its class's `load`, which takes the module.

    Parameters
    ----------
    path : path
        The folder.
    """
    return KINDS[as_choice("kind of model", kind_of(path), KINDS)].load(path)
