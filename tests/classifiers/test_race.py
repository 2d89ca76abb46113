from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from ordinoise import corrupt, inverse_decay
from ordinoise.classifiers.blend import mixture
from ordinoise.classifiers.blend.members import Fitted, LinearCandidate, NetworkCandidate, NetworkModel, Recorded
from ordinoise.classifiers.blend.mixture import fitted_blend
from ordinoise.classifiers.blend.table import Filling, Table
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.datasets import synthetic


@dataclass
class Guess:
    """A candidate that gives the recorded label of every row a fixed probability, and counts its fits."""

    right: float
    fits: list[int] = field(default_factory=list)

    def fit(self, data: Recorded, rows: Any, held_out: Any, seed: int) -> Fitted:  # noqa: ARG002
        self.fits.append(seed)
        return Fitted(self, ())

    def probabilities(self, table: Table) -> Any:
        return np.where(np.eye(2)[table.features[:, 0].astype(int)], self.right, 1 - self.right)


def _recorded(n_rows: int) -> tuple[Recorded, Any]:
    ranks = np.random.default_rng(0).integers(2, size=n_rows)
    features = ranks[:, None].astype(float)
    table = Table(features, Filling.of(features, ()))
    return Recorded(table, ranks, np.ones(n_rows), np.eye(2)[None]), np.arange(n_rows)[None] % 4


def test_a_candidate_without_weight_in_the_first_fold_is_not_fitted_to_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mixture, "RACED", 400)
    data, folds = _recorded(400)
    good, bad = Guess(0.9), Guess(0.2)
    blend = fitted_blend({"good": good, "bad": bad}, data, folds, seed=0, n_jobs=1, drop=True)
    assert (len(good.fits), len(bad.fits)) == (4, 1)
    assert blend.weights == {"good": 1.0, "bad": 0.0}
    assert set(blend.log_likelihoods) == {"good", "blend"}
    again = {"good": Guess(0.9), "bad": Guess(0.2)}
    later = fitted_blend(again, data, folds, seed=0, n_jobs=1, drop=True, start=blend)
    assert (len(again["good"].fits), len(again["bad"].fits)) == (4, 0)
    assert later.weights == blend.weights


def test_small_tables_and_blends_without_dropping_fit_every_fold() -> None:
    data, folds = _recorded(400)
    for drop in (True, False):
        bad = Guess(0.2)
        fitted_blend({"good": Guess(0.9), "bad": bad}, data, folds, seed=0, n_jobs=1, drop=drop)
        assert len(bad.fits) == 4


def test_the_seed_of_a_fit_does_not_depend_on_the_race(monkeypatch: pytest.MonkeyPatch) -> None:
    data, folds = _recorded(400)
    plain, raced = Guess(0.9), Guess(0.9)
    fitted_blend({"bad": Guess(0.2), "good": plain}, data, folds, seed=0, n_jobs=1, drop=True)
    monkeypatch.setattr(mixture, "RACED", 400)
    fitted_blend({"bad": Guess(0.2), "good": raced}, data, folds, seed=0, n_jobs=1, drop=True)
    assert plain.fits == raced.fits


def test_the_corrected_networks_start_from_the_trusting_ones() -> None:
    features = np.random.default_rng(1).normal(size=(60, 2))
    table = Table(features, Filling.of(features, ()))
    data = Recorded(table, (features[:, 0] > 0).astype(int), np.ones(60), np.eye(2)[None])
    rows = np.arange(40)
    candidate = NetworkCandidate((4,), 0.003, stops=True, averages=True, patience=8, max_epochs=1)
    model = candidate.fit(data, rows, np.arange(40, 60), 0).model
    assert isinstance(model, NetworkModel)
    assert candidate.continued(model).start is model.network
    assert candidate.continued(model).patience == 4
    assert LinearCandidate().continued(model).start is model.network
    assert NetworkCandidate((4,), 0.003, stops=True).continued(model).start is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_result_for_many_rows_does_not_depend_on_the_number_of_threads() -> None:
    data = synthetic(2000, random_state=0)
    recorded = corrupt(data.labels, inverse_decay(4, 0.15), random_state=0)
    one, two = (
        OrdinalClassifier("mlp", answer="corrected", n_folds=2, n_jobs=n_jobs, random_state=0).fit(
            data.features, recorded
        )
        for n_jobs in (1, 2)
    )
    assert np.array_equal(one.predict_proba(data.features), two.predict_proba(data.features))
