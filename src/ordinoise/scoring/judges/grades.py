"""The judge's and people's grades of the same rows, read and put on their scales."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints, as_same_length, complain
from ordinoise.labels import as_column

# A judge with more different scores is read in this many groups of equal size, and people's grades must not have more
# than MOST_GRADES; round numbers, chosen by no run.
MOST_SCORES, N_GROUPS, MOST_GRADES = 12, 10, 50
LARGEST = 1e9  # squares and cubes of grades stay finite and precise
Grade = int | float | str


@dataclass(frozen=True, eq=False)
class Grades:
    """Grades of the rows that the judge and, for some, people graded.

    Attributes
    ----------
    rows : array of shape (n_judged,)
        Numbers of the rows with a judge grade and a system.
    judge, system : arrays of shape (n_judged,)
        Rank of the judge's grade, and number of the system.
    graded : bool array of shape (n_judged,)
        Whether people graded the row.
    human : array of shape (n_graded, n_classes)
        Probability of each grade of those rows: 0 and 1 for one grade per row.
    classes, judge_classes : tuples
        Scale of people and scale of the judge, from lowest to highest.
    systems : tuple of str
    n_people : int
        Number of human graders.
    messages : tuple of str
        What was left out or put together.
    item : array of shape (n_judged,), optional
        Number of the item of each row, if rows belong to items.
    """

    rows: Ints
    judge: Ints
    system: Ints
    graded: np.ndarray
    human: Floats
    classes: tuple[Grade, ...]
    judge_classes: tuple[Grade, ...]
    systems: tuple[str, ...]
    n_people: int
    messages: tuple[str, ...]
    item: Ints | None = None

    @property
    def one_scale(self) -> bool:
        """Whether the judge and people use the same grades."""
        return self.classes == self.judge_classes

    @property
    def of_graded_systems(self) -> Grades:
        """The rows of the systems of which people graded some."""
        known = np.unique(self.system[self.graded])
        if len(known) == len(self.systems):
            return self
        kept = np.isin(self.system, known)
        return replace(
            self,
            rows=self.rows[kept],
            judge=self.judge[kept],
            system=np.searchsorted(known, self.system[kept]),
            graded=self.graded[kept],
            systems=tuple(self.systems[at] for at in known),
            item=None if self.item is None else self.item[kept],
        )

    @property
    def values(self) -> Floats:
        """The number that each human grade stands for: itself, or its rank from 1 if it is text."""
        if any(isinstance(grade, str) for grade in self.classes):
            return np.arange(1.0, len(self.classes) + 1)
        return np.asarray(self.classes, dtype=np.float64)


def read_grades(
    judge: Any,
    human: Any,
    systems: Any,
    items: Any,
    classes: Sequence[Any] | None,
    judge_classes: Sequence[Any] | None,
    seed: Any,
) -> Grades:
    """Both columns on their scales; see `ordinoise.scoring.judges.judge` for the arguments."""
    scores, people = _cells("judge", judge), _people(human)
    named = ["all"] * len(scores) if systems is None else [_name(cell) for cell in _cells("systems", systems)]
    as_same_length("systems", len(named), "judge", len(scores))
    for column in people:
        as_same_length("human", len(column), "judge", len(scores))
    rows = [row for row, score in enumerate(scores) if score is not None and named[row] is not None]
    item = None if items is None else _item_numbers(items, rows, len(scores))
    ratings = [[column[row] for column in people] for row in rows]
    graded = np.array([any(grade is not None for grade in each) for each in ratings], dtype=bool)
    if not graded.any():
        raise complain("human", "have a grade in some row that the judge graded too", "none", "grade some rows first")
    judged, messages = _grouped([scores[row] for row in rows], judge_classes or classes)
    scale, judge_scale = _scales(judged, [grade for each in ratings for grade in each], classes, judge_classes)
    known = sorted({name for row in rows if (name := named[row]) is not None})
    system = np.array([known.index(str(named[row])) for row in rows])
    if len(rows) < len(scores):
        messages.append(f"{len(scores) - len(rows)} rows without a judge grade or a system are ignored")
    return Grades(
        rows=np.array(rows, np.int64),
        judge=_ranks(judged, judge_scale),
        system=system,
        graded=graded,
        human=_probabilities([each for each, known in zip(ratings, graded, strict=True) if known], scale, seed),
        classes=scale,
        judge_classes=judge_scale,
        systems=tuple(known),
        n_people=len(people),
        messages=tuple(messages),
        item=item,
    )


def _item_numbers(items: Any, rows: Sequence[int], n_rows: int) -> Ints:
    """Number of the item of each of `rows`; a row without one is an item of its own."""
    names = _cells("items", items)
    as_same_length("items", len(names), "judge", n_rows)
    place: dict[Any, int] = {}
    named = [(row,) if names[row] is None else names[row] for row in rows]
    return np.array([place.setdefault(name, len(place)) for name in named], np.int64)


def _cells(argument: str, values: Any) -> list[Grade | None]:
    """The cells of a column: whole numbers as ints, others as floats, text stripped, None where missing."""
    return [_cell(argument, value) for value in as_column(argument, values).tolist()]


def _cell(argument: str, value: Any) -> Grade | None:
    if value is None or value != value or type(value).__name__ == "NAType":
        return None
    if isinstance(value, str):
        return value.strip() or None
    is_number = isinstance(value, (bool, np.bool_, int, float, np.number))
    if is_number and -LARGEST <= value <= LARGEST:
        return int(value) if float(value).is_integer() else float(value)
    raise complain(argument, f"hold text or numbers up to {LARGEST:g}", repr(value))


def _people(human: Any) -> list[list[Grade | None]]:
    """One list of cells per person: `human` is a column, or a list or table of columns."""
    is_many = isinstance(human, (list, tuple)) and len(human) > 0 and not np.isscalar(human[0]) and human[0] is not None
    if is_many:
        return [_cells("human", column) for column in human]
    if getattr(human, "ndim", 1) == 2:
        return [_cells("human", column) for column in np.asarray(human).T]
    return [_cells("human", human)]


def _name(cell: Grade | None) -> str | None:
    return None if cell is None else str(cell)


def _grouped(scores: list[Any], order: Sequence[Any] | None) -> tuple[list[Grade], list[str]]:
    """The judge's scores; many different numbers are put into groups, each named by its lowest score."""
    different = sorted({score for score in scores if not isinstance(score, str)})
    if order is not None or len(different) <= MOST_SCORES or any(isinstance(score, str) for score in scores):
        return scores, []
    # Each score goes to the group of the largest start that it reaches.
    numbers = np.asarray(scores, dtype=np.float64)
    starts = np.unique(np.quantile(numbers, np.arange(N_GROUPS) / N_GROUPS, method="higher"))
    group = starts[np.searchsorted(starts, numbers, side="right") - 1]
    named = [int(start) if start.is_integer() else start for start in group.tolist()]
    return named, [f"the judge's {len(different)} different scores are read in {len(starts)} groups of similar size"]


