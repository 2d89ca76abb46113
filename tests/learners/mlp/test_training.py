from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from learners.mlp.cases import LEVELS, N_CLASSES, NOISE, OTHER_NOISE, literal_logits, objective, samples
from ordinoise.learners.mlp import (
    Architecture,
    DivergedError,
    Network,
    Objective,
    Optimizer,
    Training,
    initial_network,
    mean_loss,
    train,
)

ALL_LOSSES = ["cross_entropy", "hinge", "forward"]
FEATURES, LABELS = samples()
PLAIN = objective("cross_entropy plain")


def start(head: str = "ordered", hidden: tuple[int, ...] = (5,), seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)
    return initial_network(Architecture(5, N_CLASSES, hidden, head=head), rng, scale=FEATURES.std(axis=0))


def trained(chosen: Objective = PLAIN, seed: int = 3, head: str = "ordered", **arguments: object) -> Training:
    settings: dict[str, object] = {
        "optimizer": Optimizer(learning_rate=5e-3),
        "max_epochs": 4,
        "rng": np.random.default_rng(seed),
    }
    return train(start(head), FEATURES, LABELS, chosen, **{**settings, **arguments})  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_raters_with_equal_tables_are_no_raters_bit_for_bit(loss: str) -> None:
    raters = np.random.default_rng(0).integers(0, 3, len(LABELS))
    apart = trained(objective(loss, NOISE, NOISE, NOISE), raters=raters)
    np.testing.assert_array_equal(apart.network.parameters, trained(objective(loss)).network.parameters)


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_each_rater_reads_a_table_of_their_own(loss: str) -> None:
    raters = np.zeros(len(LABELS), dtype=np.int64)
    second = trained(objective(loss, OTHER_NOISE, NOISE), raters=raters + 1)
    np.testing.assert_array_equal(second.network.parameters, trained(objective(loss)).network.parameters)
    first = trained(objective(loss, OTHER_NOISE, NOISE), raters=raters)
    assert np.abs(first.network.parameters - second.network.parameters).max() > 1e-3


@pytest.mark.parametrize("loss", ["cross_entropy", "hinge"])
def test_levels_corrected_for_no_noise_are_the_plain_ones(loss: str) -> None:
    corrected, plain = trained(objective(loss, np.eye(N_CLASSES))), trained(objective(f"{loss} plain"))
    np.testing.assert_array_equal(corrected.network.parameters, plain.network.parameters)


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_weights_are_repetitions_when_the_batch_is_everything(loss: str) -> None:
    counts = np.random.default_rng(1).integers(0, 4, len(LABELS))
    again = np.repeat(np.arange(len(LABELS)), counts)
    optimizer = Optimizer(learning_rate=1e-2, batch_size=10_000)
    weighted = trained(objective(loss), optimizer=optimizer, sample_weight=counts, max_epochs=20)
    repeated = trained(objective(loss), optimizer=optimizer, rows=again, max_epochs=20)
    np.testing.assert_allclose(weighted.network.parameters, repeated.network.parameters, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weighted.loss_curve, repeated.loss_curve, rtol=1e-5)


def test_the_scale_of_weights_does_not_matter() -> None:
    weights = np.random.default_rng(1).uniform(0.5, 2, len(LABELS))
    ones, tens = trained(sample_weight=weights), trained(sample_weight=10 * weights)
    np.testing.assert_allclose(ones.network.parameters, tens.network.parameters, rtol=1e-5)


def test_the_same_seed_gives_the_same_network_and_another_seed_another() -> None:
    np.testing.assert_array_equal(trained().network.parameters, trained().network.parameters)
    assert np.abs(trained().network.parameters - trained(seed=4).network.parameters).max() > 0


