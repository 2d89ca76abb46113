"""Categories whose spellings differ in blanks and capitals alone, read as one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

import polars as pl

from ordinoise.columns.findings import MANY, is_few

MOST_SPELLINGS = 10  # of a category, on average; a round number, chosen by no run


def folded(text: str) -> str:
    """What all spellings of a category share: the text without outer blanks, composed, in one case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", " ".join(text.split())).casefold())


def folded_once(texts: Iterable[str]) -> dict[str, str]:
    """The texts by what their spellings share; empty if two of them share it, so that spelling tells them apart."""
    texts = list(texts)
    found = {folded(text): text for text in texts}
    return found if len(found) == len(texts) else {}


def merged_categories(text: pl.Series) -> tuple[pl.Series, int]:
    """A column of text with one spelling for each category, the commonest; and how many cells that changes.

    Columns of many different texts, and those without two spellings of a category, stay as they are.
    """
    values = text.drop_nulls()
    if values.n_unique() > MOST_SPELLINGS * MANY:
        return text, 0
    counts = dict(values.alias("cell").value_counts().rows()) if len(values) else {}
    shown = commonest(counts)
    if len(set(shown.values())) == len(counts) or not is_few(len(set(shown.values())), len(values)):
        return text, 0
    n_changed = sum(count for spelling, count in counts.items() if shown[spelling] != spelling)
    return text.replace_strict(list(shown), list(shown.values()), default=None), n_changed


def commonest(counts: Mapping[str, int]) -> dict[str, str]:
    """For each spelling the commonest one of its category, without outer blanks; the first by name among equals."""
    best: dict[str, tuple[int, str]] = {}
    for spelling, count in counts.items():
        best[folded(spelling)] = min(best.get(folded(spelling), (0, "")), (-count, spelling.strip()))
    return {spelling: best[folded(spelling)][1] for spelling in counts}
