"""What was found about the labels, and its sentences, each written once.

Noise, counts and notebooks of the library print them, and so do the terminal, the report, the review and the gate of
the application: so this module stands below them all. They choose and style; none writes its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ordinoise._text import percent
from ordinoise.estimate import Estimate

if TYPE_CHECKING:
    from ordinoise.noise import Noise

NO_SIGNAL = "nothing can be found from these columns: they say next to nothing about the grade"
TOO_FEW_ROWS = "there are too few rows to estimate how many of {all} are wrong"
UNKNOWN = "how many of {all} are wrong is not known"
TRUSTED = "the {things} were trusted, as requested: no errors were looked for"
GIVEN = "the noise matrix was given, not estimated from these rows"
RANGE = "between {low} and {high} of {all} are wrong"
OVERLAP = "; more cannot be told: a wrong grade next to the right one looks just like grades that overlap"
COUNT = "about {value} of {all} {verb} wrong"
IF_ONE_MATRIX = "if one matrix describes the noise, "
NONE = "there is no sign that any of {all} is wrong"
CEILING = ", though up to {high} may be"
WIDE = "that interval is wide: the number is a rough guide"
BY_MATRIX = "if one matrix describes the noise of all rows, about {value} ({ends}), which nothing verifies"
SAMPLE = "verify {n_random} rows drawn at random to have a number"
FIRST_LOOK = "verify the {n_first} most suspicious ones to know what to expect of the next"
NEXT = "of the next {n_next} suspects at most {most} are wrong"
BY_LOT = (
    "rows were given out at random, as you said: graders who differ cannot all be right, so at least {n} of all grades "
    "are wrong"
)

# Of graders with one grade per row. None says who is right, or ranks people without intervals.
SHIFT = "{grader} grades {size} {way} than the others on comparable rows ({ends})"
NOT_BY_LOT = (
    "rows were not given out at random: those of {grader} are expected at grade {expected}{unit}, the others' at "
    "{others}. If reasons that no column shows weigh as much as those that do, {ends}"
)
SPREAD = "grades of {grader} scatter {times} times as much around what the columns tell ({ends})"
GRADERS = "{n_differing} of {n_graders} graders clearly grade higher or lower than the others on comparable rows"
STILL_DIFFERING = (
    "; rows were not given out at random: if reasons that no column shows weigh as much as those that do, {n_still} "
    "still do"
)
UNKNOWN_GRADERS = "; too few rows to tell of {n_unknown} more"
NO_SHIFT = "no grader clearly grades higher or lower than the others on comparable rows"
TOO_FEW_OF_A_GRADER = "too few rows to tell: {graders}"
UNSEEN = (
    "a grader who gets harder cases that no column shows looks the same as a severe one; only rows graded twice, or "
    "given out by lot, tell them apart"
)

# The thresholds of these sentences are round numbers, chosen by no run.
N_RANDOM, N_FIRST, N_NEXT = 60, 10, 40
CLEAN = 0.0005  # below this share of wrong labels, none is reported
WIDTH = 0.5  # an interval is called wide if its half-width is more than this share of the number
SHOWN_AS_WHOLE = 0.9995  # a share that a table of whole percentages and tenths shows as 100 %


@dataclass(frozen=True)
class Finding:
    """What was found about the labels.

    Attributes
    ----------
    kind : str
        "no signal" if the columns say next to nothing, "too few rows", "trusted" if the labels are; "given" or "count"
        if the number of wrong labels is known by a matrix that was given or estimated, "range" if only its range is;
        "unknown" if neither is.
    wrong : Estimate or None
        Number of wrong labels, or their share if `n_labels` is None.
    n_labels : int or None
        Number of labels that it is about.
    thing : str
        What a label is called.
    is_rest : bool
        Whether the labels are those that are not settled.
    doubts : tuple of str
        Sentences on why the estimate may be off.
    by_matrix : Estimate or None
        The number by a matrix that was fitted to the columns, where verified rows alone can tell it.
    n_next : int or None
        The most wrong labels among the next `N_NEXT` suspects; None before any was verified.
    count_doubts : tuple of str
        Clauses on what verified rows contradict, or why they say nothing.
    by_lot : int or None
        The fewest wrong labels of all, as graders of rows that were given out at random differ.
    shows_matrix : bool
        Whether the noise matrix may be shown: one without noise, that is not believed, would contradict the range.
    """

    kind: str
    wrong: Estimate | None = None
    n_labels: int | None = None
    thing: str = "label"
    is_rest: bool = False
    doubts: tuple[str, ...] = ()
    by_matrix: Estimate | None = None
    n_next: int | None = None
    count_doubts: tuple[str, ...] = ()
    by_lot: int | None = None
    shows_matrix: bool = True

    @property
    def is_known(self) -> bool:
        """Whether the number of wrong labels is known, not its range alone."""
        return self.kind in ("count", "given", "trusted")

    @property
    def is_clean(self) -> bool:
        """Whether almost no label is wrong, or the number is not known."""
        if self.wrong is None or not self.is_known:
            return True
        least = CLEAN if self.n_labels is None else max(CLEAN * self.n_labels, 0.5)
        return self.wrong.value < least

    @property
    def share(self) -> Estimate | None:
        """Share of wrong labels."""
        return self.wrong and self.wrong.times(1 / max(self.n_labels or 1, 1))

    @property
    def phrase(self) -> str:
        """The finding in one clause, for titles and for sentences that compare."""
        if self.wrong is not None and self.kind in ("count", "given"):
            found = self._condition + self._filled(COUNT, value=self._number(self.wrong.value), verb="are")
            level = f"{self.wrong.confidence:.0%} interval"
            return found if math.isnan(self.wrong.low) else f"{found} ({level} {self.wrong.span(self._number)})"
        return "".join(self._clause)

    @property
    def headline(self) -> tuple[str, str]:
        """The first sentence, in two parts: the finding itself, which can be set in bold, and the rest."""
        head, more = self._clause
        return head[0].upper() + head[1:], f"{more}."

    @property
    def _clause(self) -> tuple[str, str]:
        wrong, share = self.wrong, self.share
        if wrong is None or share is None or self.kind == "trusted":
            clauses = {"no signal": NO_SIGNAL, "too few rows": TOO_FEW_ROWS, "trusted": TRUSTED}
            return self._filled(clauses.get(self.kind, UNKNOWN)), ""
        if self.kind == "range":
            ends = "" if self.n_labels is None else f" ({share:%})"
            return between(wrong, self._number, self.all_of_them), ends + OVERLAP
        if self.is_clean:
            ceiling = CEILING.format(high=self._number(wrong.high)) if wrong.high >= 1 else ""
            return self._filled(NONE) + ceiling, ""
        found = self._condition + self._filled(COUNT, value=self._number(wrong.value), verb=self._verb)
        numbers = [] if self.n_labels is None else [percent(share.value)]
        numbers += [] if math.isnan(share.low) else [f"{share.confidence:.0%} interval {share.span('%')}"]
        return found, f" ({'; '.join(numbers)})" * bool(numbers)

    @property
    def _condition(self) -> str:
        """What a share by a fitted matrix depends on: no row was verified for it."""
        return IF_ONE_MATRIX if self.kind == "count" and self.n_labels is None else ""

    @property
    def sentences(self) -> list[str]:
        """The finding in sentences, the headline first."""
        is_wide = self.wrong is not None and not self.is_clean and self.wrong.half_width > WIDTH * self.wrong.value
        return ["".join(self.headline), *([as_sentence(WIDE)] if is_wide else []), *self._beside]

    @property
    def _beside(self) -> list[str]:
        """What stands below a range: the number by a fitted matrix, what verified rows say, and what would tell."""
        if self.kind != "range" or self.n_labels is None:
            return []
        clauses = [*self.count_doubts]
        if self.by_matrix is not None:
            value, ends = self._number(self.by_matrix.value), self.by_matrix.span(self._number)
            clauses.insert(0, BY_MATRIX.format(value=value, ends=ends))
        if self.by_lot:
            clauses.append(BY_LOT.format(n=f"{self.by_lot:,}"))
        if self.n_next is not None:
            clauses.append(NEXT.format(n_next=N_NEXT, most=self.n_next))
        else:
            clauses.append(FIRST_LOOK.format(n_first=N_FIRST))
        return [as_sentence(clause) for clause in (*clauses, SAMPLE.format(n_random=N_RANDOM))]

    @property
    def origin(self) -> str:
        """Where the noise comes from if it was not estimated, in a sentence; else empty."""
        return as_sentence(self._filled({"given": GIVEN, "trusted": TRUSTED}.get(self.kind, "")))

    @property
    def all_of_them(self) -> str:
        """What the number is a part of: "1,599 grades", "the remaining 12 labels", "the labels"."""
        if self.n_labels is None:
            return f"the {self.thing}s"
        return f"{'the remaining ' * self.is_rest}{self.n_labels:,} {self.thing}{'s' * (self.n_labels != 1)}"

    def to_dict(self) -> dict[str, Any]:
        """Kind, number or share of wrong labels, sentences and doubts, ready for JSON."""
        wrong = self.wrong and self.wrong.to_dict()
        return {"kind": self.kind, "wrong": wrong, "sentences": self.sentences, "doubts": list(self.doubts)}

    @property
    def _verb(self) -> str:
        """An interval that includes zero does not support "probably"."""
        assert self.wrong is not None
        if self.wrong.low < (0.5 if self.n_labels is not None else CLEAN):
            return "may be"
        return "is probably" if self.n_labels is not None and round(self.wrong.value) == 1 else "are probably"

    def _number(self, number: float) -> str:
        return f"{number:.1%}" if self.n_labels is None else f"{round(number):,}"

    def _filled(self, template: str, **words: str) -> str:
        return template.format(all=self.all_of_them, things=f"{self.thing}s", **words)


def finding_of(
    noise: Noise,
    wrong: Estimate | None = None,
    n_labels: int | None = None,
    *,
    has_signal: bool = True,
    thing: str = "label",
    is_rest: bool = False,
    by_matrix: Estimate | None = None,
    n_next: int | None = None,
    count_doubts: tuple[str, ...] = (),
    by_lot: int | None = None,
) -> Finding:
    """What is found from the noise of labels and, without `n_labels` from their share, the number of wrong ones."""
    wrong = noise.wrong_share if n_labels is None else wrong
    kind = _kind(noise, wrong, has_signal)
    wrong = None if kind in ("no signal", "too few rows") else wrong
    is_identity = bool((noise.matrix.diagonal() >= SHOWN_AS_WHOLE).all())
    return Finding(
        kind, wrong, n_labels, thing, is_rest, tuple(one.sentence for one in noise.doubts), by_matrix, n_next,
        count_doubts, by_lot,
        shows_matrix=not (is_identity and noise.source == "estimated" and noise.answer != "corrected"),
    )  # fmt: skip


def _kind(noise: Noise, wrong: Estimate | None, has_signal: bool) -> str:
    if not has_signal or "no-signal" in noise.doubt_codes:
        return "no signal"
    is_counted = wrong is not None and not wrong.is_range and noise.source != "trusted"  # by a random sample
    if noise.source in ("too few rows", "trusted") and not is_counted:
        return noise.source
    if wrong is None:
        return "unknown"
    return "range" if wrong.is_range else "given" if noise.source == "given" else "count"


def between(wrong: Estimate, form: Any, all_of_them: str) -> str:
    """The clause on the ends of a number of wrong labels."""
    low, high = map(form, wrong.ends)
    return RANGE.format(low=low, high=high, all=all_of_them)


def as_sentence(clause: str) -> str:
    """A clause with a capital letter and a full stop; an empty one stays empty."""
    return clause and f"{clause[0].upper()}{clause[1:]}."


def noise_words(noise: Noise) -> str:
    """Where the noise comes from, and the share of wrong labels."""
    phrase = {
        "trusted": "none: the labels are trusted",
        "given": f"given, one matrix per rater ({len(noise.matrices)})" if noise.per == "rater" else "given",
        "estimated": f"estimated by {noise.method}" if noise.method else "estimated",
        "too few rows": "unknown: too few rows to estimate it, so the labels are trusted",
    }[noise.source]
    found = finding_of(noise)
    return phrase if found.wrong is None or found.kind == "trusted" else f"{phrase}: {found.phrase}"
