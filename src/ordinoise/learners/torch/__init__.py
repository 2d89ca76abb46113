"""Learning under label noise for any PyTorch network: losses that read tables, heads, a (data-parallel) training loop.

Needs the extra ``torch``: ``pip install "ordinoise[torch]"``.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:  # pragma: no cover - seen in a test without torch
    raise ImportError('ordinoise.learners.torch needs PyTorch: pip install "ordinoise[torch]"') from error

from ordinoise.learners.torch.heads import OrderedThresholdHead, OrdinalModule, ThresholdHead
from ordinoise.learners.torch.losses import (
    class_probabilities,
    cross_entropy,
    forward_nll,
    hinge,
    level_table,
    logits_from_class_probabilities,
)
from ordinoise.learners.torch.objective import Objective as Objective
from ordinoise.learners.torch.parquet import ParquetStream
from ordinoise.learners.torch.settings import DivergedError as DivergedError
from ordinoise.learners.torch.settings import Epoch as Epoch
from ordinoise.learners.torch.settings import TrainingSettings as TrainingSettings
from ordinoise.learners.torch.training import train as train

__all__ = [
    "OrderedThresholdHead",
    "OrdinalModule",
    "ParquetStream",
    "ThresholdHead",
    "class_probabilities",
    "cross_entropy",
    "forward_nll",
    "hinge",
    "level_table",
    "logits_from_class_probabilities",
]
