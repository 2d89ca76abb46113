from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from export.runtime import answers
from ordinoise import adjacent, corrupt, inverse_decay, load_model
from ordinoise.classifiers.blend.candidates import Fitted, LinearCandidate, NetworkCandidate, TreesCandidate, continued
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.mixture import fitted_blend
from ordinoise.classifiers.blend.models import NetworkModel, TreesModel
from ordinoise.classifiers.blend.plan import BlendPlan
from ordinoise.classifiers.blend.table import Filling, Table
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.datasets import synthetic
from ordinoise.learners.boosting import BoosterSettings


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


PLAN = BlendPlan("auto", n_jobs=1, continues_from=0)
RACING = replace(PLAN, races_from=400)


def test_a_candidate_without_weight_in_the_first_fold_is_not_fitted_to_the_others() -> None:
    data, folds = _recorded(400)
    good, bad = Guess(0.9), Guess(0.2)
    blend = fitted_blend({"good": good, "bad": bad}, data, folds, RACING, seed=0)
    assert (len(good.fits), len(bad.fits)) == (4, 1)
    assert blend.weights == {"good": 1.0, "bad": 0.0}
    assert set(blend.log_likelihoods) == {"good", "blend"}
    again = {"good": Guess(0.9), "bad": Guess(0.2)}
    later = fitted_blend(again, data, folds, RACING, seed=0, start=blend)
    assert (len(again["good"].fits), len(again["bad"].fits)) == (4, 0)
    assert later.weights == blend.weights


def test_small_tables_and_blends_without_dropping_fit_every_fold() -> None:
    data, folds = _recorded(400)
    for plan in (PLAN, replace(RACING, learner="blend")):
        bad = Guess(0.2)
        fitted_blend({"good": Guess(0.9), "bad": bad}, data, folds, plan, seed=0)
        assert len(bad.fits) == 4


def test_the_seed_of_a_fit_does_not_depend_on_the_race() -> None:
    data, folds = _recorded(400)
    plain, raced = Guess(0.9), Guess(0.9)
    fitted_blend({"bad": Guess(0.2), "good": plain}, data, folds, PLAN, seed=0)
    fitted_blend({"bad": Guess(0.2), "good": raced}, data, folds, RACING, seed=0)
    assert plain.fits == raced.fits


def test_the_last_candidates_which_take_longest_are_begun_first() -> None:
    data, folds = _recorded(400)
    begun: list[int] = []
    plan = replace(PLAN, learner="blend")
    blend = fitted_blend({"quick": Guess(0.8, begun), "long": Guess(0.9, begun)}, data, folds, plan, seed=0)
    seeds = np.random.default_rng(0).integers(2**31, size=8).tolist()
    assert begun == seeds[4:] + seeds[:4]
    assert list(blend.models) == ["quick", "long"]


def test_matrix_products_have_one_thread_each_while_fits_run_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    def n_threads() -> set[int]:
        return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}

    seen: set[int] = set()
    original = NetworkCandidate.fit

    def watched(self: NetworkCandidate, *arguments: Any) -> Fitted:
        seen.update(n_threads())
        return original(self, *arguments)

    monkeypatch.setattr(NetworkCandidate, "fit", watched)
    data = synthetic(20, random_state=0)
    with threadpool_limits(2, user_api="blas"):
        OrdinalClassifier("mlp", noise=None, n_folds=2, n_rounds=1, random_state=0).fit(data.features, data.labels)
        assert n_threads() == {2}
    assert seen == {1}


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


def _trees() -> tuple[TreesCandidate, Recorded, TreesModel]:
    features = np.random.default_rng(1).normal(size=(60, 2))
    table = Table(features, Filling.of(features, ()))
    data = Recorded(table, np.digitize(features[:, 0], [-0.5, 0.5]), np.ones(60), adjacent(3, 0.2, 0.1)[None])
    candidate = TreesCandidate("softmax", BoosterSettings(min_child_samples=5, n_jobs=1), max_rounds=3)
    model = candidate.fit(replace(data, matrices=np.eye(3)[None]), np.arange(40), np.arange(40, 60), 0).model
    assert isinstance(model, TreesModel)
    return candidate, data, model


def test_softmax_trees_are_deconvolved_under_the_correction_row_by_row() -> None:
    candidate, data, model = _trees()
    corrected = continued(candidate, model, data).fit(data, np.arange(40), np.arange(40, 60), 0).model
    assert isinstance(corrected, TreesModel)
    assert corrected.ensemble is model.ensemble
    recorded, found = (one.probabilities(data.table) for one in (model, corrected))
    again = found @ data.matrices[0]
    assert np.abs(again - recorded).mean() < np.abs(found - recorded).mean() / 3
    alone = corrected.probabilities(data.table.rows(np.arange(5)))
    np.testing.assert_allclose(alone, found[:5], rtol=1e-12)


def test_ordered_trees_and_those_of_verified_rows_are_grown_anew() -> None:
    candidate, data, model = _trees()
    assert continued(replace(candidate, head="ordered"), model, data).head == "ordered"  # type: ignore[attr-defined]
    assert continued(candidate, model, replace(data, index=np.zeros(60, dtype=np.int64))) is candidate


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_a_model_with_deconvolved_trees_is_saved_and_exported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan = OrdinalClassifier._plan
    monkeypatch.setattr(OrdinalClassifier, "_plan", lambda model: replace(plan(model), continues_from=0))
    data = synthetic(60, random_state=0)
    recorded = corrupt(data.labels, inverse_decay(4, 0.15), random_state=0)
    model = OrdinalClassifier("boosting", answer="corrected", n_folds=2, n_rounds=1, random_state=0)
    model.fit(data.features, recorded)
    assert all(one.records is not None for one in model.models_["softmax trees"])  # type: ignore[attr-defined]
    before = model.predict_proba(data.features)
    model.save(tmp_path / "model")
    assert np.array_equal(load_model(tmp_path / "model").predict_proba(data.features), before)
    model.to_onnx(tmp_path / "model.onnx", dtype="float64")
    label, probabilities = answers(tmp_path / "model.onnx", data.features)
    np.testing.assert_array_equal(label, model.predict(data.features))
    np.testing.assert_allclose(probabilities, before, atol=1e-6)


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