def test_training_leaves_the_network_it_started_from_alone() -> None:
    network = start()
    before = network.parameters.copy()
    train(network, FEATURES, LABELS, PLAIN, Optimizer(), max_epochs=1, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(network.parameters, before)


def test_threads_at_once_give_what_they_give_one_after_another() -> None:
    seeds = range(6)

    def run(seed: int) -> Training:
        return trained(objective("forward"), seed=seed, max_epochs=30)

    with ThreadPoolExecutor(3) as threads:
        together = list(threads.map(run, seeds))
    for seed, training in zip(seeds, together, strict=True):
        np.testing.assert_array_equal(training.network.parameters, run(seed).network.parameters)


def test_chosen_rows_are_like_a_table_of_those_rows() -> None:
    rows = np.random.default_rng(0).permutation(len(LABELS))[:100]
    optimizer = Optimizer(shuffle=False)
    chosen = trained(optimizer=optimizer, rows=rows).network
    alone = train(
        start(), FEATURES[rows], LABELS[rows], PLAIN, optimizer, max_epochs=4, rng=np.random.default_rng(3)
    ).network
    np.testing.assert_array_equal(chosen.parameters, alone.parameters)


@pytest.mark.parametrize("form", ["float32", "columns", "strided", "read-only", "int", "float16"])
def test_features_may_come_in_any_form(form: str) -> None:
    whole = np.rint(4 * FEATURES)
    forms: dict[str, NDArray[np.generic]] = {
        "float32": whole.astype(np.float32),
        "columns": np.asfortranarray(whole),
        "strided": np.repeat(whole, 2, axis=0)[::2],
        "read-only": whole.copy(),
        "int": whole.astype(np.int16),
        "float16": whole.astype(np.float16),
    }
    forms["read-only"].setflags(write=False)

    def parameters(features: NDArray[np.generic]) -> NDArray[np.float32]:
        rng = np.random.default_rng(0)
        return train(start(), features, LABELS, PLAIN, Optimizer(), max_epochs=2, rng=rng).network.parameters

    np.testing.assert_array_equal(parameters(forms[form]), parameters(whole))


def test_more_rows_than_a_block_are_all_seen() -> None:
    features, labels = np.tile(FEATURES, (30, 1)), np.tile(LABELS, 30)
    whole = train(
        start(), features, labels, PLAIN, Optimizer(batch_size=9_900), max_epochs=3, rng=np.random.default_rng(0)
    )
    once = trained(optimizer=Optimizer(batch_size=330), max_epochs=3)
    np.testing.assert_allclose(whole.network.parameters, once.network.parameters, rtol=1e-3, atol=1e-5)
    small = Optimizer(batch_size=330, shuffle=False)
    pieces = train(start(), features, labels, PLAIN, small, max_epochs=1, rng=np.random.default_rng(0))
    again = trained(optimizer=small, max_epochs=30)
    np.testing.assert_array_equal(pieces.network.parameters, again.network.parameters)
    assert pieces.n_updates == again.n_updates == 30


def test_training_in_two_parts_is_training_in_one() -> None:
    optimizer, rng = Optimizer(shuffle=False), np.random.default_rng(0)
    half = trained(optimizer=optimizer, max_epochs=3)
    state = half.optimizer_state
    rest = train(half.network, FEATURES, LABELS, PLAIN, optimizer, max_epochs=5, rng=rng, optimizer_state=state)
    np.testing.assert_array_equal(
        rest.network.parameters, trained(optimizer=optimizer, max_epochs=8).network.parameters
    )
    assert rest.optimizer_state.n_updates == half.n_updates + rest.n_updates


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_early_stopping_gives_back_the_best_network(loss: str) -> None:
    rows = np.arange(len(LABELS))
    told: list[tuple[int, float, float | None]] = []
    training = trained(
        objective(loss),
        optimizer=Optimizer(learning_rate=0.05),
        rows=rows[:120],
        validation_rows=rows[120:],
        patience=5,
        max_epochs=500,
        on_epoch=lambda *epoch: told.append(epoch),
    )
    assert training.n_epochs < 500
    assert training.best_epoch == 1 + int(np.argmin(training.validation_curve))
    assert training.best_epoch < training.n_epochs
    again = mean_loss(training.network, FEATURES, LABELS, objective(loss), rows=rows[120:])
    assert again == pytest.approx(min(training.validation_curve), rel=1e-6)
    curves = zip(training.loss_curve, training.validation_curve, strict=True)
    assert told == [(epoch, *losses) for epoch, losses in enumerate(curves, start=1)]
    assert training.optimizer_state.n_updates == training.best_epoch * 8


def test_averaged_weights_are_those_of_all_epochs_with_more_of_the_later() -> None:
    rows = np.arange(len(LABELS))
    parts: dict[str, Any] = {"rows": rows[:120], "validation_rows": rows[120:], "patience": 100}
    alone = [trained(rows=rows[:120], max_epochs=epoch).network.parameters.astype(np.float64) for epoch in (1, 2, 3)]
    average = alone[0]
    for epoch, weights in enumerate(alone[1:], start=2):
        share = 4 / (epoch + 3)
        average = (1 - share) * average + share * weights
    training = trained(max_epochs=3, averages=True, **parts)
    assert training.best_epoch == 3
    np.testing.assert_allclose(training.network.parameters, average, rtol=1e-5, atol=1e-6)
    again = mean_loss(training.network, FEATURES, LABELS, PLAIN, rows=rows[120:])
    assert again == pytest.approx(training.validation_curve[-1], rel=1e-6)
    last = trained(max_epochs=3, **parts)
    assert training.loss_curve == last.loss_curve
    np.testing.assert_array_equal(training.optimizer_state.first_moment, last.optimizer_state.first_moment)


def test_without_validation_rows_every_epoch_is_run() -> None:
    training = trained(max_epochs=6)
    assert (training.n_epochs, training.best_epoch, training.validation_curve) == (6, 6, [])
    assert training.n_updates == 6 * 21


@pytest.mark.parametrize("head", ["free", "ordered"])
@pytest.mark.parametrize("loss", ["cross_entropy", "hinge"])
def test_the_mean_loss_is_that_of_the_logits(loss: str, head: str) -> None:
    network = trained(objective(loss), head=head).network
    weights = np.random.default_rng(0).uniform(0, 2, len(LABELS))
    logits, levels = literal_logits(network, FEATURES), (np.linalg.inv(NOISE) @ LEVELS)[LABELS]
    costs = {
        "cross_entropy": levels * np.logaddexp(0, -logits) + (1 - levels) * np.logaddexp(0, logits),
        "hinge": levels * np.maximum(1 - logits, 0) + (1 - levels) * np.maximum(1 + logits, 0),
    }[loss]
    expected = np.average(costs.sum(axis=1), weights=weights)
    assert mean_loss(network, FEATURES, LABELS, objective(loss), weights) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("head", ["free", "ordered", "softmax"])
def test_the_mean_forward_loss_is_that_of_the_class_probabilities(head: str) -> None:
    network = trained(objective("forward"), head=head).network
    outputs = literal_logits(network, FEATURES)
    if head == "softmax":
        chances = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    else:
        chances = -np.diff(1 / (1 + np.exp(-outputs)), axis=1, prepend=1, append=0)
    expected = -np.log((chances @ NOISE)[np.arange(len(LABELS)), LABELS]).mean()
    assert mean_loss(network, FEATURES, LABELS, objective("forward")) == pytest.approx(expected, rel=1e-5)


def test_forward_without_noise_is_the_ordinal_likelihood_even_far_out() -> None:
    network = initial_network(Architecture(1, N_CLASSES, ()), np.random.default_rng(0))
    network.arrays["output_weights"][...] = 1
    far, labels = np.array([[-90.0], [90.0], [60.0], [0.3]]), np.array([2, 1, 0, 1])
    b, f = network.thresholds, literal_logits(network, far)
    log_upper, log_lower = -np.logaddexp(0, -f), -np.logaddexp(0, f)
    log_gap = np.log(-np.expm1(np.diff(b)))
    between = [log_upper[i, k - 1] + log_lower[i, k] + log_gap[k - 1] for i, k in ((0, 2), (1, 1), (3, 1))]
    expected = -np.array([between[0], between[1], log_lower[2, 0], between[2]])
    noiseless = Objective("forward", np.eye(N_CLASSES)[np.newaxis])
    losses = [mean_loss(network, far, labels, noiseless, rows=[row]) for row in range(4)]
    np.testing.assert_allclose(losses, expected, rtol=1e-6)


def test_inversions_are_counted_update_by_update() -> None:
    optimizer = Optimizer(learning_rate=0.05, batch_size=30, shuffle=False)
    counted = 0
    network, state = start("free"), None
    for low in range(0, 330, 30):
        rows = np.arange(low, low + 30)
        single = train(
            network, FEATURES, LABELS, PLAIN, optimizer, max_epochs=1, rng=np.random.default_rng(0), rows=rows,
            optimizer_state=state,
        )  # fmt: skip
        network, state = single.network, single.optimizer_state
        counted += bool((np.diff(network.thresholds) > 0).any())
    training = trained(head="free", optimizer=optimizer, max_epochs=1)
    np.testing.assert_array_equal(training.network.parameters, network.parameters)
    assert training.threshold_inversions == counted


def test_thresholds_of_a_rare_middle_class_are_counted_when_free_and_kept_in_order_when_ordered() -> None:
    labels = np.where(LABELS == 1, 2, LABELS)
    labels[:2] = 1
    optimizer = Optimizer(learning_rate=0.05)
    rng = np.random.default_rng(0)
    free = train(start("free"), FEATURES, labels, objective("cross_entropy"), optimizer, max_epochs=5, rng=rng)
    ordered = train(start(), FEATURES, labels, objective("cross_entropy"), optimizer, max_epochs=5, rng=rng)
    assert free.threshold_inversions > 0
    assert ordered.threshold_inversions == 0
    assert (np.diff(ordered.network.thresholds) < 0).all()


def test_unordered_free_thresholds_are_pulled_back_by_the_forward_loss() -> None:
    network = start("free")
    network.arrays["offsets"][...] = [-0.3, 0, 0.3]
    noiseless = Objective("forward", np.eye(N_CLASSES)[np.newaxis])
    optimizer = Optimizer(learning_rate=1e-2)
    training = train(network, FEATURES, LABELS, noiseless, optimizer, max_epochs=60, rng=np.random.default_rng(0))
    assert 0 < training.threshold_inversions < training.n_updates
    assert (np.diff(training.network.thresholds) < 0).all()


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_a_diverging_training_stops_with_a_sentence(loss: str) -> None:
    sentence = r"the training loss must stay finite, got -?(nan|inf) in epoch \d+; lower learning_rate_init or use corr"
    with pytest.raises(DivergedError, match=sentence):
        trained(objective(loss), optimizer=Optimizer(learning_rate=1e25), max_epochs=200)


def test_a_last_update_that_overflows_the_weights_is_noticed() -> None:
    with pytest.raises(DivergedError, match="got nan in epoch 1"):
        trained(optimizer=Optimizer(learning_rate=1e39, batch_size=1000), max_epochs=1)


def test_wrong_arguments_are_named() -> None:
    cases: list[tuple[dict[str, object], str]] = [
        ({"labels": LABELS + 1}, "labels must hold whole numbers from 0 to 3, got 4"),
        ({"labels": LABELS[:-1]}, "labels must be as long as the features"),
        ({"features": FEATURES[:, :4]}, r"features must have shape \(n_samples, 5\)"),
        ({"features": FEATURES.astype(str)}, "features must be numbers"),
        ({"raters": np.ones(len(LABELS))}, "raters must hold whole numbers from 0 to 0"),
        ({"objective": objective("forward", NOISE, NOISE)}, "raters must name one of 2 tables"),
        ({"objective": Objective("forward", np.eye(3)[np.newaxis])}, "table must be for 4 classes"),
        ({"rows": [0, 330]}, "rows must lie between 0 and 329"),
        ({"rows": []}, "rows must be a non-empty list"),
        ({"validation_rows": [-1]}, "validation_rows must lie between 0 and 329"),
        ({"sample_weight": np.zeros(len(LABELS))}, "sample_weight must be non-negative with a positive sum"),
        ({"max_epochs": 0}, "max_epochs must be a whole number of at least 1"),
    ]
    for arguments, words in cases:
        settings = {
            "network": start(), "features": FEATURES, "labels": LABELS, "objective": PLAIN, "optimizer": Optimizer(),
            "max_epochs": 1, "rng": np.random.default_rng(0), **arguments,
        }  # fmt: skip
        with pytest.raises(ValueError, match=words):
            train(**settings)  # type: ignore[arg-type]


def test_a_softmax_head_takes_no_levels() -> None:
    with pytest.raises(ValueError, match="loss must be 'forward' for the softmax head, got 'cross_entropy'"):
        trained(head="softmax")
