"""Several ratings per item: one training row per item, and an answer chosen by evidence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ordinoise import OrdinalClassifier, adjacent, corrupt, inverse_decay
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.evidence import rated_answer
from ordinoise.classifiers.blend.items import Items
from ordinoise.classifiers.blend.table import Filling, Table
from ordinoise.estimation import RepeatedLabels
from ordinoise.noise import Doubt, Noise

HABITS = {
    "careful": inverse_decay(3, 0.05),
    "lenient": adjacent(3, up=0.4, down=0.05),
    "guesses": np.tile([0.2, 0.3, 0.5], (3, 1)),
}
QUICK: dict[str, Any] = {"learner": "mlp", "n_folds": 2, "n_rounds": 1, "n_jobs": 1, "random_state": 0}

FAST = RepeatedLabels(n_bootstrap=0)

pytestmark = pytest.mark.filterwarnings("ignore:the noise is weakly identified")


def rated_rows(n_items: int, seed: int = 0) -> dict[str, Any]:
    """Ratings of every item by three people, each with an asymmetric matrix, in random order."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n_items)
    features = truth[:, None] + rng.normal(size=(n_items, 3))
    labels = np.concatenate([corrupt(truth, habit, rng) for habit in HABITS.values()])
    items, raters = np.tile(np.arange(n_items), 3), np.repeat(list(HABITS), n_items)
    order = rng.permutation(3 * n_items)
    return {
        "X": features[items[order]], "y": labels[order], "items": items[order], "raters": raters[order],
        "truth": truth, "features": features,
    }  # fmt: skip


def rows_of(data: dict[str, Any]) -> Items:
    table = Table(data["X"], Filling.of(data["X"], ()))
    plain = Recorded(table, data["y"], np.ones(len(data["y"])), np.eye(3)[None])
    return Items.of(plain, data["items"])


def test_the_likelihood_of_an_item_is_the_product_over_its_ratings() -> None:
    data = rated_rows(40)
    rated, noise = rows_of(data), Noise.of(HABITS, 3).seen_in(data["y"])
    found = rated.by_matrices(noise, noise.index_of(data["raters"], len(data["y"])), None)
    expected = np.ones((40, 3))
    for item, rater, label in zip(data["items"], data["raters"], data["y"], strict=True):
        expected[item] *= HABITS[rater][:, label]
    np.testing.assert_allclose(found.likelihood, expected / expected.max(axis=1, keepdims=True), atol=1e-9)


def test_a_learner_reads_that_likelihood_from_a_table_of_noise_matrices() -> None:
    rated = rows_of(rated_rows(30))
    likelihood = np.random.default_rng(1).dirichlet(np.ones(3), size=30)
    data = rated.jointly(likelihood, likelihood.argmax(axis=1))
    np.testing.assert_allclose(data.matrices.sum(axis=2), 1.0)
    assert data.matrices.min() >= 0
    ratio = data.likelihood / likelihood
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(3))
    assert np.array_equal(data.table.features, rated.rows.table.features[rated.first])


