"""Whether the figures on the pages are those that the commands printed.

A block of a page names its command by a line before and ends with a line after, comments in Markdown:

    % printed by python -m studies.harm --seeds 5
    | labels | trusting | default |
    ...
    % end of print

In README.md they are comments of HTML. Every number of the block with a decimal point or a percent sign must then stand
in what the command printed, which `studies.evidence` keeps in ``studies/results/printed``, rounded as the page rounds
it. Whole numbers are not looked at: most of them count rows and seeds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from pathlib import Path

PRINTED = Path(__file__).parent / "results" / "printed"
BLOCK = re.compile(
    r"^(?:%|<!--) printed by (?P<commands>.*?)(?: -->)?\n(?P<text>.*?)^(?:%|<!--) end of print(?: -->)?$",
    flags=re.MULTILINE | re.DOTALL,
)
NOMINAL = ("95%", "95 %")  # of intervals, which is said and not measured
LARGEST = Decimal(10) ** 12  # of what may be rounded
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d[\d,]*)?(?:\.\d+)?(?:e[-+]?\d+)?(?: ?%)?")


@dataclass(frozen=True)
class Block:
    """A part of a page whose figures were printed by commands; several are separated by semicolons."""

    page: str
    commands: tuple[str, ...]
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page that name their commands."""
    for found in BLOCK.finditer(page.read_text()):
        yield Block(page.name, tuple(one.strip() for one in found["commands"].split(";")), found["text"])


def path_of(command: str) -> Path:
    """Where what a command prints is kept."""
    return PRINTED / f"{re.sub(r'[^a-z0-9]+', '-', command.lower()).strip('-')}.txt"


def missing(block: Block) -> list[str] | None:
    """The figures of a block that its commands did not print; None where one of them has not been run."""
    paths = [path_of(command) for command in block.commands]
    if not all(path.exists() for path in paths):
        return None
    printed = {value for path in paths for _, value, _ in _numbers(path.read_text())}
    figures = (one for one in _numbers(block.text, only_figures=True) if one[0] not in NOMINAL)
    return [shown for shown, value, decimals in figures if not _is_in(value, decimals, printed)]


def _numbers(text: str, *, only_figures: bool = False) -> Iterator[tuple[str, Decimal, int]]:
    """Each number as it stands, its size (2% is .02), and the number of its decimals."""
    for found in NUMBER.finditer(text):
        shown = found[0]
        digits = shown.removesuffix("%").strip().replace(",", "")
        is_percent = shown.endswith("%")
        if not re.search(r"\d", digits) or (only_figures and not is_percent and "." not in digits):
            continue
        value = Decimal(digits)
        decimals = max(0, -int(value.as_tuple().exponent))
        yield shown, abs(value / 100 if is_percent else value), decimals + 2 * is_percent


def _is_in(value: Decimal, decimals: int, printed: set[Decimal]) -> bool:
    """Whether a printed number, or a hundredth of it, is this one when it is rounded."""
    unit = Decimal(1).scaleb(-decimals)
    return any(
        value in (one.quantize(unit, ROUND_HALF_UP), one.quantize(unit, ROUND_HALF_EVEN))
        for whole in printed
        if whole < LARGEST
        for one in (whole, whole / 100)
    )
