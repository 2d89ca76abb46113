"""Label counts by cells of the score: parts add up, and the estimate is that of the whole table."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ordinoise import corrupt
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.estimation.score.estimator import noise_from_counts, noise_from_probabilities
from ordinoise.levels import class_probabilities
from ordinoise.noise import inverse_decay

NOISE = inverse_decay(4, 0.12)


def _held_out(n_rows: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the recorded label, and recorded labels that follow them."""
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=3, size=(n_rows, 1))
    clean = class_probabilities(scores * rng.uniform(0.7, 1.5, size=(n_rows, 1)) + [2.0, 0.0, -2.0])
    true = (rng.random((n_rows, 1)) > clean.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return clean @ NOISE, corrupt(true, NOISE, random_state=rng)


def test_counts_of_parts_add_up_to_those_of_the_table() -> None:
    probabilities, ranks = _held_out()
    cells = ScoreCells.from_sample(probabilities[::3])
    whole = cells.counts(probabilities, ranks)
    cuts = [0, 7, 1000, 1001, 3500, len(ranks)]
    parts = [cells.counts(probabilities[a:b], ranks[a:b]) for a, b in pairwise(cuts)]
    assert np.array_equal(np.sum(parts, axis=0), whole)
    assert whole.sum() == len(ranks)


def test_cells_of_the_whole_table_have_equal_numbers() -> None:
    probabilities, ranks = _held_out()
    sizes = ScoreCells.from_sample(probabilities).counts(probabilities, ranks).sum(axis=1)
    assert np.ptp(sizes) <= 2


def test_the_estimate_from_counts_is_that_from_rows() -> None:
    probabilities, ranks = _held_out()
    by_rows = noise_from_probabilities(probabilities, ranks, random_state=0)
    cells = ScoreCells.from_sample(probabilities)
    by_counts = noise_from_counts(cells, cells.counts(probabilities, ranks), probabilities, ranks, random_state=0)
    assert np.abs(by_counts.matrix - by_rows.matrix).max() < 1e-3
    assert by_counts.doubt_codes == by_rows.doubt_codes


def test_cuts_from_a_sample_serve_the_whole_table() -> None:
    probabilities, ranks = _held_out()
    by_rows = noise_from_probabilities(probabilities, ranks, random_state=0)
    cells = ScoreCells.from_sample(probabilities[::4])
    counts = cells.counts(probabilities, ranks)
    by_counts = noise_from_counts(cells, counts, probabilities[::4], ranks[::4], random_state=0)
    assert by_rows.rate_interval is not None
    assert by_rows.rate is not None
    assert by_counts.rate is not None
    standard_error = np.ptp(by_rows.rate_interval) / 4
    assert abs(by_counts.rate - by_rows.rate) < standard_error


def test_few_different_scores_leave_no_empty_cell() -> None:
    probabilities, ranks = _held_out(600)
    coarse = probabilities[np.arange(600) % 5]
    cells = ScoreCells.from_sample(coarse)
    counts = cells.counts(coarse, ranks)
    bins, place = cells.binned(counts)
    assert (bins.sizes > 0).all()
    assert np.array_equal(bins.counts[place[cells.of(coarse)]], counts[cells.of(coarse)])
