from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.app.tables import grades_of
from ordinoise.app.tables.target import Classes, graded_rows


def ordered_classes(frame: pl.DataFrame, target: str, order: Sequence[object] | str | None = None) -> Classes:
    return graded_rows(frame, target, order)[0]


def column(*cells: object) -> pl.DataFrame:
    return pl.DataFrame({"grade": list(cells)}, strict=False)


@pytest.mark.parametrize("cells", [(3, 1, None, 2), (3.0, 1.0, None, 2.0), ("3", " 1", "NA", "2.0")])
def test_whole_numbers_have_an_order_of_their_own_and_are_ints(cells: tuple[object, ...]) -> None:
    classes = ordered_classes(column(*cells), "grade")
    assert classes == (1, 2, 3)
    assert {type(one) for one in classes} == {int}
    labels, rows = grades_of(column(*cells), "grade", classes)
    assert labels.tolist() == [3, 1, 2]
    assert rows.tolist() == [0, 1, 3]
    assert labels.dtype == rows.dtype == np.dtype(np.int64)


def test_half_stars_are_text_in_the_order_of_their_numbers() -> None:
    frame = column(10.0, 0.5, None, 2.0)
    classes = ordered_classes(frame, "grade")
    assert classes == ("0.5", "2.0", "10.0")
    assert grades_of(frame, "grade", classes)[0].tolist() == ["10.0", "0.5", "2.0"]


@given(st.permutations([number / 2 for number in range(40)]))
def test_the_order_of_the_rows_does_not_change_the_order_of_the_grades(numbers: list[float]) -> None:
    assert ordered_classes(column(*numbers), "grade") == tuple(str(number) for number in sorted(numbers))


def test_numbers_of_any_type_are_numbers() -> None:
    for dtype in (pl.UInt8, pl.Int16, pl.Float32, pl.Decimal(4, 1), pl.Int64):
        frame = column(2, 1, 3).cast(dtype)
        assert ordered_classes(frame, "grade") == (1, 2, 3)


@given(st.sets(st.sampled_from(["low", "medium", "high", "very high"]), min_size=2), st.permutations(range(6)))
def test_text_takes_the_order_given_and_grades_that_nobody_gave_stay_in_it(found: set[str], places: list[int]) -> None:
    names = ["low", "medium", "high", "very high", "superb", "?!"]
    order = [names[place] for place in places]
    frame = column(*sorted(found), None)
    assert ordered_classes(frame, "grade", order) == tuple(order)
    assert ordered_classes(frame, "grade", ",".join(order)) == tuple(order)
    assert grades_of(frame, "grade", order)[0].tolist() == sorted(found)


def test_blanks_around_text_are_no_part_of_a_grade() -> None:
    frame = column("low ", " high", "low")
    assert ordered_classes(frame, "grade", [" low", "high "]) == ("low", "high")
    assert grades_of(frame, "grade", ("low", "high"))[0].tolist() == ["low", "high", "low"]
    with pytest.raises(ValueError, match=r"^target must have at least two grades, got 'low' in every row"):
        ordered_classes(column("low ", "low"), "grade", "low,high")


@pytest.mark.parametrize("order", ["3,2,1", ["3", "2.0", "1"], [3, 2, 1]])
def test_an_order_turns_whole_numbers_round(order: Any) -> None:
    assert ordered_classes(column(1, 2, 3), "grade", order) == (3, 2, 1)


def test_an_order_of_half_stars_is_matched_by_number() -> None:
    assert ordered_classes(column(0.5, 1.0), "grade", ["2", "1", ".50"]) == ("2.0", "1.0", "0.5")
    assert ordered_classes(column(1, 2), "grade", ["1", "1.5", "2"]) == ("1.0", "1.5", "2.0")


def test_true_and_false_are_graded_in_the_order_given() -> None:
    frame = column(True, None, False)
    assert ordered_classes(frame, "grade", ["False", "TRUE"]) == ("false", "true")
    assert grades_of(frame, "grade", ("false", "true"))[0].tolist() == ["true", "false"]