def _scales(
    judged: list[Any], human: list[Any], classes: Sequence[Any] | None, judge_classes: Sequence[Any] | None
) -> tuple[tuple[Grade, ...], tuple[Grade, ...]]:
    """Scale of people and scale of the judge; the same if no grade of the judge lies more than one beyond theirs."""
    found = _scale("human", {grade for grade in human if grade is not None}, classes)
    stated = judge_classes if judge_classes is not None else classes
    if stated is not None or any(isinstance(score, str) for score in judged):
        own = _scale("judge", set(judged), stated)
        return _checked(found), own
    own = _scale("judge", set(judged), None)
    is_whole = all(isinstance(grade, int) for grade in (*found, *own))
    if is_whole and own[0] >= found[0] - 1 and own[-1] <= found[-1] + 1:  # type: ignore[operator]
        found = own = tuple(sorted({*found, *own}))
    return _checked(found), own


def _scale(argument: str, values: set[Any], order: Sequence[Any] | None) -> tuple[Grade, ...]:
    """All grades from lowest to highest."""
    if order is not None:
        wanted = tuple(_cell("classes", grade) for grade in np.asarray(order, dtype=object).ravel().tolist())
        if None in wanted or len(set(wanted)) < max(len(wanted), 2):
            raise complain("classes", "name at least two different grades from lowest to highest", repr(order)[:60])
        unknown = sorted(map(str, values - set(wanted)))
        if unknown:
            advice = "name every grade" + (", or give the judge a scale of its own" if argument == "judge" else "")
            raise complain(argument, f"hold only the grades {list(wanted)}", repr(unknown[0]), advice)
        return wanted  # type: ignore[return-value]
    texts = sorted((value for value in values if isinstance(value, str)), key=_is_number)
    if texts:
        text = texts[0]  # in a file, one cell of text makes texts of the numbers beside it
        advice = "pass the order, as --order low,medium,high or classes=[...]"
        raise complain(argument, "hold numbers if no order is given", f"text such as {text!r}", advice)
    return tuple(sorted(values))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _checked(classes: tuple[Grade, ...]) -> tuple[Grade, ...]:
    if not 2 <= len(classes) <= MOST_GRADES:
        rule = f"hold between 2 and {MOST_GRADES} different grades"
        raise complain("human", rule, len(classes), "pass all grades as classes" if len(classes) < 2 else "")
    return classes


def _ranks(values: Sequence[Any], scale: tuple[Grade, ...]) -> Ints:
    place = {grade: rank for rank, grade in enumerate(scale)}
    return np.array([place[value] for value in values], np.int64)


def _probabilities(ratings: list[list[Any]], scale: tuple[Grade, ...], seed: Any) -> Floats:
    """Probability of each grade of each graded row: certain with one person, from raters who err with several."""
    if max(sum(grade is not None for grade in each) for each in ratings) == 1:
        ranks = _ranks([next(grade for grade in each if grade is not None) for each in ratings], scale)
        return np.asarray(np.eye(len(scale))[ranks])
    from ordinoise.estimation import RepeatedLabels

    place = {grade: rank for rank, grade in enumerate(scale)}
    triples = [
        (item, rater, place[grade])
        for item, each in enumerate(ratings)
        for rater, grade in enumerate(each)
        if grade is not None
    ]
    items, raters, labels = np.array(triples).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its doubts are about matrices of people, which are not shown
        fit = RepeatedLabels(classes=list(range(len(scale))), n_bootstrap=0, random_state=seed)
        fit.fit(items, raters, labels)
    return np.asarray(fit.posterior_)


def grade_names(classes: Sequence[Grade]) -> list[str]:
    """Grades as text; long decimals are cut if that leaves them different."""
    short = [f"{grade:.3g}" if isinstance(grade, float) else str(grade) for grade in classes]
    return short if len(set(short)) == len(short) else [str(grade) for grade in classes]


def mean_step(values: Floats) -> float:
    """Average distance between neighboring grades."""
    return float(np.mean([high - low for low, high in pairwise(values)]))
