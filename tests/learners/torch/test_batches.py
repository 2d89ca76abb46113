"""How batches are shared out between processes, without any process: what each would do, done here in turn."""

from itertools import chain
from typing import Any

import numpy as np
import pytest

from learners.mlp.cases import N_CLASSES, NOISE, objective, samples

torch = pytest.importorskip("torch", reason="the batches are PyTorch's")
torch.set_num_threads(1)
ot: Any = pytest.importorskip("ordinoise.learners.torch")
from ordinoise.learners.torch.batches import ArrayBatches  # noqa: E402

FEATURES, LABELS = samples(67)
WEIGHTS = np.random.default_rng(0).uniform(0.1, 3, len(LABELS))


def _batches(**changes: Any) -> Any:
    columns = torch.from_numpy(FEATURES), torch.from_numpy(LABELS), torch.from_numpy(WEIGHTS)
    settings: dict[str, Any] = {"rows": np.arange(5, 67), "batch_size": 12, "seed": 3}
    return ArrayBatches(*columns, None, **(settings | changes))


def _rows(batches: Any, number: int, rank: int = 0, n_ranks: int = 1, start: int = 0) -> list[list[int]]:
    places = {weight: row for row, weight in enumerate(WEIGHTS.tolist())}
    return [[places[w] for w in batch.weights.tolist()] for batch in batches.epoch(number, rank, n_ranks, start)]


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 5])
def test_processes_share_the_batches_that_one_alone_would_have(n_ranks: int) -> None:
    whole = _rows(_batches(), 0)
    shares = [_rows(_batches(), 0, rank, n_ranks) for rank in range(n_ranks)]
    for together, parts in zip(whole, zip(*shares, strict=True), strict=True):
        assert sorted(together) == sorted(chain(*parts))
    assert sorted(chain(*whole)) == list(range(5, 67))


def test_every_epoch_has_an_order_of_its_own_that_can_be_had_again_from_anywhere() -> None:
    first, again, other = (_rows(_batches(), number) for number in (0, 0, 1))
    assert first == again != other
    assert _rows(_batches(), 0, start=2) == first[2:]
    assert list(chain(*_rows(_batches(shuffle=False), 4))) == list(range(5, 67))


@pytest.mark.parametrize("loss", ["forward", "hinge", "cross_entropy"])
def test_the_mean_of_the_processes_gradients_is_the_gradient_of_the_whole_batch(loss: str) -> None:
    """As the loop has it: each process scales its sum by processes over samples."""
    tables = objective(loss)
    criterion = ot.Objective.of(tables.loss, tables.table)
    model = ot.OrdinalModule(torch.nn.Linear(5, 3), ot.ThresholdHead(3, N_CLASSES)).double()

    def gradient(parts: list[Any]) -> Any:
        totals = [criterion.total(model(part.inputs), part) for part in parts]
        n_rows = sum(len(part.labels) for part in parts)
        model.zero_grad()
        for own in totals:
            (own * (len(parts) / n_rows) / len(parts)).backward()
        return torch.cat([weight.grad.ravel() for weight in model.parameters()])

    for number, whole in enumerate(_batches().epoch(0, 0, 1)):
        parts = [list(_batches().epoch(0, rank, 3))[number] for rank in range(3)]
        expected = gradient([whole])
        torch.testing.assert_close(gradient(parts), expected)
        assert expected.abs().max() > 1e-3
    assert len(whole.labels) < 12, "the last batch was not uneven"


def test_noise_tables_are_read_from_true_to_recorded() -> None:
    batch = next(iter(_batches().epoch(0, 0, 1)))
    logits = torch.zeros(len(batch.labels), N_CLASSES - 1) + torch.tensor([2.0, 0.0, -1.0])
    right = ot.Objective.of("forward", NOISE[None]).total(logits, batch)
    chances = ot.class_probabilities(logits).double() @ torch.from_numpy(NOISE)
    expected = -(batch.weights * torch.log(chances[torch.arange(len(logits)), batch.labels])).sum()
    torch.testing.assert_close(right, expected, rtol=1e-5, atol=1e-5)