def test_the_vote_is_the_distribution_of_the_median_of_resampled_ratings() -> None:
    rng = np.random.default_rng(0)
    for labels in ([0, 1, 1, 2, 2], [0, 0, 2, 2], [1]):
        features = np.zeros((len(labels), 1))
        plain = Recorded(
            Table(features, Filling.of(features, ())), np.array(labels), np.ones(len(labels)), np.eye(3)[None]
        )
        voted, _ = Items.of(plain, ["a"] * len(labels)).voting()
        drawn = np.sort(rng.choice(labels, size=(100_000, len(labels))), axis=1)
        both = np.concatenate([drawn[:, (len(labels) - 1) // 2], drawn[:, len(labels) // 2]])
        found = np.bincount(voted.ranks, voted.weights, minlength=3) / len(labels)
        np.testing.assert_allclose(found, np.bincount(both, minlength=3) / len(both), atol=0.008)
        assert voted.weights.sum() == pytest.approx(len(labels))


def test_rows_of_an_item_must_have_the_same_features() -> None:
    with pytest.raises(ValueError, match="X must be the same in all rows of an item, got two kinds of rows for b"):
        OrdinalClassifier().fit([[1.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], items=["a", "a", "b", "b"])


def test_two_verified_labels_of_an_item_must_agree() -> None:
    data = rated_rows(30)
    rows = np.flatnonzero(data["items"] == 4)[:2]
    with pytest.raises(ValueError, match="trusted must give every item one verified label, got two for 4"):
        OrdinalClassifier(**QUICK).fit(data["X"], data["y"], items=data["items"], trusted=(rows, [0, 1]))


def test_raters_of_known_noise_are_learned_from_jointly() -> None:
    """A guesser outvoted: held-out ratings of an item count by who gave them."""
    data = rated_rows(300)
    given = {"items": data["items"], "raters": data["raters"]}
    joint = OrdinalClassifier(noise=HABITS, **QUICK).fit(data["X"], data["y"], **given)
    plain = OrdinalClassifier(noise=None, **QUICK).fit(data["X"], data["y"], items=data["items"])
    new = rated_rows(2000, seed=9)
    wrong, trusting = ((model.predict(new["features"]) != new["truth"]).mean() for model in (joint, plain))
    assert wrong < trusting - 0.02
    assert joint.noise_.answer == "corrected"
    assert joint.out_of_fold_ is not None
    assert joint.out_of_fold_.shape == (900, 3)


def test_estimated_raters_are_named_in_the_noise_and_survive_saving(tmp_path: Any) -> None:
    data = rated_rows(300)
    model = OrdinalClassifier(**QUICK).fit(data["X"], data["y"], items=data["items"], raters=data["raters"])
    assert model.noise_.raters == tuple(sorted(HABITS))
    assert model.noise_.method == "RepeatedLabels"
    assert "learned together" in model.noise_.reason
    assert model.noise_.answer in ("corrected", "trusting")
    model.save(tmp_path / "model")
    loaded = OrdinalClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(data["features"]), model.predict_proba(data["features"]))
    assert loaded.noise_.reason == model.noise_.reason


def test_without_names_the_vote_is_learned() -> None:
    data = rated_rows(200)
    model = OrdinalClassifier(noise=FAST, **QUICK).fit(data["X"], data["y"], items=data["items"])
    assert model.noise_.answer == "trusting"
    assert "without the names of raters" in model.noise_.reason
    assert model.noise_.per == "all"
    asked = OrdinalClassifier(noise=FAST, answer="corrected", **QUICK).fit(data["X"], data["y"], items=data["items"])
    assert asked.noise_.answer == "corrected"


def test_the_order_of_ratings_does_not_matter() -> None:
    data, shuffled = rated_rows(120), np.random.default_rng(5).permutation(360)
    first, second = (
        OrdinalClassifier(noise=FAST, **QUICK).fit(data["X"][rows], data["y"][rows], items=data["items"][rows])
        for rows in (np.arange(360), shuffled)
    )
    np.testing.assert_allclose(first.predict_proba(data["features"]), second.predict_proba(data["features"]))


def test_an_unfitted_estimator_of_raters_and_its_noise_alone_work() -> None:
    data = rated_rows(120)
    estimator = RepeatedLabels(family="matrices", n_bootstrap=0)
    found = OrdinalClassifier(noise=estimator, **QUICK).estimate_noise(
        data["X"], data["y"], items=data["items"], raters=data["raters"]
    )
    assert found.raters == tuple(sorted(HABITS))
    assert found.matrices[list(found.raters).index("careful")].diagonal().mean() > 0.8


@pytest.mark.parametrize(
    ("gain", "verified", "doubts", "answer"),
    [
        (None, False, (), "trusting"),
        (-0.5, False, (), "trusting"),
        (1.5, False, (Doubt("shared-bias", "all may slip"),), "corrected"),
        (1.5, False, (Doubt("few-triples", "few items have three"),), "cautious"),
        (None, True, (), "corrected"),
    ],
)
def test_the_answer_follows_the_evidence(gain: float | None, verified: bool, doubts: Any, answer: str) -> None:
    noise = Noise(HABITS["lenient"], source="estimated", doubts=doubts)
    assert rated_answer(noise, gain, verified=verified)[0] == answer


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one matrix per rater", "perception"])
def test_learning_from_named_raters_beats_trusting_every_rating(name: str) -> None:
    from studies.learning import outcome, simulated

    runs: NDArray[np.float64] = np.array([outcome(simulated(Path(), name, seed), seed)[:2] for seed in (20, 21, 22)])
    assert runs[:, 1].mean() < runs[:, 0].mean() - 0.01
