"""Densities and thresholds along the score."""

import numpy as np
import pytest

from app.report.cases import findings, slipping
from ordinoise.app.report.axis import score_axis, unreachable
from ordinoise.audit import issues_from_probabilities


def line_of_probabilities(n_rows: int) -> np.ndarray:
    """Probabilities of three grades that move evenly from the lowest to the highest."""
    share = np.linspace(0, 1, n_rows)
    return np.column_stack([(1 - share) ** 2, 2 * share * (1 - share), share**2])


def test_thresholds_are_where_the_higher_grades_reach_one_half() -> None:
    probabilities = line_of_probabilities(4001)
    found = score_axis(probabilities, np.zeros(4001, dtype=np.int64), slipping(3))
    # P(y > 0) = 1 - (1 - s)^2 and P(y > 1) = s^2 reach one half at these shares; the score is twice the share.
    assert found.thresholds == pytest.approx([2 * (1 - np.sqrt(0.5)), 2 * np.sqrt(0.5)], abs=1e-3)
    assert unreachable(found) == []


def test_grades_beyond_the_thresholds_that_are_crossed_are_unreachable() -> None:
    probabilities = line_of_probabilities(400)[120:260]
    found = score_axis(probabilities, np.zeros(140, dtype=np.int64), slipping(3))
    assert np.isneginf(found.thresholds[0])
    assert np.isposinf(found.thresholds[1])
    assert unreachable(found) == [0, 2]


def test_hills_have_the_same_area_and_a_grade_without_rows_has_none() -> None:
    case = findings(4, 500)
    recorded = np.minimum(case.recorded, 2)
    found = score_axis(case.probabilities, recorded, slipping(4))
    assert found.of_true.mean(axis=1) == pytest.approx(1)
    assert found.of_recorded.mean(axis=1) == pytest.approx([1, 1, 1, 0])
    assert found.expected_counts.sum() == pytest.approx(500)


def test_a_row_counts_for_a_grade_as_the_audit_has_it() -> None:
    case = findings(4, 500)
    found = score_axis(case.probabilities, case.recorded, slipping(4))
    audited = issues_from_probabilities(case.probabilities, case.recorded, slipping(4), calibrate=False)
    np.testing.assert_allclose(found.expected_counts, audited.posterior.sum(axis=0))


def test_without_noise_the_recorded_grade_is_the_true_one() -> None:
    case = findings(4, 500, matrix=np.eye(4))
    found = score_axis(case.probabilities, case.recorded, np.eye(4))
    np.testing.assert_allclose(found.of_true, found.of_recorded, atol=1e-6)
    np.testing.assert_allclose(found.expected_counts, np.bincount(case.recorded), atol=1e-4)


def test_noise_spreads_the_recorded_grades_wider_than_the_true_ones() -> None:
    case = findings(5, 5000)
    found = score_axis(case.probabilities, case.recorded, slipping(5))
    centre = found.of_true[2] @ found.places / found.of_true[2].sum()
    spread = [hill @ (found.places - centre) ** 2 / hill.sum() for hill in (found.of_true[2], found.of_recorded[2])]
    assert spread[0] < spread[1]
