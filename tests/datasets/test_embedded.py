from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from ordinoise.datasets import diabetes, synthetic, to_ordinal

Box = tuple[float, tuple[float, float], tuple[float, float]]

# The paper's mixtures, written out once more: weight, range of x1, range of x2.
MIXTURES: list[list[Box]] = [
    [(0.45, (-1, 0), (-1, 1)), (0.5, (-4, -3), (0, 1)), (0.05, (-10, 0), (-5, 5))],
    [(0.45, (0, 1), (-1, 1)), (0.5, (6, 7), (-1, 0)), (0.05, (0, 10), (-5, 5))],
    [(0.45, (19, 20), (-1, 1)), (0.5, (16, 17), (-2, -1)), (0.05, (10, 20), (-5, 5))],
    [(0.45, (20, 21), (-1, 1)), (0.5, (26, 27), (-3, -2)), (0.05, (20, 30), (-5, 5))],
]


def share_in(box: Box, mixture: list[Box]) -> float:
    """The chance that a point of the mixture falls into the box: overlap of areas, component by component."""
    share = 0.0
    for weight, *ranges in mixture:
        part = weight
        for (low, high), (inner_low, inner_high) in zip(ranges, box[1:], strict=True):
            part *= max(0.0, min(high, inner_high) - max(low, inner_low)) / (high - low)
        share += part
    return share


def inside(points: np.ndarray, box: Box) -> np.ndarray:
    (low1, high1), (low2, high2) = box[1:]
    first, second = points.T
    return (low1 <= first) & (first <= high1) & (low2 <= second) & (second <= high2)


def test_synthetic_has_the_papers_size() -> None:
    data = synthetic(random_state=0)
    assert data.features.shape == (8000, 2)
    assert np.bincount(data.labels).tolist() == [2000] * 4
    assert data.n_classes == 4


@pytest.mark.parametrize("grade", range(4))
def test_synthetic_fills_each_box_with_its_share_within_five_standard_errors(grade: int) -> None:
    n = 20_000
    data = synthetic(n, random_state=grade)
    points, mixture = data.features[data.labels == grade], MIXTURES[grade]
    for box in mixture:
        share = share_in(box, mixture)
        standard_error = np.sqrt(share * (1 - share) / n)
        assert abs(inside(points, box).mean() - share) <= 5 * standard_error


@pytest.mark.parametrize("grade", range(4))
def test_synthetic_points_lie_in_the_boxes_of_their_grade(grade: int) -> None:
    data = synthetic(random_state=7)
    points = data.features[data.labels == grade]
    assert np.any([inside(points, box) for box in MIXTURES[grade]], axis=0).all()


@pytest.mark.parametrize("grade", range(4))
def test_synthetic_is_uniform_inside_its_crowded_box(grade: int) -> None:
    data = synthetic(20_000, random_state=11)
    box = MIXTURES[grade][1]
    points = data.features[data.labels == grade]
    within = points[inside(points, box)]
    for axis, (low, high) in enumerate(box[1:]):
        standard_error = (high - low) / np.sqrt(12 * len(within))
        assert abs(within[:, axis].mean() - (low + high) / 2) <= 5 * standard_error


def test_cutting_the_first_feature_gives_every_grade_of_synthetic() -> None:
    for seed in range(5):
        data = synthetic(random_state=seed)
        rule = to_ordinal(data.features[:, 0], strategy="edges", edges=[0, 10, 20])
        assert np.mean(rule == data.labels) == 1.0


def test_same_seed_same_synthetic_and_other_seed_other() -> None:
    first, again, other = (synthetic(100, random_state=seed).features for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_synthetic_draws_from_the_generator_it_is_given() -> None:
    rng = np.random.default_rng(3)
    assert np.array_equal(synthetic(50, random_state=rng).features, synthetic(50, random_state=3).features)
    assert not np.array_equal(synthetic(50, random_state=rng).features, synthetic(50, random_state=3).features)


def test_synthetic_leaves_the_global_generator_alone() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    synthetic(50)
    assert np.array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002


def test_synthetic_refuses_an_empty_class() -> None:
    with pytest.raises(ValueError, match="n_per_class must be a whole number of at least 1, got 0"):
        synthetic(0)


def test_diabetes_is_scikit_learns_study_with_its_target_cut() -> None:
    data, bunch = diabetes(), load_diabetes(scaled=False)
    assert np.array_equal(data.features, bunch.data)
    assert data.target is not None
    assert np.array_equal(data.target, bunch.target)
    assert np.array_equal(data.labels, to_ordinal(bunch.target, 5))
    assert data.n_classes == 5


def test_diabetes_can_be_cut_otherwise() -> None:
    assert diabetes(3, "equal_width").n_classes == 3
    by_edges = diabetes(strategy="edges", edges=[100, 200])
    assert by_edges.class_names == ("progression < 100", "100 <= progression < 200", "progression >= 200")
