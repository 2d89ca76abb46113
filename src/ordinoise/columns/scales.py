"""The order of grades that have one by their names: numbers, stars, letters, Roman numbers and words of a scale."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ordinoise.columns.categories import folded
from ordinoise.columns.words import SCALES

_BLANK = r"[\s_-]*"
# A common word, the number, "/5", a letter below it, and words: "BI-RADS 4a", "4/5", "1 - poor", "5 stars".
_NUMBER = re.compile(
    r"([^\W\d]*(?:[\s_-]+[^\W\d]+)*)" + _BLANK + r"(\d+(?:[.,]\d+)?)(?:\s*/\s*(\d+))?([a-e])?"
    r"(?:\s*[:=.)\-\u2013]+\s*[^\d\s].*|\s+\(?[^\W\d].*)?"
)
_STARS = re.compile("([\u2605*]*)(\u00bd?)[\u2606]*")
_LETTERS = re.compile(r"([a-g])(\1{0,2})([+\-\u2212\u2013]?)")
_ROMAN = re.compile(r"([^\W\d]{3,}\s+)?(i{1,3}|iv|vi{0,3}|ix|x)\s*([a-e]?)(\d?)")
_ROMAN_NUMBERS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_SIGNS = {"": 0, "+": 1}

Place = tuple[float, ...]


def proposed_order(grades: Sequence[str]) -> tuple[str, ...] | None:
    """The grades from lowest to highest by what their names say; None if that is not clear.

    A scale must hold every grade, each at a place of its own.

    >>> proposed_order(["B+", "A", "C", "B"])
    ('C', 'B', 'B+', 'A')
    >>> proposed_order(["hoch", "niedrig", "mittel"])
    ('niedrig', 'mittel', 'hoch')
    >>> proposed_order(["gold", "silver"]) is None
    True
    """
    if len(grades) < 2:
        return None
    names = [folded(grade) for grade in grades]
    for rule in (_numbers, _stars, _letters, _romans):
        order = _sorted(grades, rule(names))
        if order is not None:
            return order
    found = {order for scale in SCALES if (order := _sorted(grades, _of_scale(scale, names))) is not None}
    return found.pop() if len(found) == 1 else None


def _sorted(grades: Sequence[str], places: Sequence[Place] | None) -> tuple[str, ...] | None:
    """The grades by their places; None if two share one."""
    if places is None or len(set(places)) < len(grades):
        return None
    return tuple(grade for _, grade in sorted(zip(places, grades, strict=True)))


def _matches(pattern: re.Pattern[str], names: Sequence[str]) -> list[re.Match[str]] | None:
    """The match of every name; None if one does not match as a whole."""
    found = [match for name in names if (match := pattern.fullmatch(name)) is not None]
    return found if len(found) == len(names) else None


def _numbers(names: Sequence[str]) -> list[Place] | None:
    found = _matches(_NUMBER, names)
    if found is None or len({(re.sub(_BLANK, "", match[1]), match[3]) for match in found}) > 1:
        return None
    return [(float(match[2].replace(",", ".")), _letter(match[4])) for match in found]


def _letter(letter: str | None) -> float:
    return ord(letter) - ord("a") + 1 if letter else 0


def _stars(names: Sequence[str]) -> list[Place] | None:
    found = _matches(_STARS, names)
    return None if found is None else [(len(match[1]) + len(match[2]) / 2,) for match in found]


def _letters(names: Sequence[str]) -> list[Place] | None:
    """AAA above AA above A+ above A above A- above B."""
    found = _matches(_LETTERS, names)
    if found is None:
        return None
    return [(-ord(match[1]), len(match[2]), _SIGNS.get(match[3], -1)) for match in found]


def _romans(names: Sequence[str]) -> list[Place] | None:
    found = _matches(_ROMAN, names)
    if found is None or len({(match[1] or "").strip() for match in found}) > 1:
        return None
    return [(_ROMAN_NUMBERS.index(match[2]), _letter(match[3]), float(match[4] or 0)) for match in found]


def _of_scale(scale: Sequence[str], names: Sequence[str]) -> list[Place] | None:
    places = {folded(word): place for place, words in enumerate(scale) for word in words.split("|")}
    plain = [" ".join(re.split(r"[\s_-]+", name)) for name in names]
    return [(places[name],) for name in plain] if all(name in places for name in plain) else None