def test_categories_are_text_whatever_order_they_are_stored_in() -> None:
    for dtype in (pl.Categorical, pl.Enum(["v", "u"])):
        frame = column("u", "v").cast(dtype)
        assert ordered_classes(frame, "grade", "v,u") == ("v", "u")
        with pytest.raises(ValueError, match=r"^order must"):
            ordered_classes(frame, "grade")


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (("silver", "gold", None, "gold"), "'silver', 'gold'; for example --order 'silver < gold' "),
        ((True, False), "'true', 'false'; for example --order 'true < false' "),
        (
            tuple(datetime.date(2024, 1, day) for day in (1, 2)),
            "'2024-01-01', '2024-01-02'; for example --order '2024-01-01 < 2024-01-02'",
        ),
    ],
)
def test_without_an_order_text_is_refused_and_its_values_are_shown(cells: tuple[object, ...], shown: str) -> None:
    sentence = r"^order must list the grades from lowest to highest, got none for 'grade', which holds "
    with pytest.raises(ValueError, match=sentence + shown):
        ordered_classes(column(*cells), "grade")


REFUSED: dict[str, tuple[pl.DataFrame, str, Any, str]] = {
    "absent": (
        column(1, 2),
        "grad",
        None,
        r"target must name a column of the file, got 'grad'; did you mean 'grade'\?",
    ),
    "nothing near": (
        column(1, 2),
        "y",
        None,
        "target must name a column of the file, got 'y'; the columns are 'grade'",
    ),
    "constant": (
        column(4, 4, None),
        "grade",
        None,
        "target must have at least two grades, got 4 in every row of 'grade'",
    ),
    "all missing": (
        column("NA", None),
        "grade",
        None,
        "target must have grades, got only missing cells in 'grade'",
    ),
    "huge": (
        column(1.5, 1e308),
        "grade",
        None,
        r"target must hold grades below 2\*\*63, got a larger one in 'grade'",
    ),
    "infinite": (
        column(1.5, float("inf")),
        "grade",
        None,
        "target must hold finite grades, got an infinite one in 'grade'",
    ),
    "many numbers": (
        column(*range(10_000)),
        "grade",
        None,
        "target must have at most 50 grades, got 10000 different values in 'grade'; cut it into grades first",
    ),
    "many texts": (
        column(*(f"t{i}" for i in range(51))),
        "grade",
        None,
        "target must have at most 50 grades, got 51 different values in 'grade'; name another column",
    ),
    "misspelt": (
        column("low", "high"),
        "grade",
        ["low", "hihg"],
        r"order must name every grade of 'grade', got none for 'high'; did you mean 'hihg'\?",
    ),
    "unnamed": (
        column("low", "high"),
        "grade",
        ["low", "q"],
        "order must name every grade of 'grade', got none for 'high'; they are 'low', 'q'",
    ),
    "unnamed number": (
        column(1, 2.0),
        "grade",
        "1,3",
        "order must name every grade of 'grade', got none for '2'; they are",
    ),
    "twice": (column("a", "b"), "grade", ["a", "b", " a"], "order must name every grade once, got ' a' twice"),
    "twice as a number": (column(1, 2), "grade", "1,2,1.0", "order must name every grade once, got '1.0' twice"),
    "between commas": (
        column("a", "b"),
        "grade",
        "a,,b",
        "order must have a grade between any two commas, got an empty name",
    ),
    "word": (column(1, 2), "grade", "1,2,x", "order must hold numbers, as the grades 1, 2 are, got 'x'"),
    "long order": (column(1, 2), "grade", range(51), "order must have at most 50 grades, got 51"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_target_that_cannot_be_graded_gets_a_sentence(name: str) -> None:
    frame, target, order, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=f"^{sentence}"):
        ordered_classes(frame, target, order)


@pytest.mark.parametrize(
    ("cells", "classes", "expected"),
    [
        ((1, 3), (1, 2, 3), [1, 3]),
        ((1.0, None, 3.0), (1, 2, 3), [1, 3]),
        ((1, 2), ("0.5", "1.0", "2.0"), ["1.0", "2.0"]),
        (("1", "x"), ("x", "1"), ["1", "x"]),
        ((1, 2), ("x", "1", "2"), ["1", "2"]),
        (("True", "false"), ("false", "true"), ["true", "false"]),
        ((float("nan"), 2.0), (1, 2), [2]),
    ],
)
def test_another_file_may_spell_the_known_grades_differently(
    cells: tuple[object, ...], classes: tuple[int, ...], expected: list[object]
) -> None:
    labels, rows = grades_of(column(*cells), "grade", classes)
    assert labels.tolist() == expected
    assert len(rows) == len(expected)


def test_one_known_grade_is_enough_for_another_file() -> None:
    assert grades_of(column(2, 2), "grade", (1, 2))[0].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (("lov", "high"), r"target must hold known grades only, got 'lov' in 'grade'; did you mean 'low'\?"),
        ((7,), "target must hold known grades only, got '7' in 'grade'; they are 'low', 'high'"),
        ((None,), "target must have grades, got only missing cells in 'grade'"),
    ],
)
def test_another_file_with_unknown_grades_gets_a_sentence(cells: tuple[object, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        grades_of(column(*cells), "grade", ("low", "high"))
    with pytest.raises(
        ValueError, match=r"^target must name a column of the file, got 'Grades'; did you mean 'grade'\?$"
    ):
        grades_of(column(*cells), "Grades", ("low", "high"))


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        (("low", "high", "medium"), ("low", "medium", "high")),
        (("B", "A-", "A", None), ("B", "A-", "A")),
        (("Low", "low ", "Low", "HIGH", "HIGH"), ("Low", "HIGH")),
        (("mild", "k.A.", "none"), ("none", "mild")),
    ],
)
def test_names_that_say_their_order_need_none_and_gap_words_are_no_grades(
    cells: tuple[str | None, ...], classes: tuple[str, ...]
) -> None:
    frame = column(*cells)
    found, labels, rows = graded_rows(frame, "grade")
    assert found == classes
    expected = {text.casefold(): text for text in classes}
    kept = [row for row, cell in enumerate(cells) if cell is not None and cell.strip().casefold() in expected]
    assert rows.tolist() == kept
    assert labels.tolist() == [expected[str(cells[row]).strip().casefold()] for row in kept]


