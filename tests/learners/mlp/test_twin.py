import numpy as np
import pytest

from learners.mlp.cases import N_CLASSES, NOISE, OTHER_NOISE, objective, samples
from ordinoise.learners.mlp import Architecture, Optimizer, _products, _workspace, initial_network, train

torch = pytest.importorskip("torch", reason="the learner's oracle is written in PyTorch")
torch.set_num_threads(1)

LOSSES = ["cross_entropy", "hinge", "forward"]
FAST = Optimizer(learning_rate=5e-3)
N_EPOCHS = 5  # of 330 rows in batches of 16, the last of them 10 rows long: 105 updates


def assert_ends_at_the_twin(
    architecture: Architecture,
    loss: str,
    optimizer: Optimizer = FAST,
    n_epochs: int = N_EPOCHS,
    weighted_and_rated: bool = False,
) -> None:
    from learners.mlp.torch_twin import twin_parameters

    features, labels = samples(n_features=architecture.n_features)
    rng = np.random.default_rng(1)
    center, scale = features.mean(axis=0), features.std(axis=0)
    start = initial_network(architecture, rng, center=center, scale=scale)
    chosen = objective(loss, NOISE, OTHER_NOISE) if weighted_and_rated else objective(loss)
    weights = rng.uniform(0.2, 2, len(labels)) if weighted_and_rated else None
    raters = rng.integers(0, 2, len(labels)) if weighted_and_rated else None
    ours = train(
        start, features, labels, chosen, optimizer, max_epochs=n_epochs, rng=np.random.default_rng(2),
        sample_weight=weights, raters=raters,
    ).network.parameters  # fmt: skip
    twin = twin_parameters(
        start, features, labels, chosen, optimizer, n_epochs, np.random.default_rng(2), weights, raters
    )
    assert np.abs(twin - start.parameters).max() > 0.05, "nothing was learnt, so nothing was compared"
    np.testing.assert_allclose(ours, twin, rtol=1e-4, atol=1e-4 * np.abs(twin).max())


@pytest.mark.parametrize("head", ["free", "ordered"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_ends_at_the_twin(loss: str, head: str) -> None:
    assert_ends_at_the_twin(Architecture(5, N_CLASSES, (5,), head=head), loss)


@pytest.mark.parametrize("activation", ["tanh", "identity"])
@pytest.mark.parametrize("head", ["free", "ordered", "softmax"])
def test_every_activation_ends_at_the_twin(activation: str, head: str) -> None:
    assert_ends_at_the_twin(Architecture(5, N_CLASSES, (6,), activation, head), "forward")


@pytest.mark.parametrize("hidden", [(), (7, 4), (20, 17, 3)])
@pytest.mark.parametrize("loss", ["cross_entropy", "hinge", "forward"])
def test_every_depth_ends_at_the_twin(hidden: tuple[int, ...], loss: str) -> None:
    assert_ends_at_the_twin(Architecture(5, N_CLASSES, hidden, "tanh"), loss)


@pytest.mark.parametrize("hidden", [(), (5,), (7, 4)])
def test_the_softmax_head_ends_at_the_twin(hidden: tuple[int, ...]) -> None:
    assert_ends_at_the_twin(Architecture(5, N_CLASSES, hidden, head="softmax"), "forward")


@pytest.mark.parametrize("head", ["ordered", "softmax"])
def test_wide_layers_and_long_batches_end_at_the_twin(head: str) -> None:
    # Wide enough that factors are copied together, long enough that a batch is carried through in pieces.
    architecture = Architecture(170, N_CLASSES, (144, 130), "tanh", head)
    assert_ends_at_the_twin(architecture, "forward", Optimizer(learning_rate=5e-3, batch_size=150), n_epochs=15)


def test_layers_large_enough_for_blas_end_at_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_workspace, "LARGE_CHUNK_ROWS", 128)  # a batch is 128 + 128 + 74 rows, the last by tiles
    architecture = Architecture(520, N_CLASSES, (512, 512), "tanh")
    assert _products.BLAS_FROM <= 128 * 512 * 512
    # A larger epsilon: among so many weights some have a gradient of mere rounding, whose sign AdamW would follow.
    optimizer = Optimizer(learning_rate=1e-2, batch_size=330, epsilon=1e-5)
    assert_ends_at_the_twin(architecture, "forward", optimizer, n_epochs=10)


@pytest.mark.parametrize(
    "optimizer",
    [
        Optimizer(learning_rate=5e-3, decay_thresholds=True, weight_decay=0.3),
        Optimizer(learning_rate=5e-3, weight_decay=0.3),
        Optimizer(learning_rate=5e-3, weight_decay=0),
        Optimizer(learning_rate=5e-3, beta_1=0.8, beta_2=0.95, epsilon=1e-3),
        Optimizer(learning_rate=5e-3, batch_size=7, shuffle=False),
        Optimizer(learning_rate=1e-2, batch_size=1000),
    ],
    ids=["decays all", "decays weights", "no decay", "betas", "in order", "full batch"],
)
@pytest.mark.parametrize("head", ["free", "ordered"])
def test_every_optimizer_setting_ends_at_the_twin(optimizer: Optimizer, head: str) -> None:
    n_epochs = 200 if optimizer.batch_size == 1000 else N_EPOCHS
    assert_ends_at_the_twin(Architecture(5, N_CLASSES, (5,), "tanh", head), "cross_entropy", optimizer, n_epochs)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_and_raters_end_at_the_twin(loss: str) -> None:
    assert_ends_at_the_twin(Architecture(5, N_CLASSES, (5,), "tanh"), loss, weighted_and_rated=True)
