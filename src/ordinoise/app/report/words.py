"""Numbers and names as text for the page: rounded, shortened, and safe to put into a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ordinoise._text import NAME_LENGTH as NAME_LENGTH
from ordinoise._text import first_of_consecutive as first_of_consecutive
from ordinoise._text import number as number
from ordinoise._text import printable as printable
from ordinoise._text import shortened as shortened
from ordinoise._text import squeezed as squeezed

_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def count(number: float) -> str:
    """A whole number with commas: 1,599."""
    return f"{round(number):,}"


def counted(number: float, thing: str) -> str:
    """A number of things: "1 row", "1,599 rows"."""
    return f"{count(number)} {thing}{'' if round(number) == 1 else 's'}"


def grades_in_words(classes: Sequence[str]) -> list[str]:
    """Grades as named in sentences: "grade 5" for numbers, the name in quotation marks otherwise."""
    if all(_NUMBER.fullmatch(name.strip()) for name in classes):
        return [f"grade {name.strip()}" for name in classes]
    return [f"“{isolated(shortened(name, 40))}”" for name in classes]


def isolated(text: str) -> str:
    """`text` isolated so that right-to-left letters in it do not reorder the sentence around it."""
    return text if text.isascii() else f"\u2068{text}\u2069"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Parts joined as in a sentence: "a, b and c"."""
    return f" {last} ".join(part for part in [", ".join(parts[:-1]), parts[-1]] if part) if parts else ""
