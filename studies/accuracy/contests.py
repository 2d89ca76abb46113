"""The study as data: contests, each a record of plain values, and the plan of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from ordinoise._validation import as_choice, as_count
from ordinoise.datasets.catalogue import describe

if TYPE_CHECKING:
    from studies.accuracy.contestants import Contestant

STANDARD = "standard"
"""The set's own grades, or the paper's cut of its target."""

CUTS: dict[str, tuple[str, ...]] = {
    "boston": (STANDARD,),
    "abalone": (STANDARD,),
    "computer": (STANDARD,),
    "california": ("equal_width", "equal_frequency"),
    "mslr": (STANDARD,),
    **dict.fromkeys(
        ("ERA", "LEV", "SWD", "automobile", "balance-scale", "car", "newthyroid", "toy", "winequality-red"), (STANDARD,)
    ),
}
"""The sets of the study, and the cuts of each."""

NOISE_NAMES = ("uniform", "conditional", "adjacent", "perceived", "none")


@dataclass(frozen=True)
class Contest:
    """One contestant on one split of one set under one noise.

    Attributes
    ----------
    dataset : str
        A name for `ordinoise.datasets.load`.
    cut : {"standard", "equal_width", "equal_frequency"}
        The set's own grades, or its target cut into four.
    noise : {"uniform", "conditional", "adjacent", "perceived", "none"}
        Noise of the training labels; test labels are clean.
    contestant : str
        A name from `CONTESTANTS`.
    split : int
        Number of the 80/20 split.
    max_rows : int or None
        Largest number of training rows, drawn at random from those of the split; test rows are never dropped.
    """

    dataset: str
    cut: str
    noise: str
    contestant: str
    split: int
    max_rows: int | None = None

    @property
    def cost(self) -> float:
        """Rough processor seconds of the fit; the 1e5 is a round number, chosen by no run."""
        data = describe(self.dataset)
        rows = 0.8 * data.n_rows if self.max_rows is None else min(0.8 * data.n_rows, self.max_rows)
        return _everybody()[self.contestant].seconds * (1 + rows * data.n_features / 1e5)


@dataclass(frozen=True)
class Preset:
    """A size of the study.

    Attributes
    ----------
    splits : int
        Number of splits per set.
    max_rows : int or None
        Largest number of training rows.
    with_slow : bool
        Whether slow contestants take part.
    """

    splits: int
    max_rows: int | None
    with_slow: bool


PRESETS = {"default": Preset(splits=10, max_rows=4000, with_slow=True), "quick": Preset(3, 2000, with_slow=False)}
"""The whole study, and a quick one: round numbers, chosen by no run."""


def plan(
    preset: str = "default",
    *,
    datasets: Iterable[str] | None = None,
    contestants: Iterable[str] | None = None,
    noises: Iterable[str] | None = None,
    splits: int | None = None,
    max_rows: int | None = None,
) -> tuple[Contest, ...]:
    """The contests to run, split by split, so that an interrupted run has complete splits.

    Parameters
    ----------
    preset : {"default", "quick"}
        Defaults of the other arguments: ten splits and at most 4000 training rows, or three splits, at most 2000 rows
        and no slow contestants.
    datasets : iterable of str, optional
        Some of `CUTS`; all by default.
    contestants : iterable of str, optional
        Some of `CONTESTANTS`; by default all those whose packages are installed.
    noises : iterable of str, optional
        Some of uniform, conditional, adjacent, none; all by default.
    splits : int, optional
        Number of splits.
    max_rows : int, optional
        Largest number of training rows.

    Returns
    -------
    tuple of Contest
    """
    size = PRESETS[as_choice("preset", preset, PRESETS)]
    rows = size.max_rows if max_rows is None else as_count("max_rows", max_rows, 1)
    n_splits = size.splits if splits is None else as_count("splits", splits, 1)
    problems = [(name, cut) for name in _chosen("datasets", datasets, CUTS) for cut in CUTS[name]]
    opponents = tuple(_present(size)) if contestants is None else _chosen("contestants", contestants, _everybody())
    return tuple(
        Contest(dataset, cut, noise, contestant, split, rows)
        for split, (dataset, cut), noise, contestant in product(
            range(n_splits), problems, _chosen("noises", noises, NOISE_NAMES), opponents
        )
    )


def _everybody() -> dict[str, Contestant]:
    # Imported late: the contestants import this module.
    from studies.accuracy.contestants import CONTESTANTS

    return CONTESTANTS


def _present(size: Preset) -> Iterator[str]:
    """Contestants whose packages are installed; slow ones only if the preset includes them."""
    for name, contestant in _everybody().items():
        if not contestant.absent_packages and (size.with_slow or not contestant.is_slow):
            yield name


def _chosen(argument: str, names: Iterable[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    choices = tuple(known)
    return choices if names is None else tuple(as_choice(argument, name, choices) for name in names)
