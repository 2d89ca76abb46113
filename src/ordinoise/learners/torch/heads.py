"""Heads: one score and K-1 thresholds on top of any module, for K-1 logits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from ordinoise._validation import as_count, as_floats, complain

__all__ = ["OrderedThresholdHead", "OrdinalModule", "ThresholdHead", "thresholds_from_frequencies"]

# Share added to every class, so that the threshold of a class without samples starts finite: a round number, chosen by
# no run, and the same as in the compiled network.
SMOOTHING = 0.01


class _Head(nn.Module, ABC):
    """A score of the features, plus thresholds."""

    def __init__(self, in_features: int | None, num_classes: int) -> None:
        super().__init__()
        self.in_features = None if in_features is None else as_count("in_features", in_features, 1)
        self.num_classes = as_count("num_classes", num_classes, 2)
        self.linear = nn.Identity() if in_features is None else nn.Linear(in_features, 1, bias=False)
        self.offsets = nn.Parameter(torch.zeros(num_classes - 1))

    @property
    @abstractmethod
    def thresholds(self) -> Tensor:
        """The K-1 thresholds added to the score, descending (b)."""

    def score(self, features: Tensor) -> Tensor:
        """Score of each sample, shape (n_samples, 1) (g)."""
        score: Tensor = self.linear(features)
        return score.reshape(-1, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Logits, shape (n_samples, K-1), of features (n_samples, in_features) or of a ready score."""
        return self.score(features) + self.thresholds


class ThresholdHead(_Head):
    """The paper's head: a linear score without bias, and K-1 free thresholds that start at 0.

    Parameters
    ----------
    in_features : int or None
        Columns of the features; None if the module below returns the score itself, of shape (n_samples,) or
        (n_samples, 1).
    num_classes : int
        Number of grades (K).

    Examples
    --------
    >>> import torch
    >>> from ordinoise.learners.torch import ThresholdHead
    >>> ThresholdHead(None, num_classes=4)(torch.tensor([0.5, -2.0])).shape
    torch.Size([2, 3])
    """

    @property
    def thresholds(self) -> Tensor:
        """The K-1 thresholds added to the score (b)."""
        return self.offsets


class OrderedThresholdHead(_Head):
    """A linear score without bias, and K-1 thresholds that descend by construction.

    Parameters
    ----------
    in_features, num_classes
        As in `ThresholdHead`.
    class_frequencies : sequence of K numbers, optional
        Frequency or count of each recorded label; thresholds start at the logits of the exceedance frequencies. Equal
        by default.
    """

    def __init__(
        self, in_features: int | None, num_classes: int, class_frequencies: Sequence[float] | Tensor | None = None
    ) -> None:
        super().__init__(in_features, num_classes)
        frequencies = torch.ones(num_classes) if class_frequencies is None else class_frequencies
        thresholds = thresholds_from_frequencies(frequencies, num_classes)
        gaps = thresholds[:-1] - thresholds[1:]
        inverse_softplus = gaps + torch.log(-torch.expm1(-gaps))
        with torch.no_grad():
            self.offsets.copy_(torch.cat([thresholds[:1], inverse_softplus]))

    @property
    def thresholds(self) -> Tensor:
        """The K-1 thresholds added to the score, descending (b)."""
        return torch.cumsum(torch.cat([self.offsets[:1], -softplus(self.offsets[1:])]), dim=0)


class OrdinalModule(nn.Module):
    """A module that returns features or a score, with a head on top: inputs in, K-1 logits out.

    Parameters
    ----------
    module : nn.Module
        Maps inputs to features (n_samples, in_features), or to a score.
    head : ThresholdHead or OrderedThresholdHead
        Head for what the module returns.
    """

    def __init__(self, module: nn.Module, head: ThresholdHead | OrderedThresholdHead) -> None:
        super().__init__()
        self.module = module
        self.head = head

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits, shape (n_samples, K-1)."""
        logits: Tensor = self.head(self.module(inputs))
        return logits

    def score(self, inputs: Tensor) -> Tensor:
        """Score of each sample, shape (n_samples, 1)."""
        return self.head.score(self.module(inputs))


def thresholds_from_frequencies(class_frequencies: Sequence[float] | Tensor, num_classes: int) -> Tensor:
    """Thresholds at which a score of zero has the given class frequencies, after smoothing by `SMOOTHING`; float64."""
    frequencies = torch.from_numpy(as_floats("class_frequencies", class_frequencies, 1))
    if len(frequencies) != num_classes or frequencies.min() < 0 or frequencies.sum() <= 0:
        rule = f"be {num_classes} non-negative numbers, not all zero"
        raise complain("class_frequencies", rule, frequencies.tolist())
    smoothed = frequencies / frequencies.sum() + SMOOTHING
    exceedance = 1 - torch.cumsum(smoothed / smoothed.sum(), dim=0)[:-1]
    return torch.log(exceedance) - torch.log1p(-exceedance)
