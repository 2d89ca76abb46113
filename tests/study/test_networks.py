import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ordinoise.datasets import synthetic  # noqa: E402
from studies.accuracy.contestants.networks import Head, Recipe, TorchNetwork, _from_exceedance  # noqa: E402

SHORT = Recipe(n_hidden=8, n_epochs=5, least_updates=50)


def softmax_head(n_hidden: int, n_classes: int) -> Head:
    """A classifier without any order: what the other libraries' heads are put in place of."""
    return Head(
        torch.nn.Linear(n_hidden, n_classes), torch.nn.functional.cross_entropy, lambda outputs: outputs.softmax(1)
    )


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def test_the_scale_of_the_features_does_not_matter() -> None:
    data = synthetic(50, random_state=0)
    far = 1e6 + 1e3 * data.features
    near_model, far_model = (TorchNetwork(softmax_head, 4, 0, SHORT).fit(X, data.labels) for X in (data.features, far))
    probabilities = near_model.predict_proba(data.features)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(far_model.predict_proba(far), probabilities, atol=1e-3)
    assert (probabilities.argmax(axis=1) == data.labels).mean() > 0.5


def test_a_column_without_variance_says_nothing() -> None:
    data = synthetic(20, random_state=0)
    constant = np.column_stack([data.features, np.full(len(data.labels), 7.0)])
    model = TorchNetwork(softmax_head, 4, 0, SHORT).fit(constant, data.labels)
    assert np.isfinite(model.predict_proba(constant)).all()


def test_a_seed_decides_everything_and_the_generator_of_torch_is_left_unchanged() -> None:
    data = synthetic(20, random_state=0)
    before = torch.random.get_rng_state()
    first, again, other = (
        TorchNetwork(softmax_head, 4, seed, Recipe(n_epochs=1, least_updates=1)).fit(data.features, data.labels)
        for seed in (1, 1, 2)
    )
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(first.predict_proba(data.features), again.predict_proba(data.features))
    assert not np.array_equal(first.predict_proba(data.features), other.predict_proba(data.features))


def test_class_probabilities_from_exceedance_undo_the_sum() -> None:
    probabilities = torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.0, 0.5]], dtype=torch.float64)
    exceedance = 1 - probabilities.cumsum(1)[:, :-1]
    torch.testing.assert_close(_from_exceedance(exceedance), probabilities)


def test_exceedance_out_of_order_gives_no_negative_probability() -> None:
    probabilities = _from_exceedance(torch.tensor([[0.3, 0.6, 0.1]]))
    assert probabilities.min() >= 0
    torch.testing.assert_close(probabilities.sum(1), torch.ones(1))
