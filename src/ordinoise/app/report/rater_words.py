"""The findings about several raters in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ordinoise._text import percent
from ordinoise.app.records.ratings import RatedItem, RatersRecord
from ordinoise.app.report.words import count, counted, listed, number, printable
from ordinoise.estimate import Estimate
from ordinoise.estimation.raters.summary import GUESSES, is_relevant

MEASURES = {
    "alpha_ordinal": ("Krippendorff's alpha, ordinal", "distances by the grades used between two"),
    "alpha_interval": ("Krippendorff's alpha, interval", "distances by the number of grades"),
    "ac2": ("Gwet's AC2", "holds up if most items have the same grade"),
    "kappa_linear": ("weighted kappa, linear", "mean over pairs of raters"),
    "kappa_quadratic": ("weighted kappa, quadratic", "mean over pairs of raters, far grades weigh more"),
    "within_one": ("pairs of grades at most one apart", "of all pairs of grades of an item"),
}
# Krippendorff (2004, p. 241): rely on variables from .8, draw tentative conclusions from .667.
RELIABLE, TENTATIVE = 0.8, 0.667
MEANINGS = {
    "no-repeats": "No item was graded twice, so nothing is known about agreement or errors.",
    "dependent-raters": (
        "Some raters agree among themselves in a way that the items do not explain. Each such group has one voice, as "
        "ten copies of one opinion are one opinion."
    ),
    "few-triples": "Few items have three grades. With two one sees that raters differ, but hardly who is right.",
    "scarce-class": "A grade is so rare that how it is graded can hardly be told.",
    "shifted-class": "A grade is usually recorded as another one, so it may not mean what its name says.",
    "shared-bias": (
        "If everybody slips the same way, no disagreement shows it. The scale here is what the typical rater means by "
        "it; that is a convention, and only verified grades can replace it."
    ),
}


def known(record: RatersRecord) -> dict[str, Estimate]:
    """The measures that have a value and an interval."""
    return {
        name: one for name, one in record.measures.items() if name in MEASURES and math.isfinite(one.value + one.low)
    }


def agreement_words(record: RatersRecord) -> str:
    """How far raters agree, and what that is enough for."""
    measures = known(record)
    if "alpha_ordinal" not in measures or "within_one" not in measures:
        return "No item has two grades that could be compared, so agreement cannot be measured."
    alpha = measures["alpha_ordinal"]
    near = percent(measures["within_one"].value)
    if alpha.low >= RELIABLE:
        verdict = "one rater's grade can be relied on"
    elif alpha.high < TENTATIVE:
        verdict = "a single rater's grade should not be relied on; the consensus of several is more reliable"
    else:
        verdict = "a single rater's grade allows tentative conclusions; the consensus of several is more reliable"
    return (
        f"Of two grades of the same item, {near} are at most one grade apart. Krippendorff's alpha is "
        f"{alpha.words(number)}: {verdict}."
    )


def right_words(expected_right: float, n_split: int) -> str:
    """For how many items the consensus is right, or that two who differ do not say it."""
    if n_split:
        each = "the item" if n_split == 1 else f"{count(n_split)} items"
        return f"nothing says who is right on {each} on which the only two voices differ: ask for a third opinion"
    return f"the consensus is expected to be right for {percent(expected_right)} of all items"


def confidence_words(item: RatedItem) -> str:
    """The confidence of a consensus, or that two grades differ and nobody else is there."""
    if item.confidence is not None:
        return percent(item.confidence)
    return f"split {'-'.join(item.grades)}: third opinion" if len(item.grades) == 2 else "split: third opinion"


def off_words(record: RatersRecord) -> str:
    """What a grade unlike the consensus is called: wrong only if somebody verified some."""
    return "wrong" if record.settings.get("n_trusted") else "differs"


def habit(line: Mapping[str, Any], name: str) -> Estimate:
    """A habit of a rater with its interval."""
    return Estimate(*(math.nan if line[name + end] is None else line[name + end] for end in ("", "_low", "_high")))


def habit_words(record: RatersRecord) -> str:
    """How many raters are careless, and how many grade higher or lower than the others, beyond doubt."""
    if not record.n_raters:
        return "It is not known who gave which grade, so raters cannot be told apart. " + printable(
            str(record.raters[0]["sentence"])
        )
    guessing = [line for line in record.raters if line.get("is_careless", line["guessing_low"] > GUESSES)]
    off = [habit(line, "severity") for line in record.raters if line not in guessing]
    lower = [one for one in off if is_relevant(one) and one.value > 0]
    higher = [one for one in off if is_relevant(one) and one.value < 0]
    n_guessing, n_higher, n_lower = (count(len(each)) if each else "none" for each in (guessing, higher, lower))
    parts = [
        f"{n_guessing} {'is' if len(guessing) == 1 else 'are'} clearly careless",
        f"{n_higher} of the others clearly grade{'s' if len(higher) == 1 else ''} higher",
        f"{n_lower} clearly lower",
    ]
    return (
        f"Of {counted(record.n_raters, 'rater')}, {listed(parts)}, compared with the others on the same items. "
        "“Clearly” means that the whole interval says so, and by a tenth of a grade or more."
    )


def doubt_lines(record: RatersRecord) -> list[tuple[str, str]]:
    """Each doubt in plain words (may be empty) and in those of the estimator."""
    return [(MEANINGS.get(doubt.code, ""), printable(doubt.sentence)) for doubt in record.noise.doubts]


def advice(record: RatersRecord) -> list[tuple[str, str]]:
    """Title and text of what would help."""
    found = [
        (
            "Settle the items that divide",
            "Open this folder with “ordinoise review”: every grade stands beside the item, and one key settles it. The "
            "decisions come back with --trusted and this folder.",
        ),
        (
            "Verify some items at random",
            "Items picked because raters differ say little about a bias that all share. Have 50 to 150 items, drawn at "
            "random, graded with great care, and pass them with --trusted.",
        ),
    ]
    if any(doubt.code in ("no-repeats", "few-triples") for doubt in record.noise.doubts):
        found.append(
            ("Ask for third grades", "Three or more grades on some hundred items show who is right when two differ.")
        )
    if not record.n_raters:
        found.append(("Record who grades", "Names (--rater) show who grades higher, lower or carelessly."))
    return found
