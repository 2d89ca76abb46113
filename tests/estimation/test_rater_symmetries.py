from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from estimation.made_ratings import SHARP, UP, Ints, graded, quick
from ordinoise.estimation.raters.estimator import from_wide
from ordinoise.estimation.raters.ratings import Ratings, hiding_folds
from ordinoise.estimation.raters.summary import doubts

unfinished = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@unfinished
def test_the_order_of_ratings_does_not_matter(ratings: Ints) -> None:
    items, raters, labels = from_wide(ratings)
    order = np.random.default_rng(5).permutation(len(items))
    one = quick(family="matrices", n_bootstrap=3, max_iter=3).fit(items, raters, labels)
    other = quick(family="matrices", n_bootstrap=3, max_iter=3).fit(items[order], raters[order], labels[order])
    np.testing.assert_array_equal(one.posterior_, other.posterior_)
    np.testing.assert_array_equal(one.noise_.interval, other.noise_.interval)


@pytest.mark.slow
def test_renamed_items_and_raters_only_move_the_answer(ratings: Ints) -> None:
    """Renaming moves which ratings are hidden, and with them the weights; the fits themselves only change places."""
    items, raters, labels = from_wide(ratings)
    new_items, new_raters = np.random.default_rng(6).permutation(400), np.array(["d", "a", "e", "c", "b"])
    for family in ("matrices", "perception"):
        one = quick(family=family, shrinkage=4).fit(items, raters, labels)
        other = quick(family=family, shrinkage=4).fit(new_items[items], new_raters[raters], labels)
        assert other.raters_.tolist() == list("abcde")
        assert (other.consensus_[new_items] == one.consensus_).mean() > 0.95
        if family == "matrices":
            np.testing.assert_allclose(other.posterior_[new_items], one.posterior_, atol=1e-6)
            moved = other.noise_.matrices[np.argsort(np.argsort(new_raters))]
            np.testing.assert_allclose(moved, one.noise_.matrices, atol=1e-6)


@unfinished
@pytest.mark.parametrize("family", ["matrices", "perception"])
def test_reversed_grades_mirror_the_answer(ratings: Ints, family: str) -> None:
    items, raters, labels = from_wide(ratings)
    one = quick(family=family, shrinkage=4, max_iter=3).fit(items, raters, labels)
    other = quick(family=family, shrinkage=4, max_iter=3).fit(items, raters, 3 - labels)
    np.testing.assert_allclose(other.noise_.matrices[:, ::-1, ::-1], one.noise_.matrices, atol=1e-6)
    np.testing.assert_array_equal(3 - other.consensus_, one.consensus_)


@unfinished
def test_the_same_seed_gives_the_same_answer_and_another_seed_other_resamples(ratings: Ints) -> None:
    one, same, other = (
        quick(family="matrices", n_bootstrap=4, max_iter=3, random_state=seed).fit(*from_wide(ratings))
        for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(one.noise_.interval, same.noise_.interval)
    assert (np.asarray(one.noise_.interval) != np.asarray(other.noise_.interval)).any()


@unfinished
@pytest.mark.parametrize(
    "grades", [[1, 2, 3, 4], [0, 10, 20, 90], ["poor", "fair", "good", "best"], [0.5, 1.0, 1.5, 2.0]]
)
def test_grades_of_any_kind_give_the_same_consensus(ratings: Ints, grades: list[Any]) -> None:
    items, raters, labels = from_wide(ratings)
    names = np.array(grades)
    plain = quick(family="matrices", max_iter=3).fit(items, raters, labels)
    named = quick(family="matrices", max_iter=3, classes=grades).fit(items, raters, names[labels])
    ordered = quick(family="matrices", max_iter=3).fit(
        items, raters, pd.Series(pd.Categorical(names[labels], categories=grades, ordered=True))
    )
    assert named.consensus_.tolist() == ordered.consensus_.tolist() == names[plain.consensus_].tolist()


def test_a_class_that_nobody_used_is_kept() -> None:
    items, raters, labels = from_wide(graded(300, [UP, SHARP, SHARP])[1])
    with pytest.warns(UserWarning, match="labels fall on the true grade 4, too few for its row"):
        model = quick(family="matrices", classes=range(5)).fit(items, raters, labels)
    assert model.noise_.matrices.shape == (3, 5, 5)
    np.testing.assert_allclose(model.noise_.matrices.sum(axis=2), 1)


def test_a_grade_that_is_mostly_recorded_as_another_is_named_as_its_owner_names_it() -> None:
    true = np.repeat([0, 1, 2], 60)
    matrix = np.array([[0.9, 0.05, 0.05], [0.1, 0.3, 0.6], [0.05, 0.05, 0.9]])  # the middle grade goes up
    average: Any = SimpleNamespace(posterior=np.eye(3)[true], matrices=matrix[None])
    ratings = Ratings(np.arange(180).repeat(3), np.zeros(540, dtype=np.int64), true.repeat(3), (180, 1, 3))
    found = doubts(average, ratings, ratings, np.array(["low", "middle", "high"]), n_trusted=0)
    (shifted,) = [doubt.sentence for doubt in found if doubt.code == "shifted-class"]
    assert shifted.startswith("items of the true grade middle mostly have another label")
    assert not doubts(average, ratings, ratings, np.array(["low", "middle", "high"]), n_trusted=5)


# From wide to long ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["minus one", "nan", "frame", "nullable"])
def test_every_kind_of_blank_is_no_rating(kind: str) -> None:
    wide: Any = np.array([[2, -1, 0], [-1, 1, 1]])
    if kind != "minus one":
        wide = np.where(wide < 0, np.nan, wide)
    if kind in {"frame", "nullable"}:
        wide = pd.DataFrame(wide, columns=["ann", "bob", "cid"])
    if kind == "nullable":
        wide = wide.astype("Int64")
    items, raters, labels = from_wide(wide)
    names = ["ann", "bob", "cid"] if kind in {"frame", "nullable"} else [0, 1, 2]
    assert items.tolist() == [0, 0, 1, 1]
    assert raters.tolist() == [names[column] for column in (0, 2, 1, 2)]
    assert labels.tolist() == [2, 0, 1, 1]
    assert labels.dtype.kind == "i"


def test_minus_one_may_be_a_grade() -> None:
    labels = from_wide([[-1, 0], [1, -1]], missing=None)[2]
    assert labels.tolist() == [-1, 0, 1, -1]


def test_hidden_ratings_leave_every_item_one_and_each_is_hidden_once() -> None:
    items = np.repeat(np.arange(60), np.arange(60) % 9 + 1)
    fold = hiding_folds(items, 5, np.random.default_rng(0))
    for hidden in range(5):
        assert set(items[fold != hidden]) == set(range(60))
    assert ((fold == -1) == (np.bincount(items)[items] == 1)).all()
    assert np.bincount(fold[fold >= 0]).min() > 40
