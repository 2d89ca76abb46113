from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from ordinoise import RepeatedLabels
from ordinoise.decisions import decide
from ordinoise.labels import as_column, ordered_classes, ranks_of

ORDER = ["low", "mid", "high"]
CODES = [2, 0, 0, 2]
TEXT = [ORDER[code] for code in CODES]

ORDERED: dict[str, Any] = {
    "pandas series": pd.Series(pd.Categorical(TEXT, categories=ORDER, ordered=True)),
    "pandas categorical": pd.Categorical(TEXT, categories=ORDER, ordered=True),
    "polars enum": pl.Series(TEXT, dtype=pl.Enum(ORDER)),
    "pyarrow array": pa.DictionaryArray.from_arrays(pa.array(CODES), pa.array(ORDER), ordered=True),
    "pyarrow chunked array": pa.chunked_array(
        [pa.DictionaryArray.from_arrays(pa.array(CODES), pa.array(ORDER), ordered=True)]
    ),
}


@pytest.mark.parametrize("y", ORDERED.values(), ids=ORDERED)
def test_an_ordered_categorical_keeps_its_order_and_its_unseen_classes(y: Any) -> None:
    classes = ordered_classes(y)
    assert classes.tolist() == ORDER
    np.testing.assert_array_equal(ranks_of("y", y, classes), CODES)


UNORDERED: dict[str, Any] = {
    "list": TEXT,
    "array": np.array(TEXT),
    "pandas text": pd.Series(TEXT),
    "pandas categorical": pd.Series(pd.Categorical(TEXT)),
    "polars text": pl.Series(TEXT),
    "polars categorical": pl.Series(TEXT, dtype=pl.Categorical),
    "pyarrow text": pa.chunked_array([TEXT]),
}


@pytest.mark.parametrize("y", UNORDERED.values(), ids=UNORDERED)
def test_text_without_an_order_is_refused(y: Any) -> None:
    sentence = r"classes must list the grades from lowest to highest .*, got none for 'high', 'low'; pass classes=\["
    with pytest.raises(ValueError, match=sentence):
        ordered_classes(y)
    np.testing.assert_array_equal(ranks_of("y", y, ordered_classes(y, ORDER)), CODES)


def test_whole_numbers_with_gaps_are_ranked_by_size() -> None:
    classes = ordered_classes([7, -1, 3, 7])
    assert classes.tolist() == [-1, 3, 7]
    np.testing.assert_array_equal(ranks_of("y", [7, -1, 3, 7], classes), [2, 0, 1, 2])


def test_stated_classes_may_run_against_the_numbers() -> None:
    classes = ordered_classes([1, 2, 3], [3, 2, 1])
    np.testing.assert_array_equal(ranks_of("y", np.array([1, 2, 3]), classes), [2, 1, 0])


@pytest.mark.parametrize("unknown", [5, 0, 2])
def test_an_unknown_label_is_named(unknown: int) -> None:
    with pytest.raises(ValueError, match=rf"y must hold only the labels \[1, 3\], got {unknown}"):
        ranks_of("y", np.array([1, unknown]), np.array([1, 3]))


def test_a_column_of_a_table_is_one_column() -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert as_column("y", np.array([[1], [2]])).tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"y must be one column, got shape \(1, 2\)"):
        as_column("y", [[1, 2]])


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        ([], r"classes must be a list of grades in order, got shape \(0,\)"),
        (["a", "b", "a"], r"classes must name every grade once, got \['a', 'b', 'a'\]"),
        ([[1], [2]], r"classes must be a list of grades in order, got shape \(2, 1\)"),
    ],
)
def test_bad_classes_get_one_sentence(classes: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ordered_classes(["a"], classes)


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_each_rule_has_the_least_expected_cost_of_its_kind(n_classes: int, seed: int) -> None:
    probabilities = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.7), 20)
    ranks = np.arange(n_classes)
    distance = np.abs(ranks[:, None] - ranks).astype(float)
    for rule, cost in (("median", distance), ("mode", (distance > 0).astype(float)), ("mean", distance**2)):
        expected = probabilities @ cost
        chosen = expected[np.arange(20), decide(probabilities, rule)]
        np.testing.assert_allclose(chosen, expected.min(axis=1), atol=1e-12)
        np.testing.assert_allclose(expected[np.arange(20), decide(probabilities, cost)], expected.min(axis=1))


def test_a_cost_matrix_is_indexed_true_then_predicted() -> None:
    never_too_low = np.array([[0, 1, 1], [100, 0, 1], [100, 100, 0]])
    assert decide(np.array([[0.6, 0.3, 0.1]]), never_too_low) == [2]
    assert decide(np.array([[0.6, 0.3, 0.1]]), never_too_low.T) == [0]


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("medium", r"decision must be one of \['median', 'mode', 'mean'\], got 'medium'; did you mean 'median'\?"),
        (np.eye(2), r"decision must be one of .* or a 3 x 3 cost\[true, predicted\], got shape \(2, 2\)"),
        ([[np.nan] * 3] * 3, r"decision must be finite"),
    ],
)
def test_a_bad_rule_gets_one_sentence(rule: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        decide(np.full((1, 3), 1 / 3), rule)  # type: ignore[arg-type]


LOST = np.array([1, 2, -(2**63), 3])  # what astype(int) makes of a missing grade
DATES = np.array(["2026-01-01", "2026-02-01", "2026-03-01"], dtype="datetime64[D]")


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (
            LOST,
            r"y must hold grades, got -9223372036854775808 beside 1 to 3; drop such rows if it marks a missing grade",
        ),
        ([1, 2, 3, 99], r"y must hold grades, got 99 beside 1 to 3; .*pass classes=, with 99 among them"),
        ([-1, 0, 1, 2, 3], r"y must hold grades, got -1 beside 0 to 3"),
        ([1.0, 2.0, 5.0, 999.0], r"y must hold grades, got 999 beside 1 to 5"),
        (DATES, r"y must hold grades, got dates or durations such as 2026-01-01"),
        (list(DATES.tolist()), r"y must hold grades, got dates or durations such as 2026-01-01"),
        (DATES - DATES[0], r"y must hold grades, got dates or durations such as 0"),
    ],
)
def test_what_is_no_grade_is_refused(y: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ordered_classes(y)


@pytest.mark.parametrize(
    "y", [[-1, 1], [-1, 0, 1], [-2, -1, 0, 1, 2], [0, 25, 50, 99], [90, 95, 99], [1, 10, 100, 1000], [0.5, 1.0, 1.5]]
)
def test_scales_with_odd_numbers_are_grades(y: Any) -> None:
    assert ordered_classes(y).tolist() == y


def test_whoever_names_an_odd_grade_may_have_it() -> None:
    assert ordered_classes([1, 2, 3, 99], [1, 2, 3, 99]).tolist() == [1, 2, 3, 99]


def test_a_lost_rating_does_not_become_a_consensus() -> None:
    items, raters = np.repeat(np.arange(20), 3), np.tile(np.arange(3), 20)
    grades = items % 4
    grades[7] = np.iinfo(np.int64).min
    with pytest.raises(ValueError, match="must hold grades, got -9223372036854775808"):
        RepeatedLabels(random_state=0).fit(items, raters, grades)
