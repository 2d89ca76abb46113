"""One trial: what it depends on and what it does not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinoise.datasets import synthetic
from ordinoise.jobs.store import StoredResult
from ordinoise.learners.mlp import Objective
from ordinoise.levels import level_table
from ordinoise.paper import SETS, NetworkSettings, PaperTrial, trials
from ordinoise.paper.synthetic_mslr import synthetic_mslr
from ordinoise.paper.trials import generator, run, split_rows, train_network
from ordinoise.paper.tuning import TuningTrial, best_settings, grid, run_tuning

SETTINGS = NetworkSettings(n_epochs=3, batch_size=16)
TRIAL = PaperTrial("synthetic", "true rule", "cross_entropy", "none", "plain", "uniform", 0, SETTINGS)


@pytest.fixture(autouse=True)
def _small_synthetic(monkeypatch: pytest.MonkeyPatch) -> None:
    data = synthetic(100, random_state=0)
    monkeypatch.setattr(trials, "load_set", lambda *_: data)
    monkeypatch.setattr("ordinoise.paper.tuning.load_set", lambda *_: data)
    trials.estimated_matrix.cache_clear()


def test_a_trial_gives_the_same_result_every_time() -> None:
    assert run(TRIAL) == run(TRIAL)


def test_another_split_gives_another_result() -> None:
    assert run(TRIAL)["mean_absolute_error"] != run(replace(TRIAL, split=1))["mean_absolute_error"]


def test_known_noise_of_none_is_the_plain_loss_bit_for_bit() -> None:
    plain = run(replace(TRIAL, noise="none"))
    known = run(replace(TRIAL, noise="none", correction="unbiased", variant="known"))
    assert plain == known


def test_noise_goes_into_the_training_labels_only(monkeypatch: pytest.MonkeyPatch) -> None:
    data = synthetic(100, random_state=0)
    seen: list[Any] = []

    def noted(true: Any, _: Any) -> float:
        seen.append(true)
        return 0.0

    monkeypatch.setattr(trials, "mean_absolute_error", noted)
    run(TRIAL)
    _, test = split_rows(data, 0)
    np.testing.assert_array_equal(seen[0], data.labels[test])
    assert (trials.recorded_labels(data, np.arange(400), "uniform", 0) != data.labels).mean() == pytest.approx(
        0.32, abs=0.1
    )


@pytest.mark.parametrize("estimator", ["anchor_points", "score_likelihood"])
@pytest.mark.filterwarnings("ignore:noise_matrix is nearly singular")
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_an_estimated_matrix_is_given_back_and_shared_by_both_losses(estimator: str) -> None:
    estimated = replace(TRIAL, correction="unbiased", variant="estimated", estimator=estimator)
    matrices = [run(replace(estimated, loss=loss))["noise_matrix"] for loss in ("cross_entropy", "hinge")]
    assert matrices[0] == matrices[1]
    np.testing.assert_allclose(np.sum(matrices[0], axis=1), 1)
    assert trials.estimated_matrix.cache_info().hits == 1


def test_the_rows_of_a_group_stay_on_one_side_of_a_split() -> None:
    data = replace(synthetic(50, random_state=0), groups=np.arange(200) // 7)
    training, test = split_rows(data, 3)
    assert data.groups is not None
    assert not set(data.groups[training]) & set(data.groups[test])
    assert len(training) + len(test) == 200


def test_a_restarted_optimizer_trains_as_epochs_on_their_own() -> None:
    data = synthetic(50, random_state=0)
    objective = Objective("cross_entropy", level_table(4)[None])
    restarted, continued = (
        train_network(
            data.features, data.labels, objective, replace(SETTINGS, restarts=restarts), generator("a", 0, "b")
        )
        for restarts in (True, False)
    )
    assert restarted.n_updates == continued.n_updates
    assert restarted.optimizer_state.n_updates == continued.optimizer_state.n_updates // 3
    assert not np.array_equal(restarted.network.parameters, continued.network.parameters)


def test_the_synthetic_mslr_has_equally_frequent_grades() -> None:
    data = synthetic_mslr(1000, 7, 5)
    assert np.bincount(data.labels).tolist() == [200] * 5
    assert data.features.dtype == np.float32


def test_the_grid_search_picks_the_point_with_the_least_error_over_the_folds() -> None:
    def stored(n_hidden: int, learning_rate: float, error: float) -> StoredResult:
        settings = {"n_hidden": n_hidden, "learning_rate": learning_rate}
        return StoredResult(
            "", {"dataset": "a", "loss": "hinge", "settings": settings}, {"mean_absolute_error": error}, 0
        )

    results = [stored(6, 0.1, 0.5), stored(6, 0.1, 0.1), stored(8, 0.1, 0.2), stored(8, 0.1, 0.3)]
    assert best_settings(results) == {("a", "hinge"): (8, 0.1)}


def test_every_point_of_the_grid_is_tried_on_five_folds() -> None:
    points = grid(["boston"])
    assert len(points) == 2 * 3 * 4 * 5
    assert {point.fold for point in points} == set(range(5))


def test_a_tuning_trial_scores_its_held_out_fold() -> None:
    errors = [
        run_tuning(TuningTrial("synthetic", "", "hinge", fold, SETTINGS))["mean_absolute_error"] for fold in (0, 1)
    ]
    assert all(0 <= error <= 3 for error in errors)
    assert errors[0] != errors[1]


def test_real_sets_are_read_with_the_classes_that_the_protocol_says(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    for name in ("boston", "abalone", "computer", "california", "mslr"):
        data, entry = trials.load_set(name, str(data_dir)), SETS[name]
        assert (data.n_samples, data.features.shape[1], data.n_classes) == (
            entry.n_samples,
            entry.n_features,
            entry.n_classes,
        )


def test_the_papers_network_runs_all_epochs_and_keeps_the_last_weights() -> None:
    from ordinoise import OrdinalMLPClassifier

    data = synthetic(100, random_state=0)
    objective = Objective("cross_entropy", level_table(4)[None])
    training = train_network(data.features, data.labels, objective, SETTINGS, np.random.default_rng(0))
    assert (training.n_epochs, training.best_epoch, training.validation_curve) == (3, 3, [])
    settings: dict[str, Any] = {
        "max_iter": 3,
        "batch_size": 16,
        "thresholds": SETTINGS.thresholds,
        "activation": SETTINGS.activation,
    }
    model = OrdinalMLPClassifier(early_stopping=False, random_state=0, **settings).fit(data.features, data.labels)
    assert (model.n_iter_, model.n_updates_, model.validation_curve_) == (3, training.n_updates, [])
