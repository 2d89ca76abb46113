"""The losses, one value a sample, for any module that gives K-1 logits; what they know of noise is a table.

Logits are ``score + thresholds``, thresholds descending, as in CORAL: its layers and levels fit as they are. Half
precision is raised to float32 inside. Nothing here branches on values, so all of it compiles and exports.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, pad, relu, softplus

__all__ = [
    "class_probabilities",
    "cross_entropy",
    "forward_nll",
    "hinge",
    "level_table",
    "logits_from_class_probabilities",
    "nonnegative_risk",
]

TableLoss = Callable[..., Tensor]

# Unordered logits give "probabilities" below zero, whose logarithm does not exist; below the floor -log is continued
# by its tangent, which pulls the thresholds back into order.
FLOOR_UNORDERED = 1e-4


def level_table(num_classes: int, *, device: torch.device | None = None) -> Tensor:
    """Levels of every label, shape (K, K-1): row k says of a grade k which thresholds it exceeds."""
    return torch.ones(num_classes, num_classes - 1, device=device).tril(-1)


def cross_entropy(logits: Tensor, labels: Tensor, levels: Tensor | None = None, raters: Tensor | None = None) -> Tensor:
    """Loss of each sample, shape (n_samples,): binary cross-entropy summed over thresholds (the paper's l_CE).

    Parameters
    ----------
    logits : tensor of shape (n_samples, K-1)
        Score plus thresholds.
    labels : tensor of int, shape (n_samples,)
        Recorded labels 0..K-1.
    levels : tensor of shape (K, K-1) or (n_raters, K, K-1), optional
        ``torch.as_tensor(ordinoise.corrected_levels(noise_matrix))`` makes the loss the paper's unbiased one. By
        default the labels are taken at their word.
    raters : tensor of int, shape (n_samples,), optional
        Which table each sample reads.
    """
    logits = _raised(logits)
    return _cross_entropy(logits, _rows(levels, logits, labels, raters))


def hinge(logits: Tensor, labels: Tensor, levels: Tensor | None = None, raters: Tensor | None = None) -> Tensor:
    """Loss of each sample, shape (n_samples,): hinge summed over thresholds (the paper's l_IMC).

    Parameters
    ----------
    logits, labels, levels, raters
        As in `cross_entropy`.
    """
    logits = _raised(logits)
    return _hinge(logits, _rows(levels, logits, labels, raters))


def forward_nll(logits: Tensor, labels: Tensor, noise_matrix: Tensor, raters: Tensor | None = None) -> Tensor:
    """Loss of each sample, shape (n_samples,): ``-log sum_k noise_matrix[k, recorded] P(k)``, without underflow.

    Parameters
    ----------
    logits, labels, raters
        As in `cross_entropy`. Logits out of order are allowed: the loss pulls them back.
    noise_matrix : tensor of shape (K, K) or (n_raters, K, K)
        ``[true, recorded]``; the identity takes the labels at their word.
    """
    logits = _raised(logits)
    noise = _picked(noise_matrix.mT, labels, raters).to(logits)
    log_size, width = _log_size_and_width(logits)
    # Factors are taken relative to the largest one that counts, so that none is lost however small they all are.
    log_size = log_size.masked_fill(noise == 0, -torch.inf)
    top = log_size.amax(dim=-1).detach().clamp(min=torch.finfo(logits.dtype).min)
    chance = (noise * width * torch.exp(log_size - top[..., None])).sum(dim=-1)
    whole_chance = chance * torch.exp(top)
    is_in_order = (width > 0).all(dim=-1)
    is_exact = (chance > 0) & (is_in_order | (whole_chance >= FLOOR_UNORDERED))
    tangent = 1 - whole_chance / FLOOR_UNORDERED - torch.log(whole_chance.new_tensor(FLOOR_UNORDERED))
    return torch.where(is_exact, -top - torch.log(chance.where(is_exact, 1.0)), tangent)


def nonnegative_risk(
    logits: Tensor,
    labels: Tensor,
    correction: Tensor,
    loss: TableLoss = cross_entropy,
    raters: Tensor | None = None,
    weights: Tensor | None = None,
) -> Tensor:
    """One number for a batch: the unbiased loss, each class's share of it kept from turning negative.

    ``sum_k |mean of correction[recorded, k] loss(x, k)|``: the way to minimise the unbiased loss with a network large
    enough to drive it to minus infinity.

    Parameters
    ----------
    logits, labels, raters
        As in `cross_entropy`.
    correction : tensor of shape (K, K) or (n_raters, K, K)
        The inverse noise matrix, ``torch.as_tensor(ordinoise.correction_matrix(noise_matrix))``.
    loss : `cross_entropy` or `hinge`
        Of one sample and a true label.
    weights : tensor of shape (n_samples,), optional
        Weights of the samples.
    """
    weights = torch.ones_like(logits[:, 0]) if weights is None else weights
    levels = level_table(correction.shape[-1], device=logits.device)
    return (class_risks(logits, labels, correction, levels, loss, raters, weights) / len(logits)).abs().sum()


def class_risks(
    logits: Tensor,
    labels: Tensor,
    correction: Tensor,
    levels: Tensor,
    loss: TableLoss,
    raters: Tensor | None,
    weights: Tensor,
) -> Tensor:
    """Weighted sum over samples of ``correction[recorded, k] loss(x, k)``, shape (K,); `levels` are (K, K-1)."""
    shares = _picked(correction, labels, raters).to(_raised(logits)) * weights[:, None]
    n_samples, n_classes = shares.shape
    every_label = torch.arange(n_classes, device=logits.device).repeat(n_samples)
    losses = loss(logits.repeat_interleave(n_classes, dim=0), every_label, levels)
    return (shares * losses.reshape(n_samples, n_classes)).sum(dim=0)


def class_probabilities(logits: Tensor) -> Tensor:
    """Probability of each class, shape (n_samples, K); logits out of order are taken in descending order."""
    ordered = torch.sort(_raised(logits), dim=-1, descending=True).values
    log_size, width = _log_size_and_width(ordered)
    probabilities = width * torch.exp(log_size)
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


def logits_from_class_probabilities(probabilities: Tensor) -> Tensor:
    """The K-1 logits of class probabilities (n_samples, K), for layers that give those (dlordinal's CLM, a softmax)."""
    chances = _raised(probabilities).clamp(min=torch.finfo(torch.float32).tiny)
    below = chances.cumsum(dim=-1)[..., :-1]
    above = chances.flip(-1).cumsum(dim=-1).flip(-1)[..., 1:]
    return torch.log(above) - torch.log(below)


def _cross_entropy(logits: Tensor, levels: Tensor) -> Tensor:
    return (softplus(logits) - levels * logits).sum(dim=-1)


def _hinge(logits: Tensor, levels: Tensor) -> Tensor:
    return (levels * relu(1 - logits) + (1 - levels) * relu(1 + logits)).sum(dim=-1)


def _raised(logits: Tensor) -> Tensor:
    """At least float32, also under autocast."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def _rows(levels: Tensor | None, logits: Tensor, labels: Tensor, raters: Tensor | None) -> Tensor:
    table = level_table(logits.shape[-1] + 1, device=logits.device) if levels is None else levels
    return _picked(table, labels, raters).to(logits)


def _picked(table: Tensor, labels: Tensor, raters: Tensor | None) -> Tensor:
    """The line of the table that each sample reads."""
    labels = labels.long()
    if table.ndim == 2:
        return table[labels]
    return table[0, labels] if raters is None else table[raters.long(), labels]


def _log_size_and_width(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Two factors of each class's probability: one that may be tiny, in logs, and one in [-1, 1].

    ``P_k = sigmoid(upper) sigmoid(-lower) (1 - exp(lower - upper))`` with the class between the logits upper and
    lower: the difference of two sigmoids without its cancellation, and negative where they are out of order.
    """
    gap = logits[..., :-1] - logits[..., 1:]
    high, low = torch.maximum(logits[..., :-1], logits[..., 1:]), torch.minimum(logits[..., :-1], logits[..., 1:])
    middle = logsigmoid(high) + logsigmoid(-low)
    log_size = torch.cat([logsigmoid(-logits[..., :1]), middle, logsigmoid(logits[..., -1:])], dim=-1)
    # Each branch sees only its own side of zero, else the overflow of the other would reach the gradient as NaN.
    width = torch.where(gap >= 0, -torch.expm1(-gap.clamp(min=0)), torch.expm1(gap.clamp(max=0)))
    return log_size, pad(width, (1, 1), value=1.0)
