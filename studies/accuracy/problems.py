"""What every contestant is given: a split of a set, its training labels recorded with noise, its test labels clean."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints, as_choice
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.noise import adjacent, corrupt, inverse_decay
from studies.accuracy.contests import STANDARD, Contest

TEST_SHARE = 0.2
CUT_CLASSES = 4

LARGEST_WRONG = 0.45
"""No grade is recorded wrong more often than this: where many grades would break it, all slips shrink by one factor."""

NOISES: dict[str, Callable[[int], Floats]] = {
    "uniform": lambda n_classes: inverse_decay(n_classes, 0.15),
    "conditional": lambda n_classes: inverse_decay(n_classes, np.linspace(0.03, 0.2, n_classes)),
    "adjacent": lambda n_classes: adjacent(n_classes, up=0.25, down=0.08),
    "none": lambda n_classes: np.eye(n_classes),
}
"""The noise that each name stands for, before `LARGEST_WRONG`."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows with noisy labels, test rows with clean ones.

    Attributes
    ----------
    features, test_features : array of shape (n_samples, n_features)
        Of the training and of the test rows, as the set has them.
    labels : array of shape (n_samples,)
        As recorded, 0..n_classes-1.
    test_labels : array of shape (n_test_samples,)
        Clean.
    n_classes : int
    noise_matrix : array of shape (n_classes, n_classes)
        The noise that was put in.
    share_wrong : float
        Share of the training labels that it changed.
    seed : int
        For the learner.
    """

    features: NDArray[np.floating[Any]]
    labels: Ints
    test_features: NDArray[np.floating[Any]]
    test_labels: Ints
    n_classes: int
    noise_matrix: Floats
    share_wrong: float
    seed: int


def noise_matrix_for(noise: str, n_classes: int) -> Floats:
    """The study's noise of that name, weakened where needed so that every grade is right at least 55 % of the time.

    Then the matrix is diagonally dominant, hence invertible. Uniform inverse decay keeps its rate of 0.15 up to five
    grades and has 0.135 with six, 0.108 with nine.
    """
    matrix = NOISES[as_choice("noise", noise, NOISES)](n_classes)
    wrong = 1 - matrix.diagonal().min()
    share = min(1.0, LARGEST_WRONG / wrong) if wrong > 0 else 1.0
    return np.eye(n_classes) + share * (matrix - np.eye(n_classes))


def problem_of(contest: Contest, data_dir: str | None = None) -> Problem:
    """The problem that a contest sets; the same for all contestants."""
    data = load_cut(contest.dataset, contest.cut, data_dir)
    training, test = split_rows(data, contest)
    matrix = noise_matrix_for(contest.noise, data.n_classes)
    recorded = corrupt(data.labels[training], matrix, _generator(contest, f"noise {contest.noise}"))
    return Problem(
        features=data.features[training],
        labels=recorded,
        test_features=data.features[test],
        test_labels=data.labels[test],
        n_classes=data.n_classes,
        noise_matrix=matrix,
        share_wrong=float((recorded != data.labels[training]).mean()),
        seed=int(_generator(contest, "learner").integers(2**31)),
    )


@cache
def load_cut(dataset: str, cut: str, data_dir: str | None) -> OrdinalDataset:
    """A set, read once a process, with the grades it comes with or its number cut into four."""
    options = {} if cut == STANDARD else {"n_classes": CUT_CLASSES, "strategy": cut}
    data = load(dataset, data_dir, **options)
    assert isinstance(data, OrdinalDataset)
    return data


def split_rows(data: OrdinalDataset, contest: Contest) -> tuple[Ints, Ints]:
    """Training and test rows: a query on one side, else every grade in proportion; then at most `max_rows` to train."""
    from sklearn.model_selection import GroupShuffleSplit, train_test_split

    seed = int(_generator(contest, "split").integers(2**31))
    rows = np.arange(data.n_samples)
    if data.groups is not None:
        splitter = GroupShuffleSplit(1, test_size=TEST_SHARE, random_state=seed)
        training, test = next(splitter.split(rows, groups=data.groups))
    else:
        training, test = train_test_split(rows, test_size=TEST_SHARE, random_state=seed, stratify=data.labels)
    if contest.max_rows is not None and len(training) > contest.max_rows:
        training = _generator(contest, "rows").choice(training, contest.max_rows, replace=False)
    return np.sort(training), np.sort(test)


def _generator(contest: Contest, purpose: str) -> np.random.Generator:
    """A source of randomness for a set, a split and a purpose; all contestants see the same."""
    texts = (contest.dataset, contest.cut, purpose)
    return np.random.default_rng([contest.split, *(zlib.crc32(text.encode()) for text in texts)])
