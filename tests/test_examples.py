"""Every example runs, and shows what it says it shows."""

import runpy
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def _example(name: str, *needs: str) -> dict[str, Any]:
    for package in ("torch", *needs):
        pytest.importorskip(package)
    import torch

    torch.set_num_threads(1)
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_two_lines_make_a_plain_loop_robust(capsys: pytest.CaptureFixture[str]) -> None:
    errors = _example("torch_plain_loop")["main"](n_steps=250)
    assert errors["corrected"] < errors["plain"]
    assert capsys.readouterr().out.count("mean absolute error") == 2


@pytest.mark.page
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "needs"), [("torch_skorch", "skorch"), ("torch_lightning", "lightning")])
def test_the_loss_goes_into_other_training_loops(name: str, needs: str) -> None:
    errors = _example(name, needs)["main"](n_epochs=15)
    assert errors["corrected"] < errors["plain"]


@pytest.mark.page
@pytest.mark.filterwarnings("ignore")
def test_the_neighbors_layers_and_losses_read_our_tables() -> None:
    errors = _example("coral_and_dlordinal", "coral_pytorch", "dlordinal")["main"](n_steps=250)
    for corrected in ("CORAL, its loss on corrected levels", "CORAL, forward"):
        assert errors[corrected] < errors["CORAL, plain"]
    assert errors["dlordinal's CLM, forward"] < errors["dlordinal's CLM, plain"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_digits_are_drawn_and_counted(tmp_path: Path) -> None:
    found = _example("digits_cnn")["main"](n_seeds=1, max_iter=1, out=tmp_path)
    assert list(found["recovered"]) == list(found["errors"])[2:]
    assert (tmp_path / "digits_cnn.png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_known_and_estimated_noise_undo_most_of_the_damage_on_images() -> None:
    found = _example("digits_cnn")["main"](n_seeds=2)
    assert min(found["recovered"].values()) > 0.5
