"""Why a label is suspected, in words a reviewer can weigh, and the keys that choose a grade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ordinoise.app.record import AuditRecord, Suspect

# Below these shares of a grade's labels a slip is called rare, or occasional; above, common.
RARE, OCCASIONAL = 0.02, 0.10


def reasons(record: AuditRecord, suspect: Suspect) -> list[str]:
    """Sentences that say why the label is suspected: what speaks for which grade, and how usual the slip would be."""
    return [_weight(record, suspect), _slip(record, suspect)]


def _weight(record: AuditRecord, suspect: Suspect) -> str:
    chance = dict(zip(record.classes, suspect.posterior, strict=True))
    for_recorded = percent(chance[suspect.recorded])
    if suspect.suggested == suspect.recorded:
        wrong = percent(suspect.probability_wrong)
        likeliest = f"{suspect.recorded} was recorded and is still the likeliest ({for_recorded})"
        return f"{likeliest}, but {wrong} speak against it."
    return f"The features speak for {_spoken_for(record, suspect)}; {suspect.recorded} was recorded ({for_recorded})."


def _spoken_for(record: AuditRecord, suspect: Suspect) -> str:
    """The suggested grade, or the side of the scale where no single grade has half of the chances."""
    rank, recorded = record.classes.index(suspect.suggested), record.classes.index(suspect.recorded)
    if suspect.posterior[rank] >= 0.5:
        return f"{suspect.suggested} ({percent(suspect.posterior[rank])})"
    above = rank > recorded
    side = suspect.posterior[recorded + 1 :] if above else suspect.posterior[:recorded]
    words = "a higher grade" if above else "a lower grade"
    return f"{words} ({percent(sum(side))}), with {suspect.suggested} in the middle of what is likely"


def _slip(record: AuditRecord, suspect: Suspect) -> str:
    recorded = record.classes.index(suspect.recorded)
    likeliest = _likeliest_other(suspect, recorded)
    share = record.noise.matrix[likeliest][recorded]
    how_often = "rare" if share < RARE else "occasional" if share < OCCASIONAL else "common"
    return (
        f"Recording {record.classes[likeliest]} as {suspect.recorded} is {_article(how_often)} slip here "
        f"({percent(share)} of the true {record.classes[likeliest]}): {_apart(abs(likeliest - recorded))}."
    )


def _likeliest_other(suspect: Suspect, recorded: int) -> int:
    others = [rank for rank in range(len(suspect.posterior)) if rank != recorded]
    return max(others, key=lambda rank: suspect.posterior[rank])


def _apart(distance: int) -> str:
    return "the two are neighbours" if distance == 1 else f"the two are {distance} grades apart"


def _article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def percent(share: float) -> str:
    """A share as a reader wants it: ``82 %``, ``0.4 %``; never 0 % or 100 % for what is neither."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    digits = 1 if 0 < share < 0.01 or 0.99 < share < 1 else 0
    return f"{100 * share:.{digits}f} %"


def grade_keys(classes: Sequence[str]) -> list[str]:
    """The key that chooses each grade; empty for grades that have none.

    The grade itself where every grade is one digit, so that key 6 means grade 6; its place otherwise, 0 for the tenth.
    """
    if all(len(grade) == 1 and grade in "0123456789" for grade in classes):
        return list(classes)
    return [str((rank + 1) % 10) if rank < 10 else "" for rank in range(len(classes))]
