"""The loop against the compiled learner, and against itself: interrupted, resumed, stopped, told to stop."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learners.mlp.cases import N_CLASSES, NOISE, OTHER_NOISE, objective, samples
from ordinoise.learners import mlp

torch = pytest.importorskip("torch", reason="the loop is PyTorch's")
torch.set_num_threads(1)
ot: Any = pytest.importorskip("ordinoise.learners.torch")
from ordinoise.learners.torch.batches import ArrayBatches, Batch  # noqa: E402
from ordinoise.learners.torch.modules import MLP  # noqa: E402

FAST = mlp.Optimizer(learning_rate=5e-3)
CPU: dict[str, Any] = {"device": "cpu"}


class SameOrder:
    """Batches in the order that the compiled learner draws."""

    description = "the same order"

    def __init__(self, features: Any, labels: Any, weights: Any, raters: Any, batch_size: int) -> None:
        self.columns = [None if column is None else torch.from_numpy(column) for column in (labels, weights, raters)]
        self.features, self.batch_size = torch.from_numpy(features).float(), batch_size

    def epoch(self, number: int, rank: int, n_ranks: int, start: int = 0) -> Iterator[Any]:  # noqa: ARG002
        rng = np.random.default_rng(2)
        for _ in range(number + 1):
            order = torch.from_numpy(rng.permutation(len(self.features)))
        for rows in torch.split(order, self.batch_size):
            chosen: list[Any] = [None if column is None else column[rows] for column in self.columns]
            yield Batch(self.features[rows], *chosen)


def torch_model(network: mlp.Network) -> Any:
    """The compiled learner's network as a module."""
    form = network.architecture
    body = MLP(form.n_features, form.hidden_layer_sizes, form.activation, (network.center, network.scale))
    kind = ot.ThresholdHead if form.head == "free" else ot.OrderedThresholdHead
    model = ot.OrdinalModule(body, kind(form.widths[-1], form.n_classes))
    arrays = {name: torch.from_numpy(array.copy()) for name, array in network.arrays.items()}
    linear = [layer for layer in body if isinstance(layer, torch.nn.Linear)]
    with torch.no_grad():
        for number, layer in enumerate(linear):
            layer.weight.copy_(arrays[f"weights_{number}"].T)
            layer.bias.copy_(arrays[f"biases_{number}"])
        model.head.linear.weight.copy_(arrays["output_weights"])
        model.head.offsets.copy_(arrays["offsets"])
    return model


def flat(model: Any) -> Any:
    """Its parameters in the compiled learner's order."""
    parts = []
    for layer in model.module:
        if isinstance(layer, torch.nn.Linear):
            parts += [layer.weight.detach().T.ravel(), layer.bias.detach()]
    parts += [model.head.linear.weight.detach().ravel(), model.head.offsets.detach()]
    return torch.cat(parts).numpy()


def adamw(optimizer: mlp.Optimizer) -> Any:
    betas = (optimizer.beta_1, optimizer.beta_2)
    settings: dict[str, Any] = {"lr": optimizer.learning_rate, "betas": betas, "eps": optimizer.epsilon}
    return lambda groups: torch.optim.AdamW(groups, weight_decay=optimizer.weight_decay, **settings)


def assert_both_learners_agree(
    architecture: mlp.Architecture, loss: str, optimizer: mlp.Optimizer = FAST, weighted_and_rated: bool = False
) -> None:
    features, labels = samples(n_features=architecture.n_features)
    rng = np.random.default_rng(1)
    start = mlp.initial_network(architecture, rng, center=features.mean(axis=0), scale=features.std(axis=0))
    tables = objective(loss, NOISE, OTHER_NOISE) if weighted_and_rated else objective(loss)
    weights = rng.uniform(0.2, 2, len(labels)) if weighted_and_rated else np.ones(len(labels))
    raters = rng.integers(0, 2, len(labels)) if weighted_and_rated else None
    compiled = mlp.train(
        start, features, labels, tables, optimizer, max_epochs=10, rng=np.random.default_rng(2),
        sample_weight=weights, raters=raters,
    )  # fmt: skip
    data = SameOrder(features, labels, weights / weights.mean(), raters, optimizer.batch_size)
    ours = ot.train(
        torch_model(start), data, ot.Objective.of(tables.loss, tables.table),
        ot.TrainingSettings(max_epochs=10, decay_thresholds=optimizer.decay_thresholds, **CPU),
        optimizer=adamw(optimizer),
    )  # fmt: skip
    theirs = compiled.network.parameters
    assert np.abs(theirs - start.parameters).max() > 0.05, "nothing was learnt, so nothing was compared"
    np.testing.assert_allclose(flat(ours.model), theirs, rtol=2e-3, atol=5e-4 * np.abs(theirs).max())
    np.testing.assert_allclose(ours.loss_curve, compiled.loss_curve, rtol=1e-4)
    assert ours.n_updates == compiled.n_updates
    # After the first update thresholds that moved the same way lie equal but for a rounding.
    assert abs(ours.threshold_inversions - compiled.threshold_inversions) <= 1


