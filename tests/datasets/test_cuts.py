from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ordinoise.datasets.cuts import cut_points, interval_names, to_ordinal

WHOLE = st.lists(st.integers(-1000, 1000), min_size=2, max_size=60)
TIED = st.lists(st.integers(0, 12), min_size=2, max_size=80)
CLASSES = st.integers(2, 6)
CUT_WAYS = st.sampled_from(["equal_frequency", "equal_width"])


def graded(target: list[int], n_classes: int, strategy: str) -> np.ndarray:
    """The grades; examples whose ties or gaps are refused are skipped."""
    try:
        return to_ordinal(target, n_classes, strategy)
    except ValueError:
        assume(False)
        raise AssertionError from None


@given(TIED, CLASSES, CUT_WAYS)
def test_a_larger_target_never_has_a_smaller_grade(target: list[int], n_classes: int, strategy: str) -> None:
    labels = graded(target, n_classes, strategy)
    for value, label in zip(target, labels, strict=True):
        assert all(label <= other for bigger, other in zip(target, labels, strict=True) if bigger >= value)


@given(TIED, CLASSES, CUT_WAYS)
def test_every_class_is_used_and_none_beyond(target: list[int], n_classes: int, strategy: str) -> None:
    assert set(graded(target, n_classes, strategy).tolist()) == set(range(n_classes))


@given(WHOLE, CLASSES)
def test_equal_width_is_the_literal_formula(target: list[int], n_classes: int) -> None:
    labels = graded(target, n_classes, "equal_width")
    low, span = min(target), max(target) - min(target)
    literal = [min(n_classes - 1, int(Fraction(value - low, span) * n_classes)) for value in target]
    assert labels.tolist() == literal


@given(st.sets(st.integers(-1000, 1000), min_size=6, max_size=60), CLASSES)
def test_without_ties_class_sizes_differ_by_one_at_most(target: set[int], n_classes: int) -> None:
    sizes = np.bincount(to_ordinal(list(target), n_classes))
    assert sizes.max() - sizes.min() <= 1


@given(TIED, CLASSES)
def test_each_frequency_cut_is_the_nearest_that_ties_allow(target: list[int], n_classes: int) -> None:
    labels = graded(target, n_classes, "equal_frequency")
    possible = [sum(value < cut for value in target) for cut in sorted(set(target))[1:]]
    for j in range(1, n_classes):
        wanted = Fraction(j * len(target), n_classes)
        assert abs(int((labels < j).sum()) - wanted) == min(abs(below - wanted) for below in possible)


@given(TIED, CLASSES)
def test_frequency_sizes_miss_the_even_share_by_less_than_two_ties(target: list[int], n_classes: int) -> None:
    sizes = np.bincount(graded(target, n_classes, "equal_frequency"))
    largest_tie = max(Counter(target).values())
    assert np.abs(sizes - len(target) / n_classes).max() < 2 * largest_tie


@given(WHOLE, CLASSES, CUT_WAYS, st.integers(1, 64), st.integers(-500, 500))
def test_increasing_affine_maps_change_no_grade(
    target: list[int], n_classes: int, strategy: str, scale: int, shift: int
) -> None:
    labels = graded(target, n_classes, strategy)
    moved = to_ordinal([scale * value + shift for value in target], n_classes, strategy)
    assert moved.tolist() == labels.tolist()


@given(TIED, CLASSES)
def test_equal_frequency_sees_only_the_order(target: list[int], n_classes: int) -> None:
    labels = graded(target, n_classes, "equal_frequency")
    assert to_ordinal(np.exp(target), n_classes).tolist() == labels.tolist()


@given(TIED, CLASSES, CUT_WAYS)
def test_cut_points_given_back_as_edges_give_the_same_grades(target: list[int], n_classes: int, strategy: str) -> None:
    labels = graded(target, n_classes, strategy)
    edges = cut_points(target, n_classes, strategy)
    assert to_ordinal(target, strategy="edges", edges=edges).tolist() == labels.tolist()


def test_a_target_on_an_edge_belongs_to_the_grade_above() -> None:
    assert to_ordinal([7, 8, 9.99, 10], strategy="edges", edges=[8, 10]).tolist() == [0, 1, 1, 2]


def test_given_edges_may_leave_a_grade_empty() -> None:
    assert to_ordinal([1, 30], n_classes=4, strategy="edges", edges=[8, 10, 13]).tolist() == [0, 3]


def test_grades_are_named_by_their_intervals() -> None:
    assert interval_names([8, 10.5], "rings") == ("rings < 8", "8 <= rings < 10.5", "rings >= 10.5")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([3, 3, 3], 2), "target must have at least 2 distinct values for 2 classes, got 1"),
        (([1, 2, 3], 4), "target must have at least 4 distinct values for 4 classes, got 3"),
        (([1, float("nan"), 3], 2), "target must be finite, got nan at 1"),
        (([], 2), r"target must not be empty, got shape \(0,\)"),
        (([[1, 2], [3, 4]], 2), r"target must have 1 dimension\(s\), got shape \(2, 2\)"),
        (([0, 0, 0, 0, 0, 0, 1, 2], 3), "few enough ties for 3 classes .* class 1 empty, with two cuts at 1"),
        (([0, 1, 100], 3, "equal_width"), "in each of the 3 classes of equal width, got none in class 1"),
        (([1, 2, 3], 1), "n_classes must be a whole number of at least 2, got 1"),
        (([1, 2, 3],), "n_classes must be given unless strategy is 'edges', got None"),
        (([1, 2, 3], 2, "equal_freq"), "got 'equal_freq'; did you mean 'equal_frequency'"),
        (([1, 2, 3], 2, "equal_width", [2]), "edges must be left out unless strategy is 'edges'"),
        (([1, 2, 3], None, "edges"), "edges must be given when strategy is 'edges', got None"),
        (([1, 2, 3], None, "edges", [2, 1]), "edges must rise strictly, got 2 before 1 at 0"),
        (([1, 2, 3], None, "edges", [1, 1]), "edges must rise strictly, got 1 before 1 at 0"),
        (([1, 2, 3], None, "edges", []), "edges must not be empty"),
        (([1, 2, 3], 4, "edges", [2]), "n_classes must be one more than the 1 edges, got 4; leave it out"),
    ],
)
def test_bad_cuts_are_refused_with_a_sentence(arguments: tuple[object, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as error:
        to_ordinal(*arguments)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
