"""Numbers and names as a reader meets them: rounded, cut, and unable to disturb the text around them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

NAME_LENGTH = 60
CHART_NAME_LENGTH = 16
NOTHING = "–"  # noqa: RUF001

# What no page and no picture can hold: control characters, halves of pairs, and the marks that turn text round.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def printable(text: str) -> str:
    """`text` with a replacement mark for every character that a page cannot hold."""
    return _UNFIT.sub("\ufffd", text)


def shortened(text: str, length: int = NAME_LENGTH) -> str:
    """`text` on one line, cut with an ellipsis where it is longer than `length`."""
    # A cell can hold a book: no more of it is looked at than could be shown.
    start = text[: 4 * length + 100]
    line = " ".join(printable(start).split())
    return line if len(line) <= length and len(start) == len(text) else line[: length - 1].rstrip() + "…"


def squeezed(text: str, length: int = CHART_NAME_LENGTH) -> str:
    """`text` cut in the middle: long names of grades often differ at their ends."""
    line = shortened(text, NAME_LENGTH)
    front = 2 * length // 3
    return line if len(line) <= length else f"{line[:front].rstrip()}…{line[front + 1 - length :].lstrip()}"


def count(number: float) -> str:
    """A whole number with commas: 1,599."""
    return f"{round(number):,}"


def counted(number: float, thing: str) -> str:
    """A number of things: "1 row", "1,599 rows"."""
    return f"{count(number)} {thing}{'' if round(number) == 1 else 's'}"


def percent(share: float) -> str:
    """A share as a percentage, with a decimal only where it tells something."""
    if not math.isfinite(share):
        return NOTHING
    of_hundred = 100 * share
    if 0 < of_hundred < 0.05:
        return "<0.1%"
    if 99.95 < of_hundred < 100:
        return ">99.9%"
    fine = 0 < round(of_hundred, 1) < 10 or 99 < round(of_hundred, 1) < 100
    return f"{of_hundred:.1f}%" if fine else f"{of_hundred:.0f}%"


def number(value: float, decimals: int = 2) -> str:
    """A number with its decimals and a real minus sign, or a dash where there is none."""
    if not math.isfinite(value):
        return NOTHING
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


def grades_in_words(classes: Sequence[str]) -> list[str]:
    """Grades as sentences call them: "grade 5" for numbers, the name in quotation marks for words."""
    if all(_NUMBER.fullmatch(name.strip()) for name in classes):
        return [f"grade {name.strip()}" for name in classes]
    return [f"“{isolated(shortened(name, 40))}”" for name in classes]


def whole_numbers(classes: Sequence[str]) -> int | None:
    """The lowest grade, where the grades are whole numbers one apart; else None."""
    try:
        grades = [int(name) for name in classes]
    except ValueError:
        return None
    return grades[0] if grades == list(range(grades[0], grades[0] + len(grades))) else None


def isolated(text: str) -> str:
    """`text` so that letters written from right to left leave the sentence around it alone."""
    return text if text.isascii() else f"\u2068{text}\u2069"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Parts as a sentence lists them: "a, b and c"."""
    return f" {last} ".join(part for part in [", ".join(parts[:-1]), parts[-1]] if part) if parts else ""
