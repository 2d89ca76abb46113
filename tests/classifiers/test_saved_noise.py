"""What is known of the noise is saved with every model: nothing that rests on it changes by saving."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinoise import (
    Noise,
    OrdinalBoostingClassifier,
    OrdinalClassifier,
    OrdinalMLPClassifier,
    adjacent,
    corrupt,
    evaluate,
    load_model,
)
from ordinoise.estimation import ScoreLikelihood

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
Y = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.8, 0.0, 0.8])
NOISY = corrupt(Y, adjacent(4, up=0.2, down=0.05), RNG)
FIT, HELD = np.arange(400), np.arange(400, 600)

KINDS: dict[str, Any] = {
    "front door": OrdinalClassifier("mlp", n_folds=2, n_jobs=1, random_state=0),
    "network": OrdinalMLPClassifier(noise="estimate", max_iter=10, random_state=0),
    "trees": OrdinalBoostingClassifier(
        noise=ScoreLikelihood(n_bootstrap=20, max_iter=10), n_estimators=20, n_jobs=1, random_state=0
    ),
}


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.parametrize("kind", ["front door", pytest.param("network", marks=pytest.mark.slow), "trees"])
def test_evaluation_and_sets_of_a_loaded_model_are_equal_bit_for_bit(kind: str, tmp_path: Path) -> None:
    model = KINDS[kind].fit(X[FIT], NOISY[FIT])
    model.save(tmp_path / "model")
    back = load_model(tmp_path / "model")
    assert len(back.noise_.replicates) > 0
    assert back.noise_.to_dict() == model.noise_.to_dict()
    before, after = (evaluate(one, X[HELD], NOISY[HELD]) for one in (model, back))
    assert after.to_dict() == before.to_dict()
    assert after.n_replicates == before.n_replicates > 0
    first, second = (one.calibrate_sets(X[HELD], NOISY[HELD]).predict_set(X, 0.8).mask for one in (model, back))
    np.testing.assert_array_equal(first, second)


def test_a_record_passed_as_noise_is_saved_and_comes_back(tmp_path: Path) -> None:
    noise = Noise(np.eye(4) * 0.8 + 0.05, source="estimated", replicates=np.stack([np.eye(4)] * 3), method="elsewhere")
    model = OrdinalMLPClassifier(noise=noise, max_iter=3, random_state=0).fit(X, NOISY)
    model.save(tmp_path / "model")
    back = load_model(tmp_path / "model")
    assert back.noise.to_dict() == noise.to_dict()
    assert back.noise_.method == "elsewhere"
