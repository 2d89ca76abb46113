"""Ours beside the paper's: every printed cell, what each correction wins back, the orders that its discussion names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ordinoise._validation import Floats
from ordinoise.paper.printed import PrintedError, table1
from ordinoise.paper.protocol import PAPER_SETS
from ordinoise.paper.runs.store import StoredResult

METRICS = {"mae": "mean_absolute_error", "zero_one": "zero_one_loss"}
SMALLEST_TOLERANCE = 0.03


class Group(NamedTuple):
    """Trials that differ only in their split."""

    dataset: str
    loss: str
    correction: str
    variant: str
    noise: str


@dataclass(frozen=True)
class Measured:
    """What the splits of a group gave, in the order of the splits."""

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


def summarise(results: Iterable[StoredResult]) -> Summary:
    """Results brought together by group."""
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
    """Where the paper's cell is found here. On clean labels the known matrix is the identity: the plain loss."""
    if variant == "plain" or (variant == "known" and train_on == "clean"):
        return Group(dataset, loss, "none", "plain", "none" if train_on == "clean" else "uniform")
    return Group(dataset, loss, "unbiased", variant, "none" if train_on == "clean" else "uniform")


@dataclass(frozen=True)
class Comparison:
    """A printed cell of Table 1, and ours."""

    printed: PrintedError
    mean: float
    sd: float
    n_splits: int

    @property
    def difference(self) -> float:
        """Ours minus theirs."""
        return self.mean - self.printed.mean

    @property
    def is_within(self) -> bool:
        """Whether ours lies within .03, or two printed standard deviations if that is more."""
        return abs(self.difference) <= max(SMALLEST_TOLERANCE, 2 * self.printed.sd) + 1e-12


def compare(summary: Summary) -> list[Comparison]:
    """Every printed cell of Table 1 that was run."""
    found = []
    for cell in table1():
        measured = summary.get(group_of(cell.dataset, cell.loss, cell.variant, cell.train_on))
        if measured is not None:
            errors = measured.errors(cell.metric)
            found.append(Comparison(cell, float(errors.mean()), float(errors.std()), len(errors)))
    return found


def recovered(summary: Summary, group: Group, metric: str = "mae") -> float:
    """Share of the damage done by noise that a variant wins back: ``(noisy - ours) / (noisy - clean)``.

    Noisy and clean are the uncorrected network of the same loss. NaN where noise did no damage.
    """
    plain = Group(group.dataset, group.loss, "none", "plain", group.noise)
    noisy, clean = (summary[one].errors(metric).mean() for one in (plain, plain._replace(noise="none")))
    return float((noisy - summary[group].errors(metric).mean()) / (noisy - clean)) if noisy > clean else float("nan")


@dataclass(frozen=True)
class Order:
    """A statement of the paper's discussion, held against its table and against ours.

    Attributes
    ----------
    statement : str
    dataset : str
    printed, ours : float
        The difference that the statement is about; positive where it holds.
    standard_error : float
        Of ours, over the splits.
    """

    statement: str
    dataset: str
    printed: float
    ours: float
    standard_error: float

    @property
    def is_printed(self) -> bool:
        """Whether the paper's own table shows it."""
        return self.printed > 1e-9

    @property
    def is_seen(self) -> bool:
        """Whether ours shows it too."""
        return self.ours > 0


KNOWN_BEATS_PLAIN = "known rates beat the plain loss on noisy labels"
# Too small to tell, the paper says: known rates and the plain loss are at par there.
AT_PAR = ("boston",)
HINGE_SUFFERS_MORE = "noise harms the hinge more than cross-entropy"


def orders(summary: Summary) -> list[Order]:
    """The orders that the paper's discussion names, one line a set (and loss)."""
    printed = {(c.dataset, c.loss, c.variant, c.train_on): c.mean for c in table1() if c.metric == "mae"}

    def ours(dataset: str, loss: str, variant: str, train_on: str) -> Floats:
        return summary[group_of(dataset, loss, variant, train_on)].mean_absolute_errors

    harm = {("hinge", "plain", "noisy"): 1, ("hinge", "plain", "clean"): -1}
    harm |= {("cross_entropy", "plain", "noisy"): -1, ("cross_entropy", "plain", "clean"): 1}
    statements = {
        f"{KNOWN_BEATS_PLAIN} ({loss.replace('_', '-')})": {(loss, "plain", "noisy"): 1, (loss, "known", "noisy"): -1}
        for loss in ("cross_entropy", "hinge")
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
    """The signed sum of cells, in the paper and here."""
    theirs = sum(sign * printed[(dataset, *cell)] for cell, sign in signs.items())
    differences = np.sum([sign * ours(dataset, *cell) for cell, sign in signs.items()], axis=0)
    error = differences.std() / np.sqrt(max(len(differences) - 1, 1))
    return Order(statement, dataset, theirs, float(differences.mean()), float(error))
