import numpy as np
import pytest

from learners.mlp.cases import N_CLASSES, literal_logits, samples
from ordinoise.learners.mlp import Architecture, Network, Objective, Optimizer, initial_network
from ordinoise.learners.mlp import network as network_module

FEATURES, _ = samples(n_samples=50)


def random_network(hidden: tuple[int, ...], activation: str = "relu", head: str = "ordered") -> Network:
    rng = np.random.default_rng(0)
    architecture = Architecture(5, N_CLASSES, hidden, activation, head)
    network = initial_network(architecture, rng, center=rng.normal(size=5), scale=rng.uniform(0.5, 2, 5))
    network.parameters[...] = rng.normal(size=architecture.n_parameters)
    return network


@pytest.mark.parametrize("head", ["free", "ordered", "softmax"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "identity"])
@pytest.mark.parametrize("hidden", [(), (3,), (7, 4)])
def test_logits_are_those_of_a_literal_forward_pass(hidden: tuple[int, ...], activation: str, head: str) -> None:
    network = random_network(hidden, activation, head)
    np.testing.assert_allclose(network.logits(FEATURES), literal_logits(network, FEATURES), rtol=1e-10, atol=1e-10)


def test_logits_are_score_plus_thresholds() -> None:
    network = random_network((4,))
    score = network.score(FEATURES.astype(np.float32))
    assert score.dtype == np.float64
    np.testing.assert_array_equal(
        network.logits(FEATURES.astype(np.float32)), score[:, np.newaxis] + network.thresholds
    )


def test_many_rows_are_read_a_block_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network((4,))
    whole = network.logits(FEATURES)
    monkeypatch.setattr(network_module, "ROWS_AT_A_TIME", 7)
    np.testing.assert_allclose(network.logits(FEATURES), whole, rtol=1e-12)


@pytest.mark.parametrize("hidden", [(), (3,), (7, 4)])
@pytest.mark.parametrize("head", ["ordered", "softmax"])
def test_named_arrays_are_views_that_fill_the_vector(hidden: tuple[int, ...], head: str) -> None:
    network = random_network(hidden, head=head)
    before = network.parameters.copy()
    for array in network.arrays.values():
        array += 1
    np.testing.assert_array_equal(network.parameters, before + 1)
    assert [w.shape for w in network.weights[:-1]] == list(zip((5, *hidden), hidden, strict=False))
    assert [b.shape for b in network.biases] == [(n,) for n in hidden]
    assert network.weights[-1].shape == (N_CLASSES if head == "softmax" else 1, (5, *hidden)[-1])


def test_free_thresholds_start_at_zero() -> None:
    network = initial_network(Architecture(2, 5, head="free"), np.random.default_rng(0))
    np.testing.assert_array_equal(network.thresholds, np.zeros(4))


def test_ordered_thresholds_start_at_the_exceedance_logits_of_the_labels() -> None:
    shares = np.array([0.5, 0.25, 0.125, 0.125])
    architecture = Architecture(2, 4)
    network = initial_network(architecture, np.random.default_rng(0), class_frequencies=8 * shares)
    chances = 1 / (1 + np.exp(-network.thresholds))
    np.testing.assert_allclose(chances, [0.5, 0.25, 0.125], atol=0.02)
    even = initial_network(architecture, np.random.default_rng(0))
    np.testing.assert_allclose(1 / (1 + np.exp(-even.thresholds)), [0.75, 0.5, 0.25], atol=1e-6)


def test_an_absent_class_leaves_thresholds_finite_and_descending() -> None:
    for counts in ([0, 5, 0, 5], [5, 0, 0, 0], [0, 0, 0, 5]):
        thresholds = initial_network(Architecture(2, 4), np.random.default_rng(0), class_frequencies=counts).thresholds
        assert np.isfinite(thresholds).all()
        assert (np.diff(thresholds) < 0).all()


def test_weights_start_within_one_over_the_root_of_what_enters() -> None:
    network = initial_network(Architecture(100, 4, (400, 25)), np.random.default_rng(0))
    for array, fan_in in zip([*network.weights, *network.biases], [100, 400, 25, 100, 400], strict=True):
        bound = 1 / np.sqrt(fan_in)
        assert np.abs(array).max() <= bound
        assert np.abs(array).max() > 0.8 * bound
        assert abs(array.mean()) < 4 * bound / np.sqrt(3 * array.size)


def test_a_softmax_network_has_neither_score_nor_thresholds() -> None:
    network = random_network((3,), head="softmax")
    with pytest.raises(ValueError, match="to have a score"):
        network.score(FEATURES)
    with pytest.raises(ValueError, match="to have thresholds"):
        _ = network.thresholds


def test_wrong_settings_are_named() -> None:
    levels = np.zeros((1, 4, 3))
    good = random_network((3,))
    for make, words in [
        (lambda: Architecture(0, 4), "n_features must be a whole number of at least 1"),
        (lambda: Architecture(3, 1), "n_classes must be a whole number of at least 2"),
        (lambda: Architecture(3, 4, (3, 0)), "hidden_layer_sizes must be a whole number of at least 1"),
        (lambda: Architecture(3, 4, activation="rleu"), "did you mean 'relu'"),
        (lambda: Architecture(3, 4, head="order"), "did you mean 'ordered'"),
        (
            lambda: Network(good.architecture, good.parameters[1:], good.center, good.scale),
            "parameters must have shape",
        ),
        (lambda: Network(good.architecture, good.parameters, good.center[1:], good.scale), "center must have shape"),
        (lambda: good.score(FEATURES[:, 1:]), "features must have shape"),
        (lambda: Objective("cross", levels), "did you mean 'cross_entropy'"),
        (lambda: Objective("forward", levels), r"table must have shape \(n_raters, K, K\)"),
        (lambda: Objective("hinge", np.eye(4)[np.newaxis]), r"table must have shape \(n_raters, K, K-1\)"),
        (lambda: Optimizer(learning_rate=0), "learning_rate must be above 0"),
        (lambda: Optimizer(beta_2=1), "beta_2 must be at least 0 and below 1"),
        (lambda: Optimizer(batch_size=0), "batch_size must be a whole number of at least 1"),
        (lambda: Optimizer(weight_decay=-1), "weight_decay must be at least 0"),
    ]:
        with pytest.raises(ValueError, match=words):
            make()
