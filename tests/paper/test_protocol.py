"""The paper's protocol as data."""

from collections import Counter

import numpy as np
import pytest

from ordinoise.jobs import StoredResult, trial_key, trial_record
from ordinoise.paper import PAPER_SETS, PROTOCOLS, SETS, plan
from ordinoise.paper.comparison import Group, group_of
from ordinoise.paper.findings import settings_found
from ordinoise.paper.printed import table1, table2
from ordinoise.paper.protocol import noise_matrix


def test_the_plan_has_a_trial_for_every_printed_cell_of_both_tables() -> None:
    groups = {
        Group(trial.dataset, trial.loss, trial.correction, trial.variant, trial.noise) for trial in plan(n_splits=1)
    }
    errors, counts = table1(), table2()
    assert (len(errors), len(counts)) == (144, 8)
    assert {group_of(cell.dataset, cell.loss, cell.variant, cell.train_on) for cell in errors} <= groups
    assert {group_of(cell.dataset, cell.loss, cell.variant, cell.train_on) for cell in counts} <= groups


def test_every_set_has_20_splits_and_no_trial_is_there_twice() -> None:
    trials = plan()
    assert len({trial_key(trial) for trial in trials}) == len(trials)
    by_set = Counter(trial.dataset for trial in trials)
    assert set(by_set) == set(PAPER_SETS)
    # 10 networks of Table 1 and 3 with forward correction; Abalone has the asymmetric matrix too.
    assert {name: count // 20 for name, count in by_set.items()} == dict.fromkeys(PAPER_SETS, 13) | {"abalone": 21}


def test_the_inferred_protocol_makes_the_updates_that_the_paper_counts_on_california() -> None:
    rows = SETS["california"].n_samples * 4 // 5
    settings = PROTOCOLS["inferred"].settings(SETS["california"], "estimated")
    n_batches = -(-rows // settings.batch_size)
    [total] = {cell.total for cell in table2() if cell.dataset == "california"}
    assert n_batches * settings.n_epochs == total == 247_680


def test_the_printed_protocol_trains_every_variant_for_300_epochs() -> None:
    assert {trial.settings.n_epochs for trial in plan(["boston"], n_splits=1, protocol="printed")} == {300}


def test_only_forward_trials_have_ordered_thresholds() -> None:
    for trial in plan(n_splits=1):
        assert (trial.settings.thresholds == "ordered") == (trial.correction == "forward")


def test_tuned_settings_reach_every_variant_of_their_loss() -> None:
    tuned = {("boston", "cross_entropy"): (6, 0.01), ("boston", "hinge"): (8, 0.003)}
    for trial in plan(["boston"], n_splits=1, tuned=tuned):
        assert (trial.settings.n_hidden, trial.settings.learning_rate) == tuned["boston", trial.loss]


def test_the_settings_of_a_grid_search_are_said() -> None:
    tuned = {("boston", "cross_entropy"): (6, 0.01), ("abalone", "hinge"): (8, 0.003)}
    trials = plan(["boston", "abalone"], n_splits=1, tuned=tuned)
    found = settings_found(StoredResult(trial_key(trial), trial_record(trial), {}, 0.0) for trial in trials)
    assert found == [
        "Hidden units and learning rate by the grid search, cross-entropy: Boston 6 and 0.01; Abalone 10 and 0.001.",
        "Hidden units and learning rate by the grid search, hinge: Boston 10 and 0.001; Abalone 8 and 0.003.",
    ]


@pytest.mark.parametrize("noise", ["none", "uniform", "asymmetric"])
def test_rows_of_every_noise_sum_to_one(noise: str) -> None:
    np.testing.assert_allclose(noise_matrix(noise, 4).sum(axis=1), 1)


def test_an_unknown_set_is_refused_by_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"datasets must be one of .* got 'bostn'; did you mean 'boston'"):
        plan(["bostn"])
