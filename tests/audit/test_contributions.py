"""Why a label is suspected: contributions of columns that sum to the log-odds, and the most similar rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from ordinoise import OrdinalClassifier, adjacent, corrupt
from ordinoise._validation import Ints
from ordinoise.audit import contributions, neighbors
from ordinoise.audit.contributions import Contributions, column_contributions
from ordinoise.audit.neighbors import nearest_rows, similar_rows
from ordinoise.classifiers.blend.table import Counts, Filling, Reading, Table

NOISE = adjacent(3, up=0.1, down=0.2)
Learned = tuple[pl.DataFrame, np.ndarray, OrdinalClassifier]


@pytest.fixture(scope="module")
def learned() -> Learned:
    """A table in which one number and one category decide the grade, and two columns say nothing."""
    rng = np.random.default_rng(3)
    city, strong = rng.choice(["Oslo", "Turin", "Lima"], 300), rng.normal(size=300)
    true = np.digitize(strong + 1.5 * (city == "Lima"), [-0.3, 0.9])
    gaps = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))
    frame = pl.DataFrame({"idle": rng.normal(size=300), "strong": strong, "city": city, "gaps": gaps})
    model = OrdinalClassifier(noise=NOISE, n_folds=3, n_rounds=2, n_jobs=1, random_state=0)
    return frame, true, model.fit(frame, corrupt(true, NOISE, random_state=0))


def explained(learned: Learned, rows: np.ndarray, **more: object) -> Contributions:
    frame, _, model = learned
    return column_contributions(model, frame, rows, np.full(len(rows), 2), np.full(len(rows), 0), **more)  # type: ignore[arg-type]


def test_contributions_sum_to_the_log_odds_of_the_models_that_did_not_see_the_row(learned: Learned) -> None:
    rows = np.array([0, 7, 8, 150, 299])
    found = explained(learned, rows)
    held_out = learned[2].out_of_fold_
    assert held_out is not None
    own = np.log(held_out[rows] + 1e-6)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base, own[:, 2] - own[:, 0], atol=1e-9)
    assert found.names == ("idle", "strong", "city", "gaps")


def test_how_many_rows_are_predicted_together_changes_nothing(
    learned: Learned, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.arange(7)
    whole = explained(learned, rows)
    monkeypatch.setattr(contributions, "ROWS_AT_A_TIME", 10)
    np.testing.assert_allclose(explained(learned, rows).values, whole.values, rtol=1e-9)


def test_the_columns_that_decide_the_grade_are_named(learned: Learned) -> None:
    frame = learned[0]
    rows = np.arange(60)
    found = explained(learned, rows)
    size = np.abs(found.values).mean(axis=0)
    assert min(size[1], size[2]) > 2 * max(size[0], size[3])
    strong = frame["strong"].to_numpy()[rows]
    assert np.corrcoef(found.values[:, 1], strong)[0, 1] > 0.7
    lima = (frame["city"] == "Lima").to_numpy()[rows]
    assert found.values[lima, 2].min() > found.values[~lima, 2].max()


def test_the_other_way_round_the_signs_change_and_groups_count_as_one(learned: Learned) -> None:
    rows = np.array([3, 4])
    frame, _, model = learned
    one = explained(learned, rows)
    other = column_contributions(model, frame, rows, [0, 0], [2, 2])
    np.testing.assert_allclose(one.values, -other.values, atol=1e-9)
    grouped = explained(learned, rows, groups={"both": ["strong", "city"]})
    assert grouped.names == ("idle", "both", "gaps")
    np.testing.assert_allclose(grouped.values.sum(axis=1), one.values.sum(axis=1) + one.base - grouped.base, atol=1e-9)


def test_a_loaded_model_and_unknown_rows_are_refused_with_a_sentence(
    learned: Learned, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"^rows must be numbers from 0 to 299, got 300$"):
        explained(learned, np.array([300]))
    monkeypatch.setattr(learned[2], "folds_", None)
    with pytest.raises(ValueError, match=r"^model must be fitted in this process, got a loaded one; fit it again$"):
        explained(learned, np.array([0]))


def test_similar_rows_are_those_of_a_slow_search() -> None:
    rng = np.random.default_rng(0)
    numbers = np.where(rng.random((80, 2)) < 0.1, np.nan, rng.normal(size=(80, 2)) * [1, 50])
    features = np.column_stack([numbers, rng.integers(3, size=80)])
    table = Table(features, Filling.of(features, [2]))
    rows = np.array([5, 40])
    found = similar_rows(table, rows)
    filled = np.where(np.isnan(numbers), np.nanmedian(numbers, axis=0), numbers)
    scaled = (filled - filled.mean(axis=0)) / filled.std(axis=0)
    for row, near in zip(rows, found, strict=True):
        distance = ((scaled - scaled[row]) ** 2).sum(axis=1) / 2 + (features[:, 2] != features[row, 2])
        distance[row] = np.inf
        assert near.tolist() == np.argsort(distance)[:3].tolist()


def test_few_rows_have_few_neighbors() -> None:
    table = Table(np.zeros((2, 1)), Filling.of(np.zeros((2, 1)), []))
    assert similar_rows(table, np.array([1])).tolist() == [[0, -1, -1]]
    assert similar_rows(table.rows(np.array([0])), np.array([0])).tolist() == [[-1, -1, -1]]


def test_an_embedding_is_compared_by_its_direction() -> None:
    block = np.array([[1.0, 0.0], [10.0, 0.1], [1.0, 1.0], [0.0, 1.0]])
    table = Table(block, Filling.of(block, []))
    assert similar_rows(table, np.array([0]), 2, embedded=np.array([0, 1])).tolist() == [[1, 2]]


def test_only_the_rows_that_are_compared_are_weighed_in_a_large_table(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"a text about thing {at % 20} and number {at}" for at in range(90)]
    _, counts = Reading.of([texts])
    table = Table(np.empty((90, 0)), Filling.of(np.empty((90, 0)), []), counts)
    whole = similar_rows(table, np.array([7, 80]), 1)
    weighed: list[int] = []
    weigh = Counts.unit_rows

    def watched(own: Counts, rows: Ints) -> Any:
        weighed.append(len(rows))
        return weigh(own, rows)

    monkeypatch.setattr(Counts, "unit_rows", watched)
    for limit in ("MOST_ROWS", "MOST_CHECKED"):
        monkeypatch.setattr(neighbors, limit, 45)
    few = similar_rows(table, np.array([7, 80]), 1)
    nearest, _ = nearest_rows(table)
    assert max(weighed) <= 47
    assert (whole.ravel() % 20).tolist() == [7, 0]  # the same thing
    assert (few % 2 == 0).all()
    assert few[1, 0] % 20 == 0
    assert (nearest[::2] % 2 == 0).all()
    assert (nearest[1::2] == -1).all()


def test_texts_are_explained_as_the_held_out_models_read_them() -> None:
    """A training text is read without its own words among the others', so it is not read like the same text anew."""
    rng = np.random.default_rng(0)
    grades = np.arange(120) % 3
    words = np.array([["awful", "broken"], ["usable", "plain"], ["superb", "lovely"]])
    said = [
        f"{rng.choice(words[grade])} {' '.join(f'word{at}' for at in rng.integers(30, size=5))}" for grade in grades
    ]
    model = OrdinalClassifier(noise=NOISE, n_folds=2, n_rounds=1, n_jobs=1, random_state=0).keep_table()
    model.fit(pl.DataFrame({"said": said}), grades)
    assert model.table_ is not None
    assert model.out_of_fold_ is not None
    rows = np.arange(0, 120, 9)
    found = column_contributions(model, model.table_, rows, np.full(len(rows), 2), np.full(len(rows), 0))
    own = np.log(model.out_of_fold_[rows] + 1e-6)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base, own[:, 2] - own[:, 0], atol=1e-9)
