"""The same learning for any PyTorch network: losses that read tables, heads, a training loop, data-parallel runs.

Needs the extra ``torch``: ``pip install "ordinoise[torch]"``.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:  # pragma: no cover - seen in a test without torch
    raise ImportError('ordinoise.learners.torch needs PyTorch: pip install "ordinoise[torch]"') from error

from ordinoise.learners.torch.batches import ArrayBatches, Batch, Batches, DatasetBatches, IterableBatches
from ordinoise.learners.torch.heads import OrderedThresholdHead, OrdinalModule, ThresholdHead
from ordinoise.learners.torch.losses import (
    class_probabilities,
    cross_entropy,
    forward_nll,
    hinge,
    level_table,
    logits_from_class_probabilities,
    nonnegative_risk,
)
from ordinoise.learners.torch.modules import MLP, Standardize
from ordinoise.learners.torch.objective import Objective
from ordinoise.learners.torch.parquet import ParquetStream
from ordinoise.learners.torch.settings import DivergedError, Epoch, Training, TrainingSettings
from ordinoise.learners.torch.training import train

__all__ = [
    "MLP",
    "ArrayBatches",
    "Batch",
    "Batches",
    "DatasetBatches",
    "DivergedError",
    "Epoch",
    "IterableBatches",
    "Objective",
    "OrderedThresholdHead",
    "OrdinalModule",
    "ParquetStream",
    "Standardize",
    "ThresholdHead",
    "Training",
    "TrainingSettings",
    "class_probabilities",
    "cross_entropy",
    "forward_nll",
    "hinge",
    "level_table",
    "logits_from_class_probabilities",
    "nonnegative_risk",
    "train",
]
