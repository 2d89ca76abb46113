"""Score likelihood: derivatives, recovery of asymmetric noise, symmetry, what knowledge does, and honest doubt."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.score.bootstrap import bootstrap, posterior_draws
from ordinoise.estimation.score.cells import binned_scores
from ordinoise.estimation.score.curve import score_curve
from ordinoise.estimation.score.families import FAMILY_NAMES, noise_family
from ordinoise.estimation.score.likelihood import LikelihoodFit, score_likelihood
from ordinoise.estimation.score.links import LINKS
from ordinoise.estimation.score.objective import Objective
from ordinoise.estimation.score.rate_prior import RatePrior
from ordinoise.estimation.score.verdicts import Verdicts
from ordinoise.labels import Verified
from ordinoise.noise import adjacent, inverse_decay

UP, DOWN, LOG_POWER = [1.8, 1.0, 1.5], [2.6, 2.2, 2.9], 0.3
RATE_PRIORS = {
    "": None,
    "verified": RatePrior(-1.5, 0.3, is_logit=True),
    "verified by one who errs": RatePrior(0.2, 0.05),
}
ASYMMETRIC = noise_family("power_decay", 4).noise_matrix(np.array([*UP, *DOWN, LOG_POWER]))


def clean_probabilities(n_samples: int, steepness: float = 3.0) -> Floats:
    """P(true | x) of an ordinal logistic model on an even grid."""
    exceedance = expit(steepness * (np.linspace(-3, 3, n_samples)[:, None] - np.array([-1.4, 0.1, 1.2])))
    padded = np.hstack([np.ones((n_samples, 1)), exceedance, np.zeros((n_samples, 1))])
    return -np.diff(padded, axis=1)


def simulated(n_samples: int, noise_matrix: Floats, seed: int = 0, steepness: float = 3.0) -> tuple[Floats, Ints]:
    """Exact probabilities of the recorded label, and labels drawn from them."""
    probabilities = clean_probabilities(n_samples, steepness) @ noise_matrix
    uniform = np.random.default_rng(seed).random((n_samples, 1))
    return probabilities, (uniform > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)


@pytest.fixture(scope="module")
def fit() -> LikelihoodFit:
    return score_likelihood(*simulated(20_000, ASYMMETRIC))


def rate_of(fit: LikelihoodFit) -> float:
    return float(1 - fit.class_shares @ fit.noise_matrix.diagonal())


def verdicts(counts: Floats, matrix: Floats) -> Verdicts:
    """Verdicts of one verifier, from counts ``[cell, verdict, recorded]``."""
    cell, verdict, recorded = np.nonzero(counts)
    entries = np.column_stack([np.zeros(len(cell), dtype=np.int64), cell, recorded, verdict])
    return Verdicts(matrix[None], entries, counts[cell, verdict, recorded])


def distance(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).mean())


@pytest.mark.parametrize(
    ("name", "link"), [*((name, "logit") for name in FAMILY_NAMES), *(("power_decay", link) for link in LINKS)]
)
@pytest.mark.parametrize("knowing", ["", "verified", "verified by one who errs"])
def test_gradient_equals_finite_differences(name: str, link: str, knowing: str) -> None:
    probabilities, labels = simulated(400, ASYMMETRIC)
    bins, _ = binned_scores(probabilities, labels, np.ones(400), 10, 3)
    curve, family, rng = score_curve(bins, link=link), noise_family(name, 4), np.random.default_rng(3)
    rate = RATE_PRIORS[knowing] if name != "none" else None
    counts = rng.integers(2, size=(30, 4, 4)) * np.eye(4) + (rng.integers(2, size=(30, 4, 4)) if name != "none" else 0)
    trusted = verdicts(counts, adjacent(4, up=0.1, down=0.2) if "errs" in knowing else np.eye(4))
    objective = Objective(bins, curve, family, rate, trusted if knowing else None)
    here = np.concatenate([curve.start(bins), family.start(0.1)])
    here += 0.1 * rng.normal(size=len(here))
    step = 1e-5 * np.eye(len(here))
    differences = [(objective.value(here + s) - objective.value(here - s)) / 2e-5 for s in step]
    assert_allclose(objective.expansion(here).gradient, differences, atol=1e-5, rtol=1e-6)
    slopes = [(objective.noise_rate(here + s)[0] - objective.noise_rate(here - s)[0]) / 2e-5 for s in step]
    assert_allclose(objective.noise_rate(here)[1], slopes, atol=1e-8)


def test_information_is_the_mean_square_of_the_gradient() -> None:
    """Over labels drawn from the model itself; 600 draws leave about 6 % of an entry."""
    probabilities, labels = simulated(400, ASYMMETRIC)
    bins, _ = binned_scores(probabilities, labels, np.ones(400), 10, 2)
    curve, family = score_curve(bins), noise_family("power_decay", 4)
    here = np.concatenate([curve.start(bins), family.start(0.1)])
    clean = np.exp(curve.log_probabilities(here[: curve.n_parameters], curve.design(bins)))
    recorded = clean @ family.noise_matrix(here[curve.n_parameters :])
    rng = np.random.default_rng(0)
    drawn = [np.stack([rng.multinomial(20, row) for row in recorded]).astype(float) for _ in range(600)]
    gradients = np.array([Objective(bins.with_counts(c), curve, family).expansion(here).gradient for c in drawn])
    expected = Objective(bins.with_counts(20 * recorded), curve, family).expansion(here).information
    prior = np.zeros_like(expected)
    prior[: curve.n_parameters, : curve.n_parameters] = curve.prior.precision
    prior[curve.n_parameters :, curve.n_parameters :] = family.prior.precision
    assert np.abs(np.cov(gradients.T) - (expected - prior)).max() < 0.15 * np.abs(expected).max()


def test_asymmetric_noise_is_recovered_and_its_transpose_is_not(fit: LikelihoodFit) -> None:
    assert distance(fit.noise_matrix, ASYMMETRIC) < 0.01
    assert distance(fit.noise_matrix.T, ASYMMETRIC) > 0.03
    assert all(one.converged for one, weight in zip(fit.fits, fit.weights, strict=True) if weight > 0.01)
    truth = clean_probabilities(20_000).mean(axis=0)
    assert_allclose(fit.class_shares, truth, atol=0.02)
    assert rate_of(fit) == pytest.approx(1 - truth @ ASYMMETRIC.diagonal(), abs=0.02)
    assert fit.log_likelihood > fit.log_likelihood_without_noise + 100


@pytest.mark.parametrize("name", ["power_decay", "unimodal", "free"])
def test_single_families_that_hold_the_noise_recover_it(name: str) -> None:
    probabilities, labels = simulated(20_000, ASYMMETRIC)
    fit = score_likelihood(probabilities, labels, family=name)
    assert distance(fit.noise_matrix, ASYMMETRIC) < 0.015
    assert fit.family_weights == {name: pytest.approx(1.0)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise_matrix", "name"),
    [
        (inverse_decay(4, rate=0.1), "inverse_decay"),
        (inverse_decay(4, rate=[0.05, 0.2, 0.1, 0.02]), "class_inverse_decay"),
        (adjacent(4, up=0.25, down=0.08), "adjacent"),
        (np.eye(4), "none"),
    ],
)
def test_evidence_prefers_the_family_of_the_noise(noise_matrix: Floats, name: str) -> None:
    fit = score_likelihood(*simulated(8_000, noise_matrix, steepness=8.0))
    assert fit.family_weights[name] > 0.6
    assert distance(fit.noise_matrix, noise_matrix) < 0.012


@pytest.mark.parametrize("family", ["average", "power_decay"])
def test_reversing_the_classes_reverses_the_matrix(family: str) -> None:
    probabilities, labels = simulated(3_000, ASYMMETRIC)
    straight = score_likelihood(probabilities, labels, family=family)
    mirrored = score_likelihood(probabilities[:, ::-1], 3 - labels, family=family)
    assert_allclose(mirrored.noise_matrix[::-1, ::-1], straight.noise_matrix, atol=2e-3)
    assert_allclose(mirrored.class_shares[::-1], straight.class_shares, atol=2e-3)


def test_clean_labels_give_little_noise() -> None:
    fit = score_likelihood(*simulated(1_500, np.eye(4)))
    assert rate_of(fit) < 0.05
    assert fit.family_weights["none"] > 0.5


def test_intervals_of_clean_labels_hold_zero() -> None:
    fit = score_likelihood(*simulated(1_500, np.eye(4)))
    for draws in (bootstrap(fit, n_draws=30, random_state=0), posterior_draws(fit, random_state=0)):
        interval = fit.noise(draws).rate_interval
        assert interval is not None
        assert interval[0] == pytest.approx(0, abs=1e-9)
        assert interval[1] < 0.2


@pytest.mark.slow
def test_labels_settled_in_order_of_suspicion_sharpen_the_estimate_and_do_not_bias_it() -> None:
    """Neighbors confused along a flat score: hardly identifiable, until a person looks at the worst of them."""
    noise = adjacent(4, up=0.25, down=0.08)
    clean, rng = clean_probabilities(3_000, 1.5), np.random.default_rng(5)
    true = (rng.random((3_000, 1)) > clean.cumsum(axis=1)[:, :-1]).sum(axis=1)
    labels = (rng.random((3_000, 1)) > noise[true].cumsum(axis=1)[:, :-1]).sum(axis=1)
    after = clean * noise[:, labels].T
    suspicion = 1 - (after / after.sum(axis=1, keepdims=True))[np.arange(3_000), labels]
    rows = np.argsort(-suspicion)[:400]
    alone = score_likelihood(clean @ noise, labels)
    informed = score_likelihood(clean @ noise, labels, trusted=(rows, true[rows]))
    assert distance(informed.noise_matrix, noise) < 0.025
    # Counted as a random sample, the same rows would show a far noisier matrix.
    pairs = np.zeros((4, 4))
    np.add.at(pairs, (true[rows], labels[rows]), 1)
    assert distance(pairs / pairs.sum(axis=1, keepdims=True), noise) > 0.05
    assert informed.noise_rate_sd < 0.7 * alone.noise_rate_sd


@pytest.mark.parametrize("matrix", [np.eye(4), adjacent(4, up=0.1, down=0.2)], ids=["right", "errs"])
def test_information_of_settled_labels_is_the_mean_square_of_their_gradient(matrix: Floats) -> None:
    probabilities, labels = simulated(400, ASYMMETRIC)
    bins, _ = binned_scores(probabilities, labels, np.ones(400), 5, 2)
    curve, family = score_curve(bins), noise_family("power_decay", 4)
    here = np.concatenate([curve.start(bins), family.start(0.1)])
    clean = np.exp(curve.log_probabilities(here[: curve.n_parameters], curve.design(bins)))
    joint = clean[:, :, None] * family.noise_matrix(here[curve.n_parameters :])
    posterior = joint / joint.sum(axis=1, keepdims=True)
    chances = np.einsum("bkr,kv->bvr", posterior, matrix)
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, 30, size=(10, 4))  # how many of each bin and record are looked at, for whatever reason

    def expansion(trusted: Verdicts | None) -> tuple[Floats, Floats]:
        found = Objective(bins, curve, family, None, trusted).expansion(here)
        return found.gradient, found.information

    counts = [
        np.stack([[rng.multinomial(chosen[b, r], chances[b, :, r]) for r in range(4)] for b in range(10)])
        .transpose(0, 2, 1)
        .astype(float)
        for _ in range(600)
    ]
    drawn = [verdicts(each, matrix) for each in counts]
    gradients = np.array([expansion(trusted)[0] for trusted in drawn])
    added = expansion(drawn[0])[1] - expansion(None)[1]
    assert np.abs(np.cov(gradients.T) - added).max() < 0.15 * np.abs(added).max()


def test_repeated_verdicts_beside_an_all_but_impossible_one_count_as_often_as_they_were_given() -> None:
    log_clean, log_noise = np.log([[1.0 - 1e-300, 1e-310]]), np.log(adjacent(2, up=0.1, down=0.2))
    logs = log_clean, log_noise, np.log(np.exp(log_clean) @ np.exp(log_noise))
    slopes = np.arange(6.0).reshape(1, 2, 3), np.arange(4.0).reshape(1, 2, 2)
    found = []
    for count in (1.0, 5.0):
        gradient, information = np.zeros(4), np.zeros((4, 4))
        Verdicts(np.eye(2)[None], np.zeros((1, 4), dtype=np.int64), np.array([count])).add_slopes(
            logs, *slopes, gradient, information
        )
        found.append((gradient, information))
    assert_allclose(found[1][0], 5 * found[0][0])
    assert_allclose(found[1][1], 5 * found[0][1])


@pytest.mark.slow
def test_verdicts_of_one_who_errs_are_no_proof_of_noise_and_do_not_bias_the_estimate() -> None:
    """A verifier who errs in a tenth of the rows, most of them right: taken at their word, they show wrong records."""
    clean, rng = clean_probabilities(3_000, 4.0), np.random.default_rng(6)
    true = (rng.random((3_000, 1)) > clean.cumsum(axis=1)[:, :-1]).sum(axis=1)
    errs = adjacent(4, up=0.1, down=0.1)
    rows = rng.permutation(3_000)[:600]
    said = (rng.random((600, 1)) > errs[true[rows]].cumsum(axis=1)[:, :-1]).sum(axis=1)
    believed = score_likelihood(clean, true, trusted=(rows, said))
    weighed = score_likelihood(clean, true, trusted=Verified(rows, said, errs))
    assert "none" not in {fit.name for fit in believed.fits}
    assert "none" in {fit.name for fit in weighed.fits}
    assert rate_of(believed) > 0.05
    assert rate_of(weighed) < 0.02


@pytest.mark.parametrize("believed", [0.1, pytest.param(0.4, marks=pytest.mark.slow)])
def test_a_believed_rate_pulls_the_estimate(believed: float) -> None:
    probabilities, labels = simulated(600, adjacent(4, up=0.2, down=0.1), steepness=1.5)
    alone = rate_of(score_likelihood(probabilities, labels))
    pulled = rate_of(score_likelihood(probabilities, labels, prior_rate=believed))
    assert abs(logit(pulled) - logit(believed)) < 0.5 * abs(logit(alone) - logit(believed))


def test_only_the_ratio_of_weights_counts_and_no_weight_is_no_sample() -> None:
    probabilities, labels = simulated(2_000, ASYMMETRIC)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, size=2_000)
    once = score_likelihood(probabilities, labels, sample_weight=weights, family="power_decay")
    twice = score_likelihood(probabilities, labels, sample_weight=2 * weights, family="power_decay")
    assert_allclose(once.noise_matrix, twice.noise_matrix, atol=1e-6)
    wrong = np.where(np.arange(2_000) % 2, labels, 0)
    kept = score_likelihood(probabilities, wrong, sample_weight=np.arange(2_000) % 2, family="power_decay")
    odd = score_likelihood(probabilities[1::2], labels[1::2], family="power_decay")
    assert distance(kept.noise_matrix, odd.noise_matrix) < 0.01


def test_intervals_are_reproducible_and_hold_the_truth(fit: LikelihoodFit) -> None:
    rate = 1 - clean_probabilities(20_000).mean(axis=0) @ ASYMMETRIC.diagonal()
    for draws in (bootstrap(fit, n_draws=30, random_state=4), posterior_draws(fit, n_draws=100, random_state=4)):
        low, high = fit.noise(draws, 0.99).rate_interval or (0, 0)
        assert low < rate < high < low + 0.15
        interval = fit.noise(draws).interval
        assert interval is not None
        below, above = interval
        assert (below <= above).all()
        assert ((below - 0.02 < ASYMMETRIC) & (above + 0.02 > ASYMMETRIC)).all()
    again = posterior_draws(fit, n_draws=100, random_state=4)
    assert_allclose(again[0], draws[0])
    few = [bootstrap(fit, n_draws=5, random_state=seed)[1] for seed in (1, 1, 2)]
    assert_allclose(few[0], few[1])
    assert np.abs(few[0] - few[2]).max() > 1e-6


def test_refits_scatter_as_much_as_the_information_says() -> None:
    """Sixty refits know their own spread to about 10 %; priors and flat directions widen the margin."""
    fit = score_likelihood(*simulated(8_000, ASYMMETRIC), family="power_decay")
    spread = bootstrap(fit, n_draws=60, random_state=0)[1].std()
    assert 0.6 < spread / fit.noise_rate_sd < 1.4
    assert posterior_draws(fit, random_state=0)[1].std() == pytest.approx(fit.noise_rate_sd, rel=0.25)


def test_intervals_narrow_with_the_sample(fit: LikelihoodFit) -> None:
    small = posterior_draws(score_likelihood(*simulated(1_000, ASYMMETRIC)), random_state=0)[1]
    large = posterior_draws(fit, random_state=0)[1]
    assert np.ptp(np.quantile(large, [0.025, 0.975])) < 0.5 * np.ptp(np.quantile(small, [0.025, 0.975]))


@pytest.mark.slow
def test_far_slips_are_identifiable_and_neighbor_slips_among_overlapping_classes_are_not() -> None:
    assert not score_likelihood(*simulated(4_000, inverse_decay(4, rate=0.15))).doubts
    doubtful = score_likelihood(*simulated(4_000, adjacent(4, up=0.2, down=0.1), steepness=1.5))
    assert {"only-neighbors", "flat-likelihood"} & {doubt.code for doubt in doubtful.doubts}


@pytest.mark.slow
def test_neighbor_slips_between_sharply_separated_classes_are_identifiable() -> None:
    fit = score_likelihood(*simulated(4_000, adjacent(4, up=0.25, down=0.08), steepness=30.0))
    assert not fit.doubts


def test_few_samples_are_said() -> None:
    fit = score_likelihood(*simulated(200, inverse_decay(4, rate=0.15)))
    assert any(doubt.code == "few-samples" and "only 200 samples" in doubt.sentence for doubt in fit.doubts)


@pytest.mark.slow
def test_two_classes_and_a_class_never_recorded_are_no_obstacle() -> None:
    two = clean_probabilities(500)[:, :2] + clean_probabilities(500)[:, 2:]
    labels = (np.random.default_rng(0).random(500) < two[:, 1]).astype(int)
    assert np.isfinite(score_likelihood(two, labels).noise_matrix).all()
    probabilities, labels = simulated(500, ASYMMETRIC)
    for absent in (0, 2):
        fit = score_likelihood(probabilities[:300], np.where(labels == absent, 1, labels)[:300])
        assert np.isfinite(fit.noise_matrix).all()


@pytest.mark.parametrize("n_samples", [118, 174, 368])
def test_a_highest_grade_that_is_named_but_absent_starts_a_curve(n_samples: int) -> None:
    """Weights of 1 / n, summed over cells: for these numbers of rows the share of the grades below rounds to above one."""
    probabilities, labels = simulated(n_samples, ASYMMETRIC)
    weights = np.full(n_samples, 1 / n_samples)
    bins, _ = binned_scores(probabilities, np.minimum(labels, 2), weights / (weights**2).sum(), 12)
    assert np.isfinite(score_curve(bins).start(bins)).all()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"family": "powers"}, r"family must be one of"),
        ({"prior_rate": 1.5}, r"prior_rate must be above 0 and at most 0.99, got 1.5"),
        ({"prior_rate": (0.1, 0.0)}, r"prior_rate's sd must be at least 0.0001 and at most 1, got 0.0"),
        ({"prior_rate": (0.1,)}, r"prior_rate must be a share or a pair \(share, standard deviation\), got \(0.1,\)"),
        ({"trusted": ([1, 1], [0, 0])}, r"trusted rows must name every row once"),
        ({"trusted": ([1], [4])}, r"trusted labels must hold"),
        ({"family": "none", "prior_rate": 0.1}, r"family must allow noise"),
        ({"sample_weight": np.ones(3)}, r"sample_weight must be as long as"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], sentence: str) -> None:
    probabilities, labels = simulated(200, ASYMMETRIC)
    with pytest.raises(ValueError, match=sentence):
        score_likelihood(probabilities, labels, **arguments)  # type: ignore[arg-type]


def test_scores_that_never_differ_are_refused() -> None:
    with pytest.raises(ValueError, match=r"probabilities must differ from row to row"):
        score_likelihood(np.full((100, 4), 0.25), np.arange(100) % 4)


def test_a_precise_rate_settles_that_noise_between_neighbors_may_be_overlap() -> None:
    noise = adjacent(4, up=0.25, down=0.08)
    probabilities, labels = simulated(1_000, noise, steepness=1.5)
    rate = 1 - float(clean_probabilities(1_000, 1.5).mean(axis=0) @ noise.diagonal())
    known: list[tuple[float, float] | float] = [rate, (rate, 0.05), (rate, 0.02)]
    fits = [score_likelihood(probabilities, labels, prior_rate=one) for one in known]
    assert ["only-neighbors" in {doubt.code for doubt in one.doubts} for one in fits] == [True, True, False]
    assert abs(rate_of(fits[2]) - rate) < 0.02
    assert rate_of(score_likelihood(probabilities, labels, prior_rate=(0.0, 0.01))) < 0.02
