import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.labels import decide


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_each_rule_has_the_least_expected_cost_of_its_kind(n_classes: int, seed: int) -> None:
    probabilities = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.7), 20)
    ranks = np.arange(n_classes)
    distance = np.abs(ranks[:, None] - ranks).astype(float)
    for rule, cost in (("median", distance), ("mode", (distance > 0).astype(float)), ("mean", distance**2)):
        expected = probabilities @ cost
        chosen = expected[np.arange(20), decide(probabilities, rule)]
        np.testing.assert_allclose(chosen, expected.min(axis=1), atol=1e-12)
        np.testing.assert_allclose(expected[np.arange(20), decide(probabilities, cost)], expected.min(axis=1))


def test_a_cost_matrix_is_indexed_true_then_predicted() -> None:
    never_too_low = np.array([[0, 1, 1], [100, 0, 1], [100, 100, 0]])
    assert decide(np.array([[0.6, 0.3, 0.1]]), never_too_low) == [2]
    assert decide(np.array([[0.6, 0.3, 0.1]]), never_too_low.T) == [0]


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("medium", r"decision must be one of \['median', 'mode', 'mean'\], got 'medium'; did you mean 'median'\?"),
        (np.eye(2), r"decision must be one of .* or a 3 x 3 cost\[true, predicted\], got shape \(2, 2\)"),
        ([[np.nan] * 3] * 3, r"decision must be finite"),
    ],
)
def test_a_bad_rule_gets_one_sentence(rule: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        decide(np.full((1, 3), 1 / 3), rule)  # type: ignore[arg-type]
