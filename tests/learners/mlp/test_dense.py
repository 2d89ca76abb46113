import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ordinoise.learners.mlp import Architecture, Objective, Records, fit_dense_linear, initial_network, mean_loss
from ordinoise.noise import adjacent


def test_two_grades_without_noise_are_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 3)) * [1, 10, 0.1] + 5
    labels = ((features - 5) @ [1.0, 0.1, -5.0] + rng.logistic(size=400) > 0).astype(int)
    start = initial_network(Architecture(3, 2, ()), rng, center=features.mean(axis=0), scale=features.std(axis=0))
    found = fit_dense_linear(start, Records(features, np.eye(2)[labels], np.full(400, 1 / 400)))
    standard = (features - start.center) / start.scale
    oracle = LogisticRegression(C=1e6).fit(standard, labels)
    np.testing.assert_allclose(found.logits(features)[:, 0], oracle.decision_function(standard), atol=0.02)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_no_small_step_lowers_the_forward_loss(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    features, noise = rng.normal(size=(500, 2)), adjacent(n_classes, up=0.3, down=0.05)
    recorded = rng.integers(n_classes, size=500)
    start = initial_network(Architecture(2, n_classes, ()), rng)
    found = fit_dense_linear(start, Records(features, noise[:, recorded].T, np.full(500, 1 / 500)))
    objective = Objective("forward", noise[None])
    least = mean_loss(found, features, recorded, objective)
    assert least < mean_loss(start, features, recorded, objective)
    for place in range(len(found.parameters)):
        for step in (-0.1, 0.1):
            moved = initial_network(Architecture(2, n_classes, ()), rng)
            moved.parameters[:] = found.parameters
            moved.parameters[place] += step
            assert mean_loss(moved, features, recorded, objective) > least - 1e-5
