"""The order of the rows says nothing: any permutation gives the same cells, estimate, interval and doubts."""

from __future__ import annotations

import numpy as np
import pytest

from ordinoise import OrdinalClassifier, corrupt
from ordinoise._validation import Floats, Ints
from ordinoise.datasets import synthetic
from ordinoise.estimation.score.cells import ScoreCells, binned_scores
from ordinoise.estimation.score.estimator import noise_from_counts, noise_from_probabilities
from ordinoise.levels import class_probabilities
from ordinoise.noise import inverse_decay

NOISE = inverse_decay(4, 0.15)


def coarse(n_rows: int, n_scores: int, seed: int, noise_matrix: Floats = NOISE) -> tuple[Floats, Ints, float]:
    """Exact probabilities of recorded labels with few distinct scores, as of categories; labels; share of wrong ones."""
    rng = np.random.default_rng(seed)
    score = np.linspace(-3, 3, n_scores)[rng.integers(n_scores, size=n_rows), None]
    clean = class_probabilities((score - np.array([-1.5, 0, 1.5])) / 0.5)
    true = (rng.random((n_rows, 1)) > clean.cumsum(axis=1)[:, :-1]).sum(axis=1)
    recorded = corrupt(true, noise_matrix, random_state=rng)
    return clean @ noise_matrix, recorded, float((true != recorded).mean())


@pytest.mark.parametrize("n_scores", [2, 7, 40, 2000])
def test_ties_share_a_cell_whatever_the_order_of_the_rows(n_scores: int) -> None:
    probabilities, ranks, _ = coarse(500, n_scores, 0)
    by_grade = np.argsort(ranks, kind="stable")
    first, cells = binned_scores(probabilities, ranks, np.ones(500), 60)
    again, sorted_cells = binned_scores(probabilities[by_grade], ranks[by_grade], np.ones(500), 60)
    assert np.array_equal(cells[by_grade], sorted_cells)
    for name in ("score", "group", "counts"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert len({(score, cell) for score, cell in zip(probabilities[:, 0], cells, strict=True)}) <= n_scores


def test_a_cell_lies_at_the_middle_of_the_places_of_its_rows() -> None:
    """Three scores in 10, 80 and 10 % of the rows: their middles lie at .05, .5 and .95."""
    probabilities = np.repeat([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]], [50, 400, 50], axis=0)
    bins, _ = binned_scores(probabilities, np.zeros(500, dtype=np.int64), np.ones(500), 20)
    assert bins.n_groups == 1
    assert bins.sizes.tolist() == [50, 400, 50]
    assert bins.score == pytest.approx([-1.645, 0, 1.645], abs=1e-3)


def test_one_score_in_nearly_all_rows_leaves_two_bins() -> None:
    probabilities = np.repeat([[0.7, 0.3], [0.2, 0.8]], [199, 1], axis=0)
    for some in (probabilities, probabilities[::-1]):
        bins, _ = binned_scores(some, np.arange(200) % 2, np.ones(200), 25)
        assert sorted(bins.sizes) == [1, 199]
        assert bins.score[0] < bins.score[-1]


@pytest.mark.parametrize(("noise_matrix", "n_scores"), [(NOISE, 7), (np.eye(4), 40)], ids=["slips", "clean"])
def test_rows_sorted_by_grade_give_the_same_estimate(noise_matrix: Floats, n_scores: int) -> None:
    probabilities, ranks, wrong = coarse(2000, n_scores, 1, noise_matrix)
    shuffled, by_grade = np.random.default_rng(2).permutation(2000), np.argsort(ranks, kind="stable")
    one, other = (noise_from_probabilities(probabilities[p], ranks[p], random_state=0) for p in (shuffled, by_grade))
    assert np.array_equal(one.matrix, other.matrix)
    assert one.rate_interval == other.rate_interval
    assert one.doubts == other.doubts
    assert one.rate_interval is not None
    assert one.is_in_doubt or one.rate_interval[0] <= wrong <= one.rate_interval[1]


def test_counts_of_parts_give_the_estimate_of_the_table_where_scores_tie() -> None:
    probabilities, ranks, _ = coarse(2000, 7, 3)
    cells = ScoreCells.from_sample(probabilities)
    by_counts = noise_from_counts(cells, cells.counts(probabilities, ranks), probabilities, ranks, random_state=0)
    by_rows = noise_from_probabilities(probabilities, ranks, random_state=0)
    assert np.abs(by_counts.matrix - by_rows.matrix).max() < 1e-9
    assert by_counts.doubt_codes == by_rows.doubt_codes


@pytest.mark.slow
def test_the_order_of_the_rows_changes_predictions_as_another_seed_does() -> None:
    """Folds are drawn at random within each grade, so rows sorted by grade are like any others."""
    data = synthetic(150, random_state=1)
    recorded = corrupt(data.labels, NOISE, random_state=0)

    def held_out(rows: Ints, seed: int) -> Floats:
        model = OrdinalClassifier("mlp", random_state=seed).fit(data.features[rows], recorded[rows])
        assert model.out_of_fold_ is not None
        found = np.empty_like(model.out_of_fold_)
        found[rows] = model.out_of_fold_
        return found

    as_given, by_grade = np.arange(600), np.argsort(recorded, kind="stable")
    base = [held_out(as_given, seed) for seed in (0, 1, 2)]
    by_seed = np.mean([np.abs(base[a] - base[b]).mean() for a, b in ((0, 1), (0, 2), (1, 2))])
    by_order = np.mean([np.abs(base[seed] - held_out(by_grade, seed)).mean() for seed in (0, 1, 2)])
    assert by_order < 1.3 * by_seed
