"""The study of the count: its worlds are what they say, and a table goes through all stages."""

from __future__ import annotations

import numpy as np
import pytest

from ordinoise.jobs import StoredResult
from studies.truth import stages
from studies.truth.page import page
from studies.truth.tables import Table
from studies.truth.worlds import WORLDS, World

SHARES = {
    "branches": 0.1, "t3 branches": 0.1, "wide branches": 0.1, "inverse decay .08": 0.2, "inverse decay .2": 0.52,
    "one-sided": 0.13, "perceived": 0.16, "far": 0.04, "rare": 0.02, "rare slips": 0.05, "careless": 0.05,
    "systematic": 0.08, "sharp decay": 0.32, "sharp perceived": 0.18, "region low": 0.24,
}  # fmt: skip


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_world_has_as_many_wrong_labels_as_it_says(world: World) -> None:
    made = world.make(4000, np.random.default_rng(0))
    assert (made.recorded != made.true).mean() == pytest.approx(SHARES.get(world.name, 0.0), abs=0.02)
    assert world.kind == "clean" or world.name in SHARES
    assert np.unique(made.true).tolist() == list(range(5))


def test_a_table_goes_through_all_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "N_DRAWS", 2)
    made = next(world for world in WORLDS if world.name == "branches").make(300, np.random.default_rng(0))
    away = np.abs(np.arange(5) - made.true[:, None])
    chances = np.exp(-2.0 * away) / np.exp(-2.0 * away).sum(axis=1, keepdims=True)
    found = stages.measured(Table(chances, made.recorded, made.true), np.random.default_rng(1))
    wrong = int((made.true != made.recorded).sum())
    assert found["wrong"] == found["nothing"]["left"] == wrong
    assert found["chosen 30"]["left"] <= wrong - 20
    assert found["random 60 after 30"]["width"] < found["random 30 after 30"]["width"] < found["nothing"]["high"]
    trial = {"world": "branches", "rows": 300, "number": 0}
    text = page([StoredResult("key", trial, found, 1.0)], WORLDS)
    assert "| branches |" in text
    assert "## 300 rows, 1 tables" in text
