from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.review.sample import CLASSES, MATRIX, noise_of
from ordinoise._text import percent
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.review import RefitOutcome, in_words
from ordinoise.app.review.reasons import grade_keys, reasons
from ordinoise.noise import Noise


def test_reasons_read_the_matrix_by_true_grade_first(record: AuditRecord) -> None:
    graded = (0.05, 0.02, 0.03, 0.82, 0.05, 0.03)
    suspect = replace(record.suspects[0], recorded="3", suggested="6", graded=graded)
    assert MATRIX[3, 0] != MATRIX[0, 3] or MATRIX[3, 2] != MATRIX[2, 3]
    assert reasons(record, suspect) == [
        "Of rows like this one 82% are graded 6, and 5.0% 3 as here.",
        "Recording 6 as 3 is a rare error here (1.0% of the true 6): the two are 3 grades apart.",
    ]
    near = replace(suspect, recorded="5", suggested="6")
    assert (
        reasons(record, near)[1]
        == "Recording 6 as 5 is a common error here (12% of the true 6): the two are neighbors."
    )


def test_where_no_grade_has_half_of_the_rows_the_side_of_the_scale_is_reported(record: AuditRecord) -> None:
    graded = (0.02, 0.01, 0.02, 0.39, 0.25, 0.31)
    suspect = replace(record.suspects[0], recorded="3", suggested="7", graded=graded)
    assert reasons(record, suspect)[0] == (
        "Of rows like this one 98% are graded higher (suggested: 7), and 2.0% 3 as here."
    )
    other = replace(suspect, recorded="8", suggested="5", graded=(0.3, 0.2, 0.35, 0.05, 0.04, 0.06))
    assert reasons(record, other)[0].startswith("Of rows like this one 94% are graded lower (suggested: 5),")


def test_a_suspect_whose_recorded_grade_is_likeliest_is_reported_so(record: AuditRecord) -> None:
    graded = (0.02, 0.03, 0.4, 0.3, 0.2, 0.05)
    suspect = replace(record.suspects[0], recorded="5", suggested="5", graded=graded)
    first, second = reasons(record, suspect)
    assert first == "Of rows like this one 40% are graded 5 as here, 60% otherwise."
    assert second.startswith("Recording 6 as 5 is a common error")


@given(share=st.floats(0, 1))
def test_a_share_is_never_shown_as_none_or_all_unless_it_is(share: float) -> None:
    assert (percent(share) == "0%") == (share == 0)
    assert (percent(share) == "100%") == (share == 1)


@pytest.mark.parametrize(
    ("classes", "keys"),
    [
        (("3", "4", "5"), ["3", "4", "5"]),
        (("0", "1", "2"), ["0", "1", "2"]),
        (("low", "medium", "high"), ["1", "2", "3"]),
        (tuple(map(str, range(1, 11))), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"]),
        (tuple(map(str, range(5, 17))), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "", ""]),
        (("²", "³"), ["1", "2"]),
    ],
)
def test_a_key_is_the_grade_itself_where_every_grade_is_a_digit(classes: tuple[str, ...], keys: list[str]) -> None:
    assert grade_keys(classes) == keys


def test_too_few_rows_are_reported_in_place_of_a_share() -> None:
    unknown = Noise(np.eye(6), source="too few rows", class_shares=np.full(6, 1 / 6))
    known = noise_of(0.22, (0.17, 0.27))
    assert in_words(RefitOutcome(unknown, known, 5), CLASSES) == [
        "New estimate: if one matrix describes the noise, about 22.0% of the labels are wrong (95% interval 17.0% to "
        "27.0%). Previous estimate: there are too few rows to estimate how many of the labels are wrong."
    ]
    assert in_words(RefitOutcome(known, unknown, 5), CLASSES) == [
        "There are too few rows to estimate how many of the labels are wrong."
    ]
    assert RefitOutcome(unknown, known, 5).to_dict()["rate_before"] is None


def test_sentences_name_the_entry_that_moved_most_by_true_grade_first() -> None:
    after = MATRIX.copy()
    after[3, 2] += 0.06
    after[3, 3] -= 0.06
    outcome = RefitOutcome(noise_of(0.2, (0.1, 0.3)), noise_of(0.22, (0.05, 0.35), after), 5)
    _, sharper, moved = in_words(outcome, CLASSES)
    assert sharper == "The interval is 50% wider than before: the decisions do not narrow it."
    assert moved == "Recording 6 as 5 is more common than estimated: 18%, before 12%."
    back = RefitOutcome(noise_of(0.2, None, after), noise_of(0.22, None), 5)
    assert in_words(back, CLASSES) == [
        "New estimate: if one matrix describes the noise, about 22.0% of the labels are wrong. Previous estimate: if one "
        "matrix describes the noise, about 20.0% of the labels are wrong.",
        "Recording 6 as 5 is less common than estimated: 12%, before 18%.",
    ]
