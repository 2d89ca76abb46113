"""Why a label is suspicious, in sentences for the reviewer, and the keys that choose a grade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ordinoise._text import percent

if TYPE_CHECKING:
    from ordinoise.app.records.audit import AuditRecord, Suspect
    from ordinoise.app.records.ratings import RatedItem, RatersRecord

# An error is called rare or occasional below these shares of the true grade's labels, common above; round numbers,
# chosen by no run.
RARE, OCCASIONAL = 0.02, 0.10
# A rater of an item is mentioned who guesses more often, or grades further from the typical rater; by no run.
GUESSES, FAR = 0.5, 0.25


def reasons(record: AuditRecord, suspect: Suspect) -> list[str]:
    """Sentences on which grade is likely given the features, and how common the suspected error is."""
    if suspect.recorded not in record.classes:
        likeliest = max(range(len(record.classes)), key=lambda rank: suspect.graded[rank])
        share = percent(suspect.graded[likeliest])
        return [f"No grade was recorded. Of rows like this one {share} are graded {record.classes[likeliest]}."]
    evidence = [_evidence(record, suspect)]
    return [*evidence, _error(record, suspect)] if record.noise.answer == "corrected" else evidence


def _evidence(record: AuditRecord, suspect: Suspect) -> str:
    shares = dict(zip(record.classes, suspect.graded, strict=True))
    as_recorded, others = percent(shares[suspect.recorded]), percent(1 - shares[suspect.recorded])
    if suspect.suggested == suspect.recorded:
        return f"Of rows like this one {as_recorded} are graded {suspect.recorded} as here, {others} otherwise."
    return f"Of rows like this one {_suggestion(record, suspect)}, and {as_recorded} {suspect.recorded} as here."


def _suggestion(record: AuditRecord, suspect: Suspect) -> str:
    """The share of the suggested grade; or of all higher or lower ones, if no single grade has one half."""
    rank, recorded = record.classes.index(suspect.suggested), record.classes.index(suspect.recorded)
    if suspect.graded[rank] >= 0.5:
        return f"{percent(suspect.graded[rank])} are graded {suspect.suggested}"
    above = rank > recorded
    side = suspect.graded[recorded + 1 :] if above else suspect.graded[:recorded]
    return f"{percent(sum(side))} are graded {'higher' if above else 'lower'} (suggested: {suspect.suggested})"


def _error(record: AuditRecord, suspect: Suspect) -> str:
    recorded = record.classes.index(suspect.recorded)
    likeliest = _likeliest_other(suspect, recorded)
    share = float(record.noise.matrix[likeliest, recorded])
    how_often = "rare" if share < RARE else "occasional" if share < OCCASIONAL else "common"
    return (
        f"Recording {record.classes[likeliest]} as {suspect.recorded} is {_article(how_often)} error here "
        f"({percent(share)} of the true {record.classes[likeliest]}): {_apart(abs(likeliest - recorded))}."
    )


def _likeliest_other(suspect: Suspect, recorded: int) -> int:
    others = [rank for rank in range(len(suspect.graded)) if rank != recorded]
    return max(others, key=lambda rank: suspect.graded[rank])


def _apart(distance: int) -> str:
    return "the two are neighbors" if distance == 1 else f"the two are {distance} grades apart"


def _article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def item_reasons(record: RatersRecord, item: RatedItem) -> list[str]:
    """Sentences on how far the grades of an item differ, and whose grades count little or lean to a side."""
    return [_spread(record, item), *_odd_raters(record, item)]


def _spread(record: RatersRecord, item: RatedItem) -> str:
    sure = f"the consensus {item.recorded} has a probability of {percent(1 - item.probability_wrong)}"
    if len(item.grades) == 1:
        return f"Only one grade was given; {sure}."
    ranks = sorted(record.classes.index(grade) for grade in item.grades)
    if ranks[0] == ranks[-1]:
        return f"All {len(ranks)} grades are {item.grades[0]}; {sure}."
    return f"{len(ranks)} grades from {record.classes[ranks[0]]} to {record.classes[ranks[-1]]}; {sure}."


def _odd_raters(record: RatersRecord, item: RatedItem) -> list[str]:
    known = {str(line.get("rater")): line for line in record.raters}
    found = []
    for name in dict.fromkeys(item.raters):
        line = known.get(name, {})
        guessing, severity = line.get("guessing"), line.get("severity")
        if isinstance(guessing, (int, float)) and guessing > GUESSES:
            found.append(f"{name} guesses {percent(guessing)} of the time, so this grade counts little.")
        elif isinstance(severity, (int, float)) and abs(severity) > FAR:
            side = "lower" if severity > 0 else "higher"
            found.append(f"{name} grades {abs(severity):.1f} {side} than the typical rater.")
    if "only-guessers" in item.flags:
        found.append("Nobody else graded it.")
    return found


def grade_keys(classes: Sequence[str]) -> list[str]:
    """The key that chooses each grade; empty for grades without a key.

    If every grade is one digit, the grade itself; otherwise its position from 1, with 0 for the tenth.
    """
    if all(len(grade) == 1 and grade in "0123456789" for grade in classes):
        return list(classes)
    return [str((rank + 1) % 10) if rank < 10 else "" for rank in range(len(classes))]
