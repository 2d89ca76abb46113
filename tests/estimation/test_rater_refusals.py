from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

from estimation.made_ratings import SHARP, UP, Ints, graded, quick
from ordinoise.estimation.raters.estimator import from_wide


def test_single_ratings_are_called_unidentified() -> None:
    truth = graded(200, [UP])[0]
    with pytest.warns(UserWarning, match="weakly identified: no item has two ratings"):
        model = quick().fit(np.arange(200), np.arange(200) % 4, truth)
    assert "no item has two ratings" in model.noise_.doubt_text


def test_two_ratings_an_item_are_called_too_few() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quick(shrinkage=50, tol=1e-3).fit(*from_wide(graded(200, [UP, SHARP])[1]))
    assert any("only 0% of the items have three ratings" in str(warning.message) for warning in caught)


def test_enough_ratings_leave_only_the_doubt_that_none_can_settle(ratings: Ints) -> None:
    noise = quick().fit(*from_wide(ratings)).noise_
    assert noise.doubt_codes == ("shared-bias",)
    assert "only verified grades" in noise.doubt_text


def test_an_unfinished_fit_says_so(ratings: Ints) -> None:
    with pytest.warns(ConvergenceWarning, match=r"more than tol=1e-06 after 3 steps; raise max_iter"):
        quick(max_iter=3, tol=1e-6).fit(*from_wide(ratings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shrinkage": -1}, "shrinkage must be at least 0 and at most .*, got -1"),
        ({"shrinkage": "strong"}, "shrinkage must be 'auto' or a number of at least 0, got 'strong'"),
        ({"family": "matrix"}, "family must be one of .*; did you mean 'matrices'?"),
        ({"n_bootstrap": -1}, "n_bootstrap must be a whole number of at least 0, got -1"),
        ({"confidence": 1.5}, "confidence must be above 0 and at most 1, got 1.5"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"tol": -1.0}, "tol must be at least 0, got -1.0"),
        ({"classes": [0, 1]}, r"labels must hold only the labels \[0, 1\], got 2"),
        ({"estimator": GaussianNB()}, "X must be given where estimator is, got None"),
        ({"decision": "medium"}, "decision must be one of .*; did you mean 'median'?"),
    ],
)
def test_a_wrong_setting_is_named_in_one_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        quick(**settings).fit([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 2])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (([], [], []), "labels must not be empty, got no rating"),
        (([0, 1], [0, 0, 0], [0, 1, 1]), r"items must be as long as labels \(3\), got 2"),
        (([0, 1, 1], [0, 0], [0, 1, 1]), r"raters must be as long as labels \(3\), got 2"),
        (([0, 1], [0, 0], [0, np.nan]), "labels must have no missing value, got nan at 1; drop the rating"),
        (([0, 1], np.array(["a", None]), [0, 1]), "raters must have no missing value, got None at 1"),
        ((np.array([0, "a"], dtype=object), [0, 0], [0, 1]), "items must be all numbers or all text, got a mixture"),
        (([0, 1], [0, 0], [2, 2]), r"labels must hold at least 2 classes, got \[2\]"),
        (([0, 1], [0, 0], [0, 1], [[1.0]]), r"X must be as long as the distinct items \(2\), got 1"),
        (([0, 1], [0, 0], [0, 1], [[1.0], [2.0]]), "X must have at least 5 rows, to predict out of fold, got 2"),
        (([0, 1], [0, 0], [0, 1], [[1.0], [np.inf]]), r"X must be finite, got inf at \(1, 0\)"),
    ],
)
def test_bad_ratings_are_refused_in_one_sentence(data: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        quick().fit(*data)


@pytest.mark.parametrize(
    ("trusted", "message"),
    [
        ([[0, 1], [1, 1], [2, 2]], "trusted must be a pair of items and verified grades"),
        (([0, 9], [1, 1]), "trusted items must be among the items, got 9"),
        (([0, 0], [1, 1]), "trusted items must name every item once, got some twice"),
        (([0, 1], [1]), r"trusted grades must be as long as the trusted items \(2\), got 1"),
        (([0], [7]), r"trusted grades must hold only the labels \[0, 1, 2\], got 7"),
    ],
)
def test_bad_verified_grades_are_refused_in_one_sentence(trusted: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        quick().fit([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 2], trusted=trusted)


def test_progress_is_reported(ratings: Ints) -> None:
    steps: list[int] = []
    quick(callback=lambda: steps.append(1)).fit(*from_wide(ratings))
    assert len(steps) > 50


def test_a_flat_table_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"ratings must have one row per item and one column per rater, got shape \(2,\)"
    ):
        from_wide([0, 1])