LOSSES = ["cross_entropy", "hinge", "forward"]


@pytest.mark.parametrize("head", ["free", "ordered"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_ends_where_the_compiled_learner_ends(loss: str, head: str) -> None:
    assert_both_learners_agree(mlp.Architecture(5, N_CLASSES, (5,), head=head), loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_and_raters_end_where_the_compiled_learner_ends(loss: str) -> None:
    assert_both_learners_agree(mlp.Architecture(5, N_CLASSES, (4, 3), "tanh"), loss, weighted_and_rated=True)


@pytest.mark.parametrize("decays_all", [True, False])
def test_weight_decay_pulls_at_the_same_weights_as_in_the_compiled_learner(decays_all: bool) -> None:
    optimizer = mlp.Optimizer(learning_rate=5e-3, decay_thresholds=decays_all, weight_decay=0.3)
    assert_both_learners_agree(mlp.Architecture(5, N_CLASSES, (), head="free"), "cross_entropy", optimizer)


class Dropping(torch.nn.Module):  # type: ignore[name-defined]
    """A body that draws random numbers and keeps running statistics: what a resumed run could get wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(5, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Dropout(0.3)
        )

    def forward(self, inputs: Any) -> Any:
        return self.layers(inputs)


def dropping_model() -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return ot.OrdinalModule(Dropping(), ot.OrderedThresholdHead(8, N_CLASSES))


FEATURES, LABELS = samples(100)


def batches(rows: Any = None, batch_size: int = 16, labels: Any = LABELS) -> Any:
    chosen = np.arange(80) if rows is None else rows
    return ArrayBatches(
        torch.from_numpy(FEATURES).float(), torch.from_numpy(labels), torch.ones(100), None, chosen, batch_size, seed=4
    )


def run(max_epochs: int = 4, model: Any = None, **settings: Any) -> Any:
    names = ("scheduler", "callbacks", "data", "optimizer", "validation")
    rest = {"validation": batches(np.arange(80, 100), 64)}
    rest |= {name: settings.pop(name) for name in names if name in settings}
    return ot.train(
        model or dropping_model(), rest.pop("data", batches()), ot.Objective.of("forward", NOISE[None]),
        ot.TrainingSettings(max_epochs=max_epochs, **CPU, **settings),
        **({"optimizer": lambda groups: torch.optim.AdamW(groups, lr=0.01)} | rest),
    )  # fmt: skip


def assert_same(one: Any, two: Any) -> None:
    for name, weight in one.model.state_dict().items():
        assert torch.equal(weight, two.model.state_dict()[name]), name
    assert one.loss_curve == two.loss_curve
    assert one.validation_curve == two.validation_curve
    assert (one.n_updates, one.best_epoch, one.n_epochs) == (two.n_updates, two.best_epoch, two.n_epochs)


class PowerCutError(Exception):
    pass


BACKWARDS = batches(np.arange(80, 100), 64, labels=N_CLASSES - 1 - LABELS)  # grows worse while the rest is learnt


@pytest.mark.parametrize("updates", [None, 3])
@pytest.mark.parametrize(
    ("schedule", "more"), [("epoch", {}), ("update", {}), ("epoch", {"validation": BACKWARDS, "patience": 3})]
)
def test_a_run_that_was_cut_off_goes_on_bit_for_bit(
    updates: int | None, schedule: str, more: dict[str, Any], tmp_path: Path
) -> None:
    """Cut off in the middle of the third epoch, by a batch source that fails; dropout, statistics, rates and all."""

    class Failing:
        description = batches().description

        def epoch(self, number: int, rank: int, n_ranks: int, start: int = 0) -> Iterator[Any]:
            for place, batch in enumerate(batches().epoch(number, rank, n_ranks, start)):
                if number == 2 and place == 4:
                    raise PowerCutError
                yield batch

    def scheduler(optimizer: Any) -> Any:
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)

    settings: dict[str, Any] = {"scheduler": scheduler, "schedule": schedule, **more}
    whole = run(6, **settings)
    assert whole.best_epoch < 3 if more else whole.best_epoch > 3
    path = tmp_path / "folder" / "checkpoint.safetensors"
    settings |= {"checkpoint": path, "checkpoint_updates": updates}
    with pytest.raises(PowerCutError):
        run(6, data=Failing(), **settings)
    assert_same(run(6, **settings), whole)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert_same(run(6, **settings), whole)  # and a finished one stays as it is


def test_more_epochs_than_before_go_on_from_the_checkpoint(tmp_path: Path) -> None:
    run(2, checkpoint=tmp_path / "c")
    assert_same(run(4, checkpoint=tmp_path / "c"), run(4))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"data": batches(batch_size=8)}, "data"),
        ({"seed": 9}, "seed"),
        ({"optimizer": lambda groups: torch.optim.SGD(groups, lr=0.01)}, "optimizer"),
        ({"model": ot.OrdinalModule(torch.nn.Linear(5, 2), ot.ThresholdHead(2, N_CLASSES))}, "weights"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(change: dict[str, Any], word: str, tmp_path: Path) -> None:
    run(1, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match=rf"checkpoint must be of the same training, got another {word}"):
        run(1, checkpoint=tmp_path / "c", **change)


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"text"])
def test_a_damaged_checkpoint_is_a_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(ValueError, match=r"checkpoint must be readable, got .*; remove it to start from scratch"):
        run(1, checkpoint=tmp_path / "c")


def test_the_global_generator_is_left_as_it_was() -> None:
    before = torch.get_rng_state()
    run(1)
    assert torch.equal(torch.get_rng_state(), before)


def test_early_stopping_gives_back_the_best_epoch() -> None:
    told: list[Any] = []
    training = run(60, callbacks=[lambda epoch: told.append(epoch.model.head.offsets.detach().clone())], patience=4)
    assert training.n_epochs < 60
    assert training.best_epoch == np.argmin(training.validation_curve) + 1 < training.n_epochs
    assert torch.equal(training.model.head.offsets, told[training.best_epoch - 1])
    assert not training.model.training


def test_averaged_weights_are_those_of_all_epochs_with_more_of_the_later() -> None:
    def trained(averages: bool) -> tuple[Any, list[dict[str, Any]]]:
        seen: list[dict[str, Any]] = []
        note = [lambda epoch: seen.append({name: one.clone() for name, one in epoch.model.state_dict().items()})]
        return run(6, callbacks=note, patience=50, averages=averages), seen

    training, seen = trained(True)
    _, alone = trained(False)
    torch.testing.assert_close(seen, alone, rtol=0, atol=0)  # training itself is not changed
    average = seen[0]
    for epoch, weights in enumerate(seen[1 : training.best_epoch], start=2):
        share = 4 / (epoch + 3)
        average = {
            name: (1 - share) * average[name] + share * weight if weight.is_floating_point() else weight
            for name, weight in weights.items()
        }
    assert training.best_epoch > 1
    torch.testing.assert_close(dict(training.model.state_dict()), average)


def test_a_callback_sees_every_epoch_and_can_end_the_training() -> None:
    seen: list[tuple[int, float, float | None]] = []

    def callback(epoch: Any) -> bool:
        seen.append((epoch.number, epoch.loss, epoch.validation_loss))
        return epoch.number == 3

    training = run(10, callbacks=[callback])
    assert training.n_epochs == 3
    assert seen == list(zip([1, 2, 3], training.loss_curve, training.validation_curve, strict=True))


def test_long_gradients_are_cut() -> None:
    def step(**settings: Any) -> float:
        model = ot.OrdinalModule(torch.nn.Linear(5, 3), ot.ThresholdHead(3, N_CLASSES))
        with torch.no_grad():
            for weight in model.parameters():
                weight.fill_(0.5)
        start = torch.cat([weight.detach().ravel().clone() for weight in model.parameters()])
        run(1, model, data=batches(batch_size=80), optimizer=lambda groups: torch.optim.SGD(groups, lr=1.0), **settings)
        return float((torch.cat([weight.detach().ravel() for weight in model.parameters()]) - start).norm())

    assert step() > 0.2
    assert step(clip_norm=0.01) == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_half_precision_learns_about_the_same(precision: str) -> None:
    half, whole = run(10, precision=precision), run(10)
    assert half.loss_curve != whole.loss_curve
    assert half.loss_curve[-1] == pytest.approx(whole.loss_curve[-1], rel=0.1)
    assert half.model.head.offsets.dtype == torch.float32


def test_a_plateau_scheduler_is_told_the_validation_loss() -> None:
    rates: list[float] = []
    run(
        8, callbacks=[lambda epoch: rates.append(epoch.optimizer.param_groups[0]["lr"])],
        scheduler=lambda optimizer: torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, threshold=1.0),
    )  # fmt: skip
    assert rates[-1] < rates[0]


def test_divergence_is_a_sentence() -> None:
    with pytest.raises(ot.DivergedError, match="the training loss must stay finite"):
        run(50, optimizer=lambda groups: torch.optim.SGD(groups, lr=1e30))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"max_epochs": 0}, "max_epochs must be a whole number of at least 1, got 0"),
    ({"precision": "float8"}, r"precision must be one of \['float32', 'bfloat16', 'float16'\]"),
    ({"schedule": "batch"}, r"schedule must be one of \['epoch', 'update'\]"),
    ({"clip_norm": 0}, "clip_norm must be above 0, got 0"),
    ({"checkpoint_updates": 0}, "checkpoint_updates must be a whole number of at least 1, got 0"),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_settings_get_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ot.TrainingSettings(**settings)


def test_tables_of_the_wrong_shape_get_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"table must have shape \(n_raters, K, K-1\) for this loss"):
        ot.Objective.of("hinge", NOISE[None])
    with pytest.raises(ValueError, match=r"device must be 'auto' or the name of a PyTorch device, got 'gpu!'"):
        ot.train(
            dropping_model(), batches(), ot.Objective.of("forward", NOISE[None]), ot.TrainingSettings(device="gpu!")
        )
