import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.learners.mlp import Architecture, initial_network

torch = pytest.importorskip("torch", reason="the heads are PyTorch's")
torch.set_num_threads(1)
ot: Any = pytest.importorskip("ordinoise.learners.torch")
from ordinoise.learners.torch.modules import MLP  # noqa: E402

HEADS = ["ThresholdHead", "OrderedThresholdHead"]


@pytest.mark.parametrize("name", HEADS)
def test_a_head_gives_score_plus_thresholds_of_features_or_of_a_ready_score(name: str) -> None:
    on_features, on_score = getattr(ot, name)(5, num_classes=4), getattr(ot, name)(None, num_classes=4)
    features = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    score = features @ on_features.linear.weight[0]
    torch.testing.assert_close(on_features(features), score[:, None] + on_features.thresholds)
    torch.testing.assert_close(on_score(score), on_features(features))
    torch.testing.assert_close(on_score(score[:, None]), on_features(features))
    assert on_features.linear.bias is None


def test_free_thresholds_start_at_zero_as_in_the_paper() -> None:
    assert ot.ThresholdHead(3, 5).thresholds.tolist() == [0.0] * 4


@given(st.lists(st.floats(-30, 30), min_size=4, max_size=4))
def test_ordered_thresholds_descend_whatever_their_parameters_are(values: list[float]) -> None:
    head = ot.OrderedThresholdHead(None, 5)
    with torch.no_grad():
        head.offsets.copy_(torch.tensor(values))
    thresholds = head.thresholds.detach()
    assert (thresholds[1:] <= thresholds[:-1]).all()
    assert thresholds.isfinite().all()


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any))
def test_ordered_thresholds_start_where_those_of_the_compiled_learner_do(frequencies: list[int]) -> None:
    network = initial_network(
        Architecture(3, 4, head="ordered"), np.random.default_rng(0), class_frequencies=np.array(frequencies)
    )
    head = ot.OrderedThresholdHead(10, 4, frequencies)
    np.testing.assert_allclose(head.thresholds.detach(), network.thresholds, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", HEADS)
def test_heads_export_and_work_in_half_precision(name: str) -> None:
    model = ot.OrdinalModule(torch.nn.Linear(3, 6), getattr(ot, name)(6, 4)).eval()
    inputs = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(model, (inputs,), dynamic_shapes=({0: torch.export.Dim("n", min=2)},)).module()
    torch.testing.assert_close(exported(inputs[:3]), model(inputs[:3]))
    with torch.autocast("cpu", torch.bfloat16):
        half = model(inputs)
    torch.testing.assert_close(half.float(), model(inputs), atol=0.05, rtol=0.05)


BAD: list[tuple[Any, str]] = [
    (lambda: ot.ThresholdHead(0, 4), r"in_features must be a whole number of at least 1, got 0"),
    (lambda: ot.ThresholdHead(3, 1), r"num_classes must be a whole number of at least 2, got 1"),
    (lambda: ot.OrderedThresholdHead(3, 4, [1, 2]), r"class_frequencies must be 4 non-negative numbers, not all zero"),
    (lambda: MLP(3, (0,)), r"hidden_layer_sizes must be a whole number of at least 1, got 0"),
    (lambda: MLP(3, activation="relus"), r"activation must be one of .*did you mean 'relu'\?"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_shapes_get_one_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()
