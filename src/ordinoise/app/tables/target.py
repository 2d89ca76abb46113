"""The column of grades: its classes in order, and the grade of each row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ordinoise._validation import Ints, complain
from ordinoise.columns.categories import commonest, folded, folded_once
from ordinoise.columns.findings import SpellingHints
from ordinoise.columns.inference import as_text, nameless
from ordinoise.columns.names import as_column, listed, meant
from ordinoise.columns.scales import proposed_order
from ordinoise.columns.spelling import typed
from ordinoise.columns.words import GAP_WORDS

# A column with more values is probably not one of grades; a round number, chosen by no run.
MOST_GRADES = 50
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
SEPARATORS = {",": "commas", ";": "semicolons", "<": "signs <"}
Classes = tuple[int, ...] | tuple[str, ...]


def grades_of(frame: pl.DataFrame, target: str, classes: Sequence[int] | Sequence[str]) -> tuple[NDArray[Any], Ints]:
    """Labels of the rows that have a grade, and the numbers of those rows, from 0.

    Each label is one of `classes`; 1, 1.0 and the text "1" are the same grade, and blanks around text are ignored.
    """
    return _labels(_without_gaps(_grades(frame, target), classes), target, classes)


def graded_rows(
    frame: pl.DataFrame, target: str, order: Sequence[object] | str | None = None
) -> tuple[Classes, NDArray[Any], Ints]:
    """Classes of a column from lowest to highest, labels of its graded rows, and the numbers of those rows, from 0.

    Classes are ints if all are whole numbers, text otherwise. Numbers are sorted, and names that say their order, such
    as low and high; other grades need `order`, which may include grades that no row has.
    """
    column = _without_gaps(_grades(frame, target), None if order is None else _as_order(order))
    classes = _classes(column, target, order)
    return classes, *_labels(column, target, classes)


def words_for_no_grade(frame: pl.DataFrame, target: str, classes: Sequence[object]) -> dict[str, int]:
    """The words for a missing value in a column of grades that are none of its classes, and in how many rows."""
    if frame[target].dtype not in (pl.String, pl.Categorical, pl.Enum):
        return {}
    column = _grades(frame, target)
    if column.dtype != pl.String:
        return {}
    counts = column.filter(_without_gaps(column, classes).is_null()).drop_nulls().alias("word").value_counts()
    return dict(sorted(counts.rows(), key=lambda pair: (-pair[1], pair[0])))


def _without_gaps(column: pl.Series, classes: Sequence[object] | None) -> pl.Series:
    """The grades, null for words such as k.A. and unknown that are none of the classes."""
    if column.dtype != pl.String:
        return column
    words = column.drop_nulls().unique().to_list()
    gaps = [word for word in words if word.casefold() in GAP_WORDS]
    if classes is not None:
        gaps = [word for word in gaps if _position(word, classes) is None]
    if not gaps or len(gaps) == len(words):
        return column
    return column.replace(gaps, [None] * len(gaps))


def _classes(column: pl.Series, target: str, order: Sequence[object] | str | None) -> Classes:
    values = column.drop_nulls().unique().sort()
    _check_variety(target, values)
    if order is None and not column.dtype.is_numeric():
        proposed = proposed_order(_one_spelling(column)) if column.dtype == pl.String else None
        if proposed is None:
            raise _no_order(target, column)
        return proposed
    found = [_plain(value) for value in values.to_list()]
    if order is None:
        return _alike(found)
    wanted = _as_order(order)
    for value in found:
        if _position(value, wanted) is None:
            raise complain(
                "order", f"name every grade of {target!r}", f"none for {_as_text(value)!r}", _hint(value, wanted)
            )
    if column.dtype.is_numeric():
        return _alike([_as_number(entry, found) for entry in wanted])
    return tuple(str(entry).lower() if column.dtype == pl.Boolean else str(entry).strip() for entry in wanted)


def _one_spelling(column: pl.Series) -> list[str]:
    """The different grades in their commonest spelling, by name."""
    counts = dict(column.drop_nulls().alias("grade").value_counts().rows())
    return sorted(set(commonest(counts).values()))


def _labels(column: pl.Series, target: str, classes: Sequence[int] | Sequence[str]) -> tuple[NDArray[Any], Ints]:
    if column.dtype.is_float():
        _check_finite(target, column)
    rows = np.flatnonzero(column.is_not_null().to_numpy()).astype(np.int64)
    if not len(rows):
        raise complain("target", "have grades", f"only missing cells in {target!r}")
    values = column.drop_nulls().unique()
    positions = [_known_position(value, classes, target) for value in values.to_list()]
    ranks = column.drop_nulls().replace_strict(values, positions, return_dtype=pl.Int64).to_numpy()
    return np.asarray(classes, dtype=np.int64 if isinstance(classes[0], int) else None)[ranks], rows


def _grades(frame: pl.DataFrame, target: str) -> pl.Series:
    """The column of grades: numbers and flags as they are, everything else as stripped text."""
    column = nameless(frame.get_column(as_column("target", target, frame.columns)))
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        column = typed(as_text(column), SpellingHints(kinds={"": "grade"}))
    if column.dtype.is_decimal():
        column = column.cast(pl.Float64)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column
    return as_text(column).str.strip_chars()


def _check_variety(target: str, values: pl.Series) -> None:
    """Refuse a column without grades, with one grade, with infinite ones or with too many."""
    if not len(values):
        raise complain("target", "have grades", f"only missing cells in {target!r}")
    if len(values) == 1:
        raise complain("target", "have at least two grades", f"{values.item()!r} in every row of {target!r}")
    if values.dtype.is_float():
        _check_finite(target, values)
    if len(values) > MOST_GRADES:
        got = f"{len(values)} different values in {target!r}"
        advice = "cut it into grades first" if values.dtype.is_numeric() else "name another column"
        raise complain("target", f"have at most {MOST_GRADES} grades", got, advice)


def _check_finite(target: str, values: pl.Series) -> None:
    if values.is_infinite().any():
        raise complain("target", "hold finite grades", f"an infinite one in {target!r}")
    if (values.abs() >= 2.0**63).any():
        raise complain("target", "hold grades below 2**63", f"a larger one in {target!r}")


def _no_order(target: str, column: pl.Series) -> ValueError:
    names = _texts(column.drop_nulls().unique(maintain_order=True))
    got = f"none for {target!r}, which holds {listed(names)}"
    advice = f"for example --order '{' < '.join(names[:10])}' if that is from lowest to highest"
    return complain("order", "list the grades from lowest to highest", got, advice)


def _texts(values: pl.Series) -> list[str]:
    return [str(text) for text in as_text(values).to_list()]


def _as_order(order: Sequence[object] | str) -> list[object]:
    """The grades in an order, all different."""
    mark = next((mark for mark in "<;" if mark in order), ",") if isinstance(order, str) else ""
    entries: list[object] = list(order.split(mark) if isinstance(order, str) else order)
    if len(entries) > MOST_GRADES:
        raise complain("order", f"have at most {MOST_GRADES} grades", len(entries))
    keys = [_key(entry) for entry in entries]
    for index, key in enumerate(keys):
        if key in keys[:index]:
            raise complain("order", "name every grade once", f"{entries[index]!r} twice")
        if key == "":
            raise complain("order", f"have a grade between any two {SEPARATORS[mark or ',']}", "an empty name")
    return entries


def _position(value: object, classes: Sequence[object]) -> int | None:
    """Index of a grade in `classes`; None if it is not one of them."""
    keys = [_key(entry) for entry in classes]
    key = _key(value)
    if key in keys or not isinstance(key, str):
        return keys.index(key) if key in keys else None
    names = [str(entry) for entry in classes]
    found = folded_once(names).get(folded(key))
    return None if found is None else names.index(found)


def _known_position(value: object, classes: Sequence[object], target: str) -> int:
    position = _position(value, classes)
    if position is None:
        got = f"{_as_text(value)!r} in {target!r}"
        raise complain("target", "hold known grades only", got, _hint(value, classes))
    return position


def _hint(value: object, classes: Sequence[object]) -> str:
    return meant(_as_text(value), [str(entry) for entry in classes]) or f"they are {listed(classes)}"


def _key(value: object) -> object:
    """A key that is equal for all spellings of a grade, such as 1.5, "1.5" and "1,5"."""
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = value.strip()
    plain = text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text
    for number in (int, float):
        try:
            return number(plain.replace("_", "x"))
        except ValueError:
            pass
    return text.lower() if text.lower() in ("true", "false") else text


def _plain(value: object) -> object:
    """A float that is a whole number as an int; any other value unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _alike(values: list[Any]) -> Classes:
    """Numbers as ints if all are whole, otherwise all as text with a decimal point: ``"0.5", "1.0"``."""
    if all(isinstance(value, int) for value in values):
        return tuple(values)
    return tuple(str(float(value)) for value in values)


def _as_number(entry: object, found: list[object]) -> object:
    key = _key(entry)
    if isinstance(key, str):
        raise complain("order", f"hold numbers, as the grades {listed(found)} are", repr(entry))
    return _plain(key)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(_plain(value))
