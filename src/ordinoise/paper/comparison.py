"""Our results beside the paper's: every printed cell, the damage that a correction undoes, the paper's rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ordinoise._validation import Floats
from ordinoise.jobs.store import StoredResult
from ordinoise.paper.printed import PrintedError, table1
from ordinoise.paper.protocol import LOSSES, PAPER_SETS

SMALLEST_TOLERANCE = 0.03
"""Smallest difference from a printed mean that counts as one: chosen by eye; the paper prints two digits."""


class Group(NamedTuple):
    """A set, method and noise: trials of one group differ only in their split."""

    dataset: str
    loss: str
    correction: str
    variant: str
    noise: str


@dataclass(frozen=True)
class Measured:
    """Results of one group, one entry per split."""

    mean_absolute_errors: Floats
    zero_one_losses: Floats
    unordered_updates: Floats
    n_updates: Floats
    are_ordered: bool
    noise_matrices: tuple[Floats, ...]

    def errors(self, metric: str) -> Floats:
        """Errors by the metric's short name, ``mae`` or ``zero_one``."""
        return self.mean_absolute_errors if metric == "mae" else self.zero_one_losses


Summary = dict[Group, Measured]


def summarize(results: Iterable[StoredResult]) -> Summary:
    """Results by group, each in the order of its splits."""
    groups: dict[Group, list[StoredResult]] = {}
    for stored in results:
        groups.setdefault(Group(*(stored.trial[field] for field in Group._fields)), []).append(stored)
    return {group: _measured(sorted(stored, key=lambda s: s.trial["split"])) for group, stored in groups.items()}


def _measured(stored: list[StoredResult]) -> Measured:
    def column(name: str) -> Floats:
        return np.array([one.result[name] for one in stored], dtype=np.float64)

    matrices = [one.result["noise_matrix"] for one in stored]
    return Measured(
        column("mean_absolute_error"), column("zero_one_loss"), column("unordered_updates"), column("n_updates"),
        all(one.result["is_ordered"] for one in stored),
        tuple(np.array(matrix) for matrix in matrices if matrix is not None),
    )  # fmt: skip


def group_of(dataset: str, loss: str, variant: str, train_on: str) -> Group:
    """The group of a printed cell. On clean labels the known matrix is the identity, which is the plain loss."""
    if variant == "plain" or (variant == "known" and train_on == "clean"):
        return Group(dataset, loss, "none", "plain", "none" if train_on == "clean" else "uniform")
    return Group(dataset, loss, "unbiased", variant, "none" if train_on == "clean" else "uniform")


@dataclass(frozen=True)
class Comparison:
    """A printed cell of Table 1, and our mean and standard deviation over the splits."""

    printed: PrintedError
    mean: float
    sd: float
    n_splits: int

    @property
    def difference(self) -> float:
        """Our mean minus the printed one."""
        return self.mean - self.printed.mean

    @property
    def is_within(self) -> bool:
        """Whether our mean is within .03 of the printed one, or within two printed standard deviations."""
        return abs(self.difference) <= max(SMALLEST_TOLERANCE, 2 * self.printed.sd) + 1e-12


def compare(summary: Summary) -> list[Comparison]:
    """Every printed cell of Table 1 that has results."""
    found = []
    for cell in table1():
        measured = summary.get(group_of(cell.dataset, cell.loss, cell.variant, cell.train_on))
        if measured is not None:
            errors = measured.errors(cell.metric)
            found.append(Comparison(cell, float(errors.mean()), float(errors.std()), len(errors)))
    return found


def recovered(summary: Summary, group: Group, metric: str = "mae") -> float:
    """Share of the damage of the noise that a correction undoes: ``(noisy - ours) / (noisy - clean)``.

    `noisy` and `clean` are the errors of the uncorrected network of the same loss. NaN where the noise did no damage.
    """
    plain = Group(group.dataset, group.loss, "none", "plain", group.noise)
    noisy, clean = (summary[one].errors(metric).mean() for one in (plain, plain._replace(noise="none")))
    return float((noisy - summary[group].errors(metric).mean()) / (noisy - clean)) if noisy > clean else float("nan")


@dataclass(frozen=True)
class Order:
    """A ranking that the paper's discussion states, checked in its own table and in ours.

    Attributes
    ----------
    statement : str
    dataset : str
    printed, ours : float
        The difference in error that the statement is about, positive where it holds.
    standard_error : float
        Of `ours`, over the splits.
    """

    statement: str
    dataset: str
    printed: float
    ours: float
    standard_error: float

    @property
    def is_printed(self) -> bool:
        """Does the statement hold in the paper's own table?"""
        return self.printed > 1e-9

    @property
    def is_seen(self) -> bool:
        """Does the statement hold in our results?"""
        return self.ours > 0


KNOWN_BEATS_PLAIN = "known rates beat the plain loss on noisy labels"
# The paper says that this set is too small to rank known rates and the plain loss.
AT_PAR = ("boston",)
HINGE_SUFFERS_MORE = "noise harms the hinge more than cross-entropy"


def orders(summary: Summary) -> list[Order]:
    """The rankings that the paper's discussion states, one per set (and loss)."""
    printed = {(c.dataset, c.loss, c.variant, c.train_on): c.mean for c in table1() if c.metric == "mae"}

    def ours(dataset: str, loss: str, variant: str, train_on: str) -> Floats:
        return summary[group_of(dataset, loss, variant, train_on)].mean_absolute_errors

    harm = {("hinge", "plain", "noisy"): 1, ("hinge", "plain", "clean"): -1}
    harm |= {("cross_entropy", "plain", "noisy"): -1, ("cross_entropy", "plain", "clean"): 1}
    statements = {
        f"{KNOWN_BEATS_PLAIN} ({name})": {(loss, "plain", "noisy"): 1, (loss, "known", "noisy"): -1}
        for loss, name in LOSSES.items()
    }
    statements[HINGE_SUFFERS_MORE] = harm
    datasets = [name for name in PAPER_SETS if group_of(name, "hinge", "known", "noisy") in summary]
    return [
        _order(statement, dataset, printed, ours, signs)
        for statement, signs in statements.items()
        for dataset in datasets
        if statement == HINGE_SUFFERS_MORE or dataset not in AT_PAR
    ]


def _order(
    statement: str,
    dataset: str,
    printed: dict[tuple[str, str, str, str], float],
    ours: Callable[[str, str, str, str], Floats],
    signs: dict[tuple[str, str, str], int],
) -> Order:
    """The signed sum of cells, in the paper and in our results."""
    theirs = sum(sign * printed[(dataset, *cell)] for cell, sign in signs.items())
    differences = np.sum([sign * ours(dataset, *cell) for cell, sign in signs.items()], axis=0)
    error = differences.std() / np.sqrt(max(len(differences) - 1, 1))
    return Order(statement, dataset, theirs, float(differences.mean()), float(error))
