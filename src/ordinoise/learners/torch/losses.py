"""The losses, one value per sample, for any module with K-1 logits; all that they know of noise is a table.

Logits are ``score + thresholds``, thresholds descending, as in CORAL, whose layers and levels can be used directly.
Half precision is raised to float32 inside. Nothing here branches on values, so all of it compiles and exports.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, pad, relu, softplus
from torch.utils.weak import WeakIdKeyDictionary

from ordinoise._validation import as_noise_matrix, complain
from ordinoise._warning import warn_caller
from ordinoise.noise import Noise

__all__ = [
    "class_probabilities",
    "cross_entropy",
    "forward_nll",
    "hinge",
    "level_table",
    "logits_from_class_probabilities",
]

TableLoss = Callable[..., Tensor]

# Unordered logits give "probabilities" below zero, which have no logarithm. Below the floor, -log is replaced by its
# tangent at the floor, which pulls the thresholds back into order. A round number, chosen by no run; the compiled
# network has the same.
FLOOR_UNORDERED = 1e-4


def level_table(num_classes: int, *, device: torch.device | None = None) -> Tensor:
    """Levels of every label, shape (K, K-1): entry [k, j] is one if grade k exceeds threshold j, else zero."""
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
        default plain levels, which take the labels as true.
    raters : tensor of int, shape (n_samples,), optional
        Table that each sample reads; the first by default.
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
        As in `cross_entropy`. Logits need not descend: the loss pulls them back into order.
    noise_matrix : tensor of shape (K, K) or (n_raters, K, K)
        ``[true, recorded]``; the identity takes the labels as true. Build it once, outside of the loop: each tensor is
        checked when it is first used, and no more.
    """
    logits = _raised(logits)
    noise = _picked(_checked_noise(noise_matrix, logits.shape[-1] + 1).mT, labels, raters).to(logits)
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


def class_probabilities(logits: Tensor) -> Tensor:
    """Probability of each class, shape (n_samples, K); logits are first sorted in descending order."""
    ordered = torch.sort(_raised(logits), dim=-1, descending=True).values
    log_size, width = _log_size_and_width(ordered)
    probabilities = width * torch.exp(log_size)
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


def logits_from_class_probabilities(probabilities: Tensor) -> Tensor:
    """The K-1 logits of class probabilities (n_samples, K), for layers that return those (dlordinal's CLM, softmax)."""
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
    """Row of the table that each sample reads."""
    _check_kind("labels", labels)
    labels = labels.long()
    if torch.compiler.is_compiling():
        return _looked_up(table, labels, raters)
    try:
        return _looked_up(table, labels, raters)
    except IndexError:
        _check_range("labels", labels, table.shape[-2])
        if raters is not None and table.ndim == 3:
            _check_range("raters", raters, len(table))
        raise


def _looked_up(table: Tensor, labels: Tensor, raters: Tensor | None) -> Tensor:
    if table.ndim == 2:
        return table[labels]
    return table[0, labels] if raters is None else table[raters.long(), labels]


def _check_kind(argument: str, numbers: Tensor) -> None:
    """Refuse what is no tensor of whole numbers; a look at the type costs nothing."""
    if not isinstance(numbers, Tensor):
        raise complain(argument, "be a tensor of whole numbers", type(numbers).__name__, "pass torch.as_tensor(...)")
    if numbers.is_floating_point() or numbers.is_complex() or numbers.dtype == torch.bool:
        advice = f"pass {argument}.long() if they are ranks"
        raise complain(argument, "be a tensor of whole numbers", numbers.dtype, advice)


def _check_range(argument: str, numbers: Tensor, count: int) -> None:
    wrong = numbers[(numbers < 0) | (numbers >= count)]
    if len(wrong):
        raise complain(argument, f"hold whole numbers from 0 to {count - 1}", wrong[0].item())


_CHECKED = WeakIdKeyDictionary()
"""Noise matrices that were checked, as long as they live."""


def _checked_noise(noise_matrix: Tensor, n_classes: int) -> Tensor:
    """The noise matrices, their entries checked when the tensor is first seen, unless they are learned themselves."""
    if not isinstance(noise_matrix, Tensor):
        advice = "pass torch.as_tensor(noise_matrix), built once outside of the loop"
        raise complain("noise_matrix", "be a tensor", type(noise_matrix).__name__, advice)
    if noise_matrix.ndim not in (2, 3) or tuple(noise_matrix.shape[-2:]) != (n_classes, n_classes):
        rule = f"be {n_classes} x {n_classes}, as {n_classes - 1} logits are of {n_classes} grades"
        raise complain("noise_matrix", rule, f"shape {tuple(noise_matrix.shape)}")
    if torch.compiler.is_compiling() or noise_matrix.requires_grad or noise_matrix in _CHECKED:
        return noise_matrix
    tolerance = n_classes * torch.finfo(noise_matrix.dtype).eps if noise_matrix.is_floating_point() else 0.0
    checked = [
        as_noise_matrix(matrix, tolerance=tolerance)
        for matrix in noise_matrix.detach().reshape(-1, n_classes, n_classes).cpu().double().numpy()
    ]
    if noise_matrix.ndim == 2 and (doubts := Noise.of(checked[0] / checked[0].sum(axis=1, keepdims=True)).doubt_text):
        warn_caller(f"the noise matrix is in doubt: {doubts}")
    _CHECKED[noise_matrix] = True
    return noise_matrix


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
