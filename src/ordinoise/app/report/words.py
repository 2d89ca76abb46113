"""Numbers and names as text for the page: rounded, shortened, and safe to put into a sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ordinoise._text import NOTHING

# Characters of a name in a table and in a chart; chosen by eye on the page.
NAME_LENGTH, CHART_NAME_LENGTH = 60, 16

# Characters that a page or a chart cannot hold: control characters, lone surrogates, marks of text direction.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def printable(text: str) -> str:
    """`text` with a replacement character for every character that a page cannot hold."""
    return _UNFIT.sub("\ufffd", text)


def shortened(text: str, length: int = NAME_LENGTH) -> str:
    """`text` on one line, cut with an ellipsis if it is longer than `length`."""
    # A cell can be very long: only the part that could be shown is processed.
    start = text[: 4 * length + 100]
    line = " ".join(printable(start).split())
    return line if len(line) <= length and len(start) == len(text) else line[: length - 1].rstrip() + "…"


def squeezed(text: str, length: int = CHART_NAME_LENGTH) -> str:
    """`text` cut in the middle, because long names of grades often differ at their ends."""
    line = shortened(text, NAME_LENGTH)
    front = 2 * length // 3
    return line if len(line) <= length else f"{line[:front].rstrip()}…{line[front + 1 - length :].lstrip()}"


def count(number: float) -> str:
    """A whole number with commas: 1,599."""
    return f"{round(number):,}"


def counted(number: float, thing: str) -> str:
    """A number of things: "1 row", "1,599 rows"."""
    return f"{count(number)} {thing}{'' if round(number) == 1 else 's'}"


def number(value: float, decimals: int = 2) -> str:
    """A number with a fixed number of decimals and a true minus sign; a dash if it is not finite."""
    if not math.isfinite(value):
        return NOTHING
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


def grades_in_words(classes: Sequence[str]) -> list[str]:
    """Grades as named in sentences: "grade 5" for numbers, the name in quotation marks otherwise."""
    if all(_NUMBER.fullmatch(name.strip()) for name in classes):
        return [f"grade {name.strip()}" for name in classes]
    return [f"“{isolated(shortened(name, 40))}”" for name in classes]


def first_of_consecutive(classes: Sequence[str]) -> int | None:
    """The lowest grade if the grades are consecutive whole numbers; else None."""
    try:
        grades = [int(name) for name in classes]
    except ValueError:
        return None
    return grades[0] if grades == list(range(grades[0], grades[0] + len(grades))) else None


def isolated(text: str) -> str:
    """`text` isolated so that right-to-left letters in it do not reorder the sentence around it."""
    return text if text.isascii() else f"\u2068{text}\u2069"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Parts joined as in a sentence: "a, b and c"."""
    return f" {last} ".join(part for part in [", ".join(parts[:-1]), parts[-1]] if part) if parts else ""
