"""Reviewers err too: how often, from rows that were graded twice, and what a grade of theirs is then worth."""

import numpy as np
import pytest

from ordinoise import adjacent, corrupt, inverse_decay
from ordinoise.audit.reviewers import reviewers_from_repeats
from ordinoise.audit.search import issues_from_probabilities
from ordinoise.labels import Verified, trusted_ranks


def test_the_error_of_a_reviewer_is_found_within_three_standard_errors() -> None:
    true = np.random.default_rng(0).integers(5, size=4000)
    errs = adjacent(5, up=0.03, down=0.02)
    looks = np.column_stack([corrupt(true, errs, seed) for seed in (1, 2)])
    found = reviewers_from_repeats([("Ann", "Ann")] * 4000, looks, 5)
    wrong = (looks != true[:, None]).mean()
    assert abs(found.rate - wrong) < 3 * np.sqrt(wrong / looks.size)
    np.testing.assert_allclose(found.matrix("Ann").sum(axis=1), 1)
    assert found.matrix("Ann")[2, 0] < 0.05 * found.matrix("Ann")[2, 1]  # its slips are by one grade


def test_decisions_together_tell_which_of_two_reviewers_erred() -> None:
    rng = np.random.default_rng(3)
    true = rng.integers(4, size=300)
    looks = np.column_stack([corrupt(true, adjacent(4, up=rate, down=rate), 5) for rate in (0.005, 0.1)])
    names, differs = [("Ann", "Ben")] * 300, looks[:, 0] != looks[:, 1]
    decided = np.where(differs, true, -1)
    found = reviewers_from_repeats(names, looks, 4, decided=decided)
    assert found.rates["Ben"] > 5 * found.rates["Ann"]
    swapped = reviewers_from_repeats([("Ben", "Ann")] * 300, looks[:, ::-1], 4, decided=decided)
    assert swapped.rates == pytest.approx(found.rates)
    assert found.matrix("nobody").diagonal().tolist() == pytest.approx([1 - found.rate] * 4)


def test_two_looks_that_agree_are_worth_more_than_one_and_never_differing_ones_are_not_taken_to_be_right() -> None:
    found = reviewers_from_repeats([("Ann", "Ben")] * 20, [[1, 1]] * 20, 3)
    assert 0 < found.rate < 0.03
    assert (found.agreement("Ann", "Ben").diagonal() > found.matrix("Ann").diagonal()).all()


def test_the_posterior_of_a_verified_row_is_bayes_rule_with_record_and_verdict() -> None:
    rng, noise, errs = np.random.default_rng(0), inverse_decay(4, 0.1), adjacent(4, up=0.1, down=0.3)
    chances = rng.dirichlet(np.ones(4), 60)
    recorded, rows, said = rng.integers(4, size=60), np.array([4, 9]), np.array([1, 2])
    verified = Verified(rows, said, errs)
    found = issues_from_probabilities(chances, recorded, noise, classes=range(4), trusted=verified, calibrate=False)
    joint = chances[rows] * noise[:, recorded[rows]].T * errs[:, said].T
    np.testing.assert_allclose(found.posterior[rows], joint / joint.sum(axis=1, keepdims=True), rtol=1e-6)
    sure = issues_from_probabilities(chances, recorded, noise, classes=range(4), trusted=(rows, said), calibrate=False)
    np.testing.assert_array_equal(sure.posterior[rows], np.eye(4)[said])


@pytest.mark.parametrize(
    ("verified", "sentence"),
    [
        (Verified([0, 1], [1, 1], np.eye(3)), "noise_matrix must be 4 x 4"),
        (Verified([0, 1], [1, 1], np.stack([np.eye(4)] * 3)), "must have one matrix, or one for each of 2, got 3"),
        (Verified([0, 1], [1, 1], is_recorded=[True]), r"is_recorded must be as long as the trusted rows \(2\), got 1"),
        (
            Verified([0, 1], [1, 1], drawn="randomly"),
            r"drawn must be one of \['random', 'chosen'\], got 'randomly'; did",
        ),
        (Verified([0, 1], [1, 1], drawn=["random", "all"]), r"drawn must be one of .*, got 'all'"),
        (Verified([0, 1], [1, 1], drawn=["random"]), r"drawn must be as long as the trusted rows \(2\), got 1"),
    ],
)
def test_verified_labels_that_do_not_fit_are_refused_in_one_sentence(verified: Verified, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        issues_from_probabilities(np.full((5, 4), 0.25), [0, 1, 2, 3, 0], inverse_decay(4, 0.1), trusted=verified)


def test_repeats_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="grades must not be empty"):
        reviewers_from_repeats([], np.empty((0, 2), dtype=int), 4)


def test_some_of_the_verified_labels_keep_how_each_was_drawn() -> None:
    verified = trusted_ranks(Verified([5, 2, 9], [3, 1, 2], drawn=["random", "chosen", "random"]), np.arange(4), 10)
    some = verified.among(np.array([2, 4, 9]))
    assert some is not None
    assert (some.rows.tolist(), some.labels.tolist(), some.drawn.tolist()) == ([0, 2], [1, 2], ["chosen", "random"])
    assert trusted_ranks(([5], [3]), np.arange(4), 10).drawn.tolist() == ["chosen"]
