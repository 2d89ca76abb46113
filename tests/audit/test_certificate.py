"""Spot checks: exact bounds, whatever the strata and whatever the model believes."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from ordinoise.audit import spot_check, spot_check_sample
from ordinoise.audit.certificate import repeat_error
from ordinoise.audit.gain import rating_gain, verification_gain
from ordinoise.audit.reviewers import reviewers_from_repeats


def test_one_stratum_is_the_inverted_hypergeometric_test() -> None:
    found = spot_check(400, 50, 3, confidence=0.9)
    assert hypergeom.cdf(3, 400, found.at_most, 50) > 0.1 >= hypergeom.cdf(3, 400, found.at_most + 1, 50)
    assert hypergeom.sf(2, 400, found.at_least, 50) > 0.1 >= hypergeom.sf(2, 400, found.at_least - 1, 50)
    assert found.low <= found.at_least <= found.at_most <= found.high


def test_a_clean_sample_of_sixty_says_at_most_five_percent() -> None:
    assert str(spot_check(10**6, 60, 0)) == "60 checked, 0 wrong: at most 4.9%, with 95% confidence"


def test_a_whole_count_is_certain_and_a_whole_stratum_adds_what_it_holds() -> None:
    found = spot_check(80, 80, 7)
    assert (found.at_least, found.at_most, found.low, found.high) == (7, 7, 7, 7)
    rest = spot_check(300, 40, 1)
    assert spot_check([50, 300], [50, 40], [21, 1]).at_most == 21 + rest.at_most


def test_undecided_rows_count_against_both_ends() -> None:
    found = spot_check(500, 55, 2, undecided=5)
    assert found.at_most == spot_check(500, 60, 7).at_most
    assert found.at_least == spot_check(500, 60, 2).at_least
    assert "5 not decided" in str(found)


@pytest.mark.parametrize("shares", [(0.5, 0.02), (0.1, 0.1), (0.02, 0.3)])
def test_two_strata_cover_by_the_exact_distribution_of_their_samples(shares: tuple[float, float]) -> None:
    """The probability of every pair of samples is known, so coverage is summed rather than simulated."""
    sizes, drawn = (40, 120), (12, 18)
    wrong = tuple(round(size * share) for size, share in zip(sizes, shares, strict=True))
    missed = {"at_most": 0.0, "at_least": 0.0, "interval": 0.0}
    for first in range(drawn[0] + 1):
        for second in range(drawn[1] + 1):
            chance = hypergeom.pmf(first, sizes[0], wrong[0], drawn[0])
            chance *= hypergeom.pmf(second, sizes[1], wrong[1], drawn[1])
            if chance < 1e-5:
                continue
            found = spot_check(sizes, drawn, (first, second), confidence=0.9)
            missed["at_most"] += chance * (found.at_most < sum(wrong))
            missed["at_least"] += chance * (found.at_least > sum(wrong))
            missed["interval"] += chance * (not found.low <= sum(wrong) <= found.high)
    assert max(missed.values()) <= 0.1 + 1e-3


def test_strata_are_used_where_suspicion_separates_and_only_there() -> None:
    rng = np.random.default_rng(0)
    sharp = np.where(rng.random(2000) < 0.15, 0.7, 0.02)
    strata = spot_check_sample(sharp, 150, random_state=1)
    assert len(strata) == 2
    assert len(strata[0].drawn) / len(strata[0].rows) > len(strata[1].drawn) / len(strata[1].rows)
    assert sharp[strata[0].rows].mean() > 0.5
    every = np.concatenate([stratum.rows for stratum in strata])
    np.testing.assert_array_equal(np.sort(every), np.arange(2000))
    assert all(np.isin(stratum.drawn, stratum.rows).all() for stratum in strata)
    assert len(spot_check_sample(np.full(2000, 0.1), 150, random_state=1)) == 1


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (([10, 10, 10], [1, 1, 1], [0, 0, 0]), "sizes must be of one stratum or of two"),
        ((10, 5, 6), "checked must lie between wrong and sizes"),
        ((10, 11, 0), "checked must lie between wrong and sizes"),
        ((10, -1, 0), "checked must"),
    ],
)
def test_impossible_counts_are_refused(arguments: tuple[object, ...], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        spot_check(*arguments)  # type: ignore[arg-type]


def test_the_gain_is_nothing_for_a_known_label_and_most_between_far_grades() -> None:
    posterior = np.array([[0, 1, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0.1, 0.8, 0.1]])
    unknown = verification_gain(posterior, np.full(4, -1))
    np.testing.assert_allclose(unknown, [0, 0.25, 0.5, 0.18])
    recorded = np.array([1, 1, 1, 1])
    distance = verification_gain(posterior, recorded, corrected=False)
    np.testing.assert_allclose(distance, [0, 0.5, 1, 0.2])
    np.testing.assert_allclose(verification_gain(posterior, recorded), distance * np.sqrt(unknown))


def test_a_rater_who_guesses_tells_nothing_and_a_perfect_one_everything() -> None:
    posterior = np.array([[0.5, 0.5], [1.0, 0.0], [0.9, 0.1]])
    gains = rating_gain(posterior, np.array([np.eye(2), np.full((2, 2), 0.5), [[0.9, 0.1], [0.2, 0.8]]]))
    entropy = -(posterior * np.log(np.maximum(posterior, 1e-300))).sum(axis=1)
    np.testing.assert_allclose(gains[:, 0], entropy, atol=1e-12)
    np.testing.assert_allclose(gains[:, 1], 0, atol=1e-12)
    assert (gains[[0, 2], 2] > 0).all()
    assert (gains[:, 2] <= entropy + 1e-12).all()


def test_the_error_of_a_reviewer_is_found_from_labels_given_twice() -> None:
    rng, error = np.random.default_rng(0), 0.05
    held = []
    for _ in range(200):
        first, second = (rng.random(150) < error for _ in range(2))
        found = repeat_error(150, int((first | second).sum()))
        assert found.low <= found.value <= found.high
        held.append(found.low <= error <= found.high)
    assert np.mean(held) >= 0.93
    assert (repeat_error(20, 0).value, repeat_error(20, 0).low) == (0.0, 0.0)
    assert repeat_error(20, 20).high == 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_wrong_grades_may_agree_and_the_error_of_a_reviewer_is_found_all_the_same(n_classes: int) -> None:
    rng, error, n_rows = np.random.default_rng(1), 0.2, 400
    held, values = [], []
    for _ in range(100):
        true = rng.integers(n_classes, size=n_rows)
        moved = [np.clip(true + rng.choice([-1, 1], n_rows), 0, n_classes - 1) for _ in range(2)]
        moved = [np.where(one == true, np.where(true == 0, 1, true - 1), one) for one in moved]
        looks = [np.where(rng.random(n_rows) < error, one, true) for one in moved]
        reviewers = reviewers_from_repeats([("Ann", "Ann")] * n_rows, np.column_stack(looks), n_classes)
        found = repeat_error(n_rows, int((looks[0] != looks[1]).sum()), agreeing=reviewers.agreeing)
        held.append(found.low <= error <= found.high)
        values.append(found.value)
    assert np.mean(held) >= 0.9
    assert np.mean(values) == pytest.approx(error, abs=0.015)


def test_two_classes_that_differ_more_often_than_by_chance_show_half_of_the_labels_wrong() -> None:
    found = repeat_error(20, 15, agreeing=1.0)
    assert (found.value, found.high) == (0.5, 0.5)
    assert repeat_error(20, 0, agreeing=1.0).value == 0
