import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from ordinoise import losses as in_numpy
from ordinoise.levels import class_probabilities as numpy_class_probabilities
from ordinoise.levels import corrected_levels, level_table
from ordinoise.noise import adjacent
from strategies import noise_matrices

torch = pytest.importorskip("torch", reason="the losses are PyTorch's")
torch.set_num_threads(1)
ot: Any = pytest.importorskip("ordinoise.learners.torch")
losses: Any = pytest.importorskip("ordinoise.learners.torch.losses")

NOISE = np.array([[0.7, 0.15, 0.15, 0], [0, 0.8, 0.15, 0.05], [0.02, 0.2, 0.78, 0], [0.05, 0.1, 0.15, 0.7]])
SEEDS = st.integers(0, 2**32 - 1)


def _problem(seed: int, n_classes: int = 4, n: int = 40, spread: float = 3.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    logits = -np.sort(-rng.normal(scale=spread, size=(n, n_classes - 1)), axis=1)
    return logits, rng.integers(0, n_classes, n)


def _tensors(*arrays: Any) -> list[Any]:
    return [torch.from_numpy(np.array(array)) for array in arrays]


@given(noise_matrices(), SEEDS)
def test_every_loss_is_that_of_the_numpy_reference(noise: Any, seed: int) -> None:
    logits, labels = _problem(seed, len(noise))
    levels = corrected_levels(noise)
    f, y, n, z = _tensors(logits, labels, noise, levels)
    np.testing.assert_allclose(ot.cross_entropy(f, y, z), in_numpy.cross_entropy(logits, levels[labels]))
    np.testing.assert_allclose(ot.hinge(f, y, z), in_numpy.hinge(logits, levels[labels]), atol=1e-12)
    np.testing.assert_allclose(ot.forward_nll(f, y, n), in_numpy.forward(logits, labels, noise))
    plain = level_table(len(noise))[labels]
    np.testing.assert_allclose(ot.cross_entropy(f, y), in_numpy.cross_entropy(logits, plain))


def test_the_losses_are_those_of_the_paper() -> None:
    score, thresholds = 0.3, [1.0, -0.2, -1.5]
    logits = torch.tensor([[score + b for b in thresholds]] * 4, dtype=torch.float64)
    labels = torch.arange(4)
    for ours, oracle in ((ot.cross_entropy, oracles.l_ce), (ot.hinge, oracles.l_imc)):
        np.testing.assert_allclose(ours(logits, labels), [oracle(score, thresholds, y + 1) for y in range(4)])
    forward = [oracles.forward(score, thresholds, y + 1, NOISE) for y in range(4)]
    np.testing.assert_allclose(ot.forward_nll(logits, labels, torch.from_numpy(NOISE)), forward)


def test_each_sample_reads_the_table_of_its_rater() -> None:
    logits, labels = _problem(0)
    other = NOISE[::-1, ::-1]
    who = np.arange(len(labels)) % 2
    f, y, r = _tensors(logits, labels, who)
    for loss, tables in (
        (ot.forward_nll, np.stack([NOISE, other])),
        (ot.cross_entropy, np.stack([corrected_levels(NOISE), corrected_levels(other)])),
        (ot.hinge, np.stack([corrected_levels(NOISE), corrected_levels(other)])),
    ):
        both = loss(f, y, torch.from_numpy(tables), r)
        for rater in (0, 1):
            own = loss(f[r == rater], y[r == rater], torch.from_numpy(tables[rater]))
            torch.testing.assert_close(both[r == rater], own)


@pytest.mark.parametrize("size", [1.0, 30.0, 200.0, 3000.0])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_values_and_gradients_stay_finite_and_right_however_large_the_logits(dtype: str, size: float) -> None:
    logits, labels = _problem(1, spread=size)
    half = torch.from_numpy(logits).to(getattr(torch, dtype))
    exact = half.double().numpy()
    with np.errstate(divide="ignore"):
        reference = in_numpy.forward(exact, labels, NOISE)
    f = half.clone().requires_grad_()
    loss = ot.forward_nll(f, torch.from_numpy(labels), torch.from_numpy(NOISE))
    assert loss.dtype == torch.float32
    loss.sum().backward()
    assert f.grad.isfinite().all()
    has_width = (np.diff(exact, axis=1) < 0).all(axis=1)
    np.testing.assert_allclose(loss.detach()[has_width], reference[has_width], rtol=2e-5, atol=1e-5)


@given(noise_matrices(), SEEDS)
def test_the_gradient_of_the_forward_loss_is_the_table_of_the_paper_page(noise: Any, seed: int) -> None:
    """q = N[0, y] + sum_j (N[j+1, y] - N[j, y]) sigmoid(f_j), whose slope needs no logarithm; in any order of logits."""
    rng = np.random.default_rng(seed)
    logits, labels = rng.normal(size=(20, len(noise) - 1)) * 0.3, rng.integers(0, len(noise), 20)
    f, y, n = _tensors(logits, labels, noise)
    f.requires_grad_()
    ot.forward_nll(f, y, n).sum().backward()
    columns, upper = noise.T[labels], 1 / (1 + np.exp(-logits))
    chance = columns[:, 0] + (np.diff(columns, axis=1) * upper).sum(axis=1)
    chance = np.maximum(chance, 1e-4)  # where disorder makes it less, the tangent goes on
    np.testing.assert_allclose(
        f.grad, -np.diff(columns, axis=1) * upper * (1 - upper) / chance[:, None], rtol=1e-6, atol=1e-9
    )


def test_thresholds_that_are_equal_or_out_of_order_get_a_finite_pull_back_into_order() -> None:
    for start in ([0.0, 0.0, 0.0], [-3.0, 0.0, 3.0], [-500.0, 0.0, 500.0]):
        logits = torch.tensor([start] * 4, requires_grad=True)
        loss = ot.forward_nll(logits, torch.arange(4), torch.eye(4))
        loss.sum().backward()
        assert loss.isfinite().all()
        assert logits.grad is not None
        assert logits.grad.isfinite().all()
        down = -logits.grad.sum(dim=0)
        if start[0] > -500:
            assert down[0] > down[2], "a step along the slope must push the first threshold above the last"


@pytest.mark.filterwarnings("ignore:the noise matrix is in doubt")
def test_a_label_that_the_matrix_rules_out_costs_much_but_not_everything() -> None:
    noise = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
    logits = torch.tensor([[1.0, -1.0]], requires_grad=True)
    loss = ot.forward_nll(logits, torch.tensor([2]), noise)
    loss.sum().backward()
    assert 9 < loss.item() < 20


@given(SEEDS)
def test_class_probabilities_are_those_of_numpy_in_any_order(seed: int) -> None:
    logits = np.random.default_rng(seed).normal(scale=4, size=(10, 4))
    np.testing.assert_allclose(
        ot.class_probabilities(torch.from_numpy(logits)), numpy_class_probabilities(logits), atol=1e-12
    )


def test_logits_come_back_from_class_probabilities() -> None:
    logits, _ = _problem(4)
    back = ot.logits_from_class_probabilities(ot.class_probabilities(torch.from_numpy(logits)))
    np.testing.assert_allclose(back, logits, rtol=1e-6, atol=1e-6)
    softmax = torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    assert ot.logits_from_class_probabilities(softmax).isfinite().all()


def test_coral_levels_and_logits_mean_the_same_here() -> None:
    """CORAL's loss, as its paper has it, of the levels that it makes of a label: ones first."""
    logits, labels = _problem(5)
    f, y = _tensors(logits, labels)
    levels = torch.tensor([[1.0] * label + [0.0] * (3 - label) for label in labels], dtype=torch.float64)
    log_sigmoid = torch.nn.functional.logsigmoid
    theirs = -(log_sigmoid(f) * levels + (log_sigmoid(f) - f) * (1 - levels)).sum(dim=1)
    torch.testing.assert_close(ot.cross_entropy(f, y), theirs)


def test_losses_export_with_any_number_of_samples() -> None:
    class Criterion(torch.nn.Module):  # type: ignore[name-defined]
        def forward(self, logits: Any, labels: Any) -> Any:
            noise = torch.from_numpy(NOISE).float()
            return ot.forward_nll(logits, labels, noise) + ot.cross_entropy(logits, labels) + ot.hinge(logits, labels)

    f, y = _tensors(*_problem(6))
    sizes = {0: torch.export.Dim("n_samples", min=2)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(Criterion(), (f.float(), y), dynamic_shapes=(sizes, sizes)).module()
    torch.testing.assert_close(exported(f[:7].float(), y[:7]), Criterion()(f[:7].float(), y[:7]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_losses_compile() -> None:
    f, y = _tensors(*_problem(7))
    n = torch.from_numpy(NOISE)
    torch.testing.assert_close(torch.compile(ot.forward_nll)(f, y, n), ot.forward_nll(f, y, n))
    z = torch.from_numpy(corrected_levels(NOISE))
    torch.testing.assert_close(torch.compile(ot.cross_entropy)(f, y, z), ot.cross_entropy(f, y, z))


LOGITS = torch.tensor([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
LEANING = torch.tensor(adjacent(4, up=0.3, down=0.1), dtype=torch.float32)


@pytest.mark.parametrize(
    ("labels", "noise", "sentence"),
    [
        (torch.tensor([0, 1]), LEANING.T.contiguous(), r"noise_matrix rows must sum to 1 .*: pass its transpose"),
        (torch.tensor([0, 1]), LEANING.numpy(), r"noise_matrix must be a tensor, got ndarray; pass torch\.as_tensor"),
        (
            torch.tensor([0, 1]),
            torch.eye(5),
            r"noise_matrix must be 4 x 4, as 3 logits are of 4 grades, got shape \(5, 5\)",
        ),
        (torch.tensor([0, 1]), torch.full((4, 4), 0.25), r"noise_matrix must have rows that differ, got 4 equal rows"),
        (torch.tensor([0.2, 0.9]), LEANING, r"labels must be a tensor of whole numbers, got torch\.float32"),
        (torch.tensor([0, 7]), LEANING, r"labels must hold whole numbers from 0 to 3, got 7"),
        ([0, 1], LEANING, r"labels must be a tensor of whole numbers, got list"),
    ],
)
def test_a_wrong_matrix_or_label_is_refused(labels: Any, noise: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ot.forward_nll(LOGITS, labels, noise)


def test_float_labels_are_refused_by_every_loss() -> None:
    for loss in (ot.cross_entropy, ot.hinge):
        with pytest.raises(ValueError, match="labels must be a tensor of whole numbers"):
            loss(LOGITS, torch.tensor([0.0, 1.0]))


def test_reversed_grades_are_doubted_where_the_matrix_is_first_seen() -> None:
    reversed_grades = torch.eye(4).flip(0)
    with pytest.warns(UserWarning, match="in doubt: 4 of 4 grades would be recorded as another"):
        ot.forward_nll(LOGITS, torch.tensor([0, 1]), reversed_grades)
    ot.forward_nll(LOGITS, torch.tensor([0, 1]), reversed_grades)  # warnings are errors here


def test_a_matrix_is_read_once_and_never_where_it_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    noise, seen, check = LEANING.clone(), [], losses.as_noise_matrix

    def counted(matrix: Any, **options: Any) -> Any:
        seen.append(matrix)
        return check(matrix, **options)

    monkeypatch.setattr(losses, "as_noise_matrix", counted)
    for _ in range(3):
        ot.forward_nll(LOGITS, torch.tensor([0, 1]), noise)
    ot.forward_nll(LOGITS, torch.tensor([0, 1]), torch.softmax(torch.zeros(4, 4, requires_grad=True), dim=1))
    assert len(seen) == 1
