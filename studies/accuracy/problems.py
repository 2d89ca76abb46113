"""The data of a contest: a split of a set, with noise in its training labels."""

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
from ordinoise.noise import adjacent, corrupt, inverse_decay, perceived
from ordinoise.noise.items import mean_matrix, positions_within
from studies.accuracy.contests import STANDARD, Contest

# The paper's share of test rows, and its number of grades of California.
TEST_SHARE = 0.2
CUT_CLASSES = 4

LARGEST_WRONG = 0.45
"""Largest share of wrong labels of a grade: a round number below one half, so that the matrix stays invertible."""

NOISES: dict[str, Callable[[int], Floats]] = {
    "uniform": lambda n_classes: inverse_decay(n_classes, 0.15),
    "conditional": lambda n_classes: inverse_decay(n_classes, np.linspace(0.03, 0.2, n_classes)),
    "adjacent": lambda n_classes: adjacent(n_classes, up=0.25, down=0.08),
    "none": lambda n_classes: np.eye(n_classes),
}
"""The noise matrix of each name, before `LARGEST_WRONG` is applied. Uniform is the paper's noise; the other rates are
chosen by no run."""
PERCEIVED, SPREAD = "perceived", 0.5
"""Noise that depends on the item, not on its grade alone: its place is seen with an error of this standard deviation,
in grades. Chosen by no run; about a third of the labels is wrong."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows with noisy labels, test rows with clean ones.

    Attributes
    ----------
    features, test_features : array of shape (n_samples, n_features)
        Of the training and of the test rows.
    labels : array of shape (n_samples,)
        Noisy labels, 0..n_classes-1.
    test_labels : array of shape (n_test_samples,)
        Clean labels.
    n_classes : int
    noise_matrix : array of shape (n_classes, n_classes)
        The noise of the training labels.
    share_wrong : float
        Share of wrong training labels.
    seed : int
        Seed of the learner.
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
    """The noise matrix of that name, scaled down if needed so that every grade is right at least 55 % of the time.

    Then the matrix is diagonally dominant, hence invertible. All off-diagonal entries are scaled by one factor: uniform
    inverse decay keeps its rate of 0.15 up to five grades and has 0.135 with six, 0.108 with nine.
    """
    matrix = NOISES[as_choice("noise", noise, NOISES)](n_classes)
    wrong = 1 - matrix.diagonal().min()
    share = min(1.0, LARGEST_WRONG / wrong) if wrong > 0 else 1.0
    return np.eye(n_classes) + share * (matrix - np.eye(n_classes))


def problem_of(contest: Contest, data_dir: str | None = None) -> Problem:
    """The data of a contest, the same for all contestants."""
    data = load_cut(contest.dataset, contest.cut, data_dir)
    training, test = split_rows(data, contest)
    true, rng = data.labels[training], _generator(contest, f"noise {contest.noise}")
    if contest.noise == PERCEIVED:
        matrices = perceived_matrices(data.features[training], true, data.n_classes)
        matrix, recorded = mean_matrix(matrices, true), corrupt(true, matrices, rng)
    else:
        matrix = noise_matrix_for(contest.noise, data.n_classes)
        recorded = corrupt(true, matrix, rng)
    return Problem(
        features=data.features[training],
        labels=recorded,
        test_features=data.features[test],
        test_labels=data.labels[test],
        n_classes=data.n_classes,
        noise_matrix=matrix,
        share_wrong=float((recorded != true).mean()),
        seed=int(_generator(contest, "learner").integers(2**31)),
    )


def perceived_matrices(features: NDArray[np.floating[Any]], true: Ints, n_classes: int) -> Floats:
    """One matrix per row: rows lie within their grade in the order of a ridge regression's predictions."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    values = make_pipeline(StandardScaler(), Ridge()).fit(features, true).predict(features)
    return perceived(positions_within(true, values), np.arange(1.0, n_classes), SPREAD)


@cache
def load_cut(dataset: str, cut: str, data_dir: str | None) -> OrdinalDataset:
    """A set, read once per process, with its own grades or its target cut into four."""
    options = {} if cut == STANDARD else {"n_classes": CUT_CLASSES, "strategy": cut}
    data = load(dataset, data_dir, **options)
    assert isinstance(data, OrdinalDataset)
    return data


def split_rows(data: OrdinalDataset, contest: Contest) -> tuple[Ints, Ints]:
    """Training rows, at most `max_rows`, and test rows; split by query if there are any, else stratified by grade."""
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
    """A random generator for each set, split and purpose, the same for all contestants."""
    texts = (contest.dataset, contest.cut, purpose)
    return np.random.default_rng([contest.split, *(zlib.crc32(text.encode()) for text in texts)])