@pytest.mark.parametrize("order", ["silver < gold", "silver;gold", "silver,gold", " silver ; gold"])
def test_an_order_is_separated_by_commas_semicolons_or_signs(order: str) -> None:
    assert ordered_classes(column("gold", "silver"), "grade", order) == ("silver", "gold")


@pytest.mark.parametrize("order", ["0,5;2,5;3", "0.5 < 2.5 < 3", [0.5, 2.5, 3]])
def test_grades_with_decimal_commas_are_numbers_in_the_column_and_in_the_order(order: Any) -> None:
    frame = column("2,5", "3", "0,5")
    assert ordered_classes(frame, "grade") == ("0.5", "2.5", "3.0")
    assert ordered_classes(frame, "grade", order) == ("0.5", "2.5", "3.0")
    assert grades_of(frame, "grade", ["0.5", "2.5", "3.0"])[0].tolist() == ["2.5", "3.0", "0.5"]


def test_a_word_for_a_gap_is_a_grade_if_the_order_names_it() -> None:
    frame = column("gold", "unknown", "silver")
    assert graded_rows(frame, "grade", "unknown < silver < gold")[2].tolist() == [0, 1, 2]
    assert graded_rows(frame, "grade", "silver < gold")[2].tolist() == [0, 2]


def test_an_order_may_tell_grades_apart_by_their_case() -> None:
    assert graded_rows(column("a", "A"), "grade", "a,A")[1].tolist() == ["a", "A"]
