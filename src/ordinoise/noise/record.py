"""`Noise`, the one record of what is known about the noise of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ordinoise._plain import as_plain, of_plain
from ordinoise._text import hypertext, matrix_text
from ordinoise._validation import (
    Floats,
    Ints,
    as_choice,
    as_noise_matrix,
    as_number,
    as_ranks,
    as_same_length,
    complain,
)
from ordinoise.estimate import Estimate
from ordinoise.finding import noise_words

SOURCES = ("trusted", "given", "estimated", "too few rows")
ANSWERS = ("corrected", "cautious", "trusting")
PER = ("all", "rater", "row")
FACTS = (
    "source", "method", "rate", "rate_interval", "rate_range", "answer", "reason", "confidence", "doubts", "per",
    "raters", "matrix",
)  # fmt: skip
ARRAYS = ("matrices", "replicates", "interval", "class_shares", "counts")
LEAST_DIFFERENCE = 1e-9  # of two probabilities
SHARES_STEPS = 200
"""Steps of expectation-maximization in `implied_shares`: a round number, chosen by no run."""


@dataclass(frozen=True)
class Doubt:
    """A reason not to believe an estimated noise matrix.

    Attributes
    ----------
    code : str
        Code for programs, such as ``"flat-likelihood"``.
    sentence : str
        The same in words, with its numbers.
    """

    code: str
    sentence: str


@dataclass(frozen=True, eq=False)
class Noise:
    """What is known about the noise of labels, and how certain it is.

    Every noise estimator and every classifier keeps one as ``noise_``, and every parameter called ``noise`` takes one.
    :meth:`of` makes it from an array, a mapping of raters, a fitted estimator or classifier, or `to_dict`.

    Attributes
    ----------
    matrices : array of shape (n_matrices, n_classes, n_classes)
        ``matrices[i, true, recorded]``; rows sum to one. `per` says what `i` counts.
    source : {"trusted", "given", "estimated", "too few rows"}
        Origin of the matrices: the labels are trusted, the matrices were given, they were estimated from data, or
        there were too few rows to estimate them and the labels are trusted.
    per : {"all", "rater", "row"}
        One matrix for all labels, one per rater, or one per row of the data.
    raters : tuple
        Names of the raters, one per matrix, for ``per="rater"``.
    counts : array of shape (n_matrices,) or (n_matrices, n_classes), or None
        Number of labels under each matrix, in total or per true class: their weights in the average.
    class_shares : array of shape (n_classes,) or None
        Distribution of the true label.
    replicates : array of shape (n_replicates, n_classes, n_classes)
        Draws of the average matrix that carry its uncertainty. Empty if it is taken as exact.
    interval : array of shape (2, n_classes, n_classes) or None
        Ends of the interval of every entry of the average matrix, if a family of the estimator holds it; of a matrix
        outside all families it may cover half of the entries only, the less the more rows there are.
    rate_interval : (float, float) or None
        Ends of the interval of `rate`, if the model of the estimator holds.
    rate_range : (float, float) or None
        Ends between which the rate lies even if grades overlap by slips alone: slips between neighbors look just like
        overlap, and no data without repeated or verified labels can tell the two apart. It holds if the true label of
        a row is the likeliest or the middle one of those that rows like it have on record.
    confidence : float
        Level of both intervals.
    method : str
        Name of the estimator; empty if nothing was estimated.
    doubts : tuple of Doubt
        Reasons not to believe the estimate; empty if there are none.
    answer : {"corrected", "cautious", "trusting"}
        What a model makes of it. *Corrected* predicts the true label. *Cautious* learns under the correction but
        predicts the label as it would be recorded. *Trusting* takes the labels as they are.
    reason : str
        Why, in words; empty if it was not chosen by evidence.

    Examples
    --------
    >>> from ordinoise.noise import Noise, adjacent
    >>> noise = Noise.of(adjacent(3, up=0.2, down=0.1))
    >>> noise.source, noise.n_classes, noise.is_in_doubt
    ('given', 3, False)
    """

    matrices: Floats
    source: str = "given"
    per: str = "all"
    raters: tuple[str | float, ...] = ()
    counts: Floats | None = None
    class_shares: Floats | None = None
    replicates: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))
    interval: Floats | None = None
    rate_interval: tuple[float, float] | None = None
    rate_range: tuple[float, float] | None = None
    confidence: float = 0.95
    method: str = ""
    doubts: tuple[Doubt, ...] = ()
    answer: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        matrices = np.asarray(self.matrices, dtype=np.float64)
        matrices = matrices[None] if matrices.ndim == 2 else matrices
        if matrices.ndim != 3 or len(matrices) == 0:
            raise complain("matrices", "have shape (n_matrices, n_classes, n_classes)", f"shape {matrices.shape}")
        n_classes = matrices.shape[1]
        for matrix in matrices if len(matrices) <= 1000 else matrices[:1]:
            as_noise_matrix(matrix, n_classes)
        as_choice("source", self.source, SOURCES)
        as_choice("per", self.per, PER)
        as_number("confidence", self.confidence, 0.0, 1.0)
        usual = "corrected" if self.source in ("given", "estimated") else "trusting"
        object.__setattr__(self, "answer", as_choice("answer", self.answer or usual, ANSWERS))
        if self.per == "rater" and len(self.raters) != len(matrices):
            raise complain("raters", f"name all {len(matrices)} matrices", f"{len(self.raters)} names")
        if self.per == "all" and len(matrices) > 1:
            raise complain("matrices", "be one matrix unless they are per rater or per row", f"{len(matrices)} of them")
        self._freeze("matrices", matrices, (len(matrices), n_classes, n_classes))
        drawn = np.asarray(self.replicates, dtype=np.float64)
        if drawn.ndim == 0:
            raise complain("replicates", "have shape (n_replicates, n_classes, n_classes)", f"shape {drawn.shape}")
        drawn = drawn if drawn.size else np.empty((0, n_classes, n_classes))
        self._freeze("replicates", drawn, (len(drawn), n_classes, n_classes))
        by_class = (len(matrices), n_classes)[: 1 if self.counts is None else max(1, np.ndim(self.counts))]
        shapes = {"interval": (2, n_classes, n_classes), "class_shares": (n_classes,), "counts": by_class}
        for name, shape in shapes.items():
            if getattr(self, name) is not None:
                self._freeze(name, np.asarray(getattr(self, name), dtype=np.float64), shape)

    def _freeze(self, name: str, array: Floats, shape: tuple[int, ...]) -> None:
        """Store a read-only copy of an array, after a check of its shape."""
        if array.shape != shape or not np.isfinite(array).all():
            raise complain(name, f"hold finite numbers of shape {shape}", f"shape {array.shape}")
        own = array.copy()
        own.flags.writeable = False
        object.__setattr__(self, name, own)

    @classmethod
    def of(cls, noise: Any, n_classes: int | None = None) -> Self:
        """The record of a noise matrix in any form.

        Parameters
        ----------
        noise : None, array, mapping, Noise, or fitted estimator or classifier
            None trusts the labels and needs `n_classes`. An array is ``[true, recorded]``, or one matrix per rater,
            numbered from 0. A mapping holds one matrix per rater, or is what `to_dict` gave.
        n_classes : int, optional
            Expected number of classes.
        """
        found = cls._of(noise, n_classes)
        if n_classes is not None and found.n_classes != n_classes:
            raise complain("noise_matrix", f"be {n_classes} x {n_classes}", f"{found.n_classes} x {found.n_classes}")
        return found

    @classmethod
    def _of(cls, noise: Any, n_classes: int | None) -> Self:
        if isinstance(noise, cls):
            return noise
        if noise is None:
            if n_classes is None:
                raise complain("n_classes", "be given if noise is None", "None")
            return cls(np.eye(n_classes), source="trusted")
        if hasattr(noise, "noise_"):
            return cls._of(noise.noise_, n_classes)
        if hasattr(noise, "noise_matrix_"):
            return cls(as_noise_matrix(noise.noise_matrix_), source="estimated", method=type(noise).__name__)
        if hasattr(noise, "fit"):
            raise complain("noise", "be a matrix or a fitted estimator", f"{type(noise).__name__} before fit")
        if isinstance(noise, str):
            advice = "estimate it first, such as by issues_from_probabilities(probabilities, y).noise"
            raise complain("noise", "be known here: a matrix, Noise or fitted estimator", repr(noise), advice)
        if isinstance(noise, Mapping):
            return cls.from_dict(noise) if {"matrices", "source"} <= set(noise) else cls._of_raters(noise, n_classes)
        if np.ndim(noise) == 3:
            return cls._of_raters(dict(enumerate(np.asarray(noise))), n_classes)
        matrix = as_noise_matrix(noise, n_classes)
        if np.ptp(matrix, axis=0).max() < LEAST_DIFFERENCE:
            advice = "such labels say nothing about the true ones"
            raise complain("noise_matrix", "have rows that differ", f"{len(matrix)} equal rows", advice)
        return cls(matrix, doubts=moved_grades(matrix))

    @classmethod
    def _of_raters(cls, matrices: Mapping[Any, Any], n_classes: int | None) -> Self:
        if not matrices:
            raise complain("noise", "hold at least one matrix", "an empty mapping")
        stack = [as_noise_matrix(matrix, n_classes) for matrix in matrices.values()]
        if len({len(matrix) for matrix in stack}) > 1:
            raise complain("noise", "hold matrices of one size", f"sizes {sorted({len(matrix) for matrix in stack})}")
        return cls(np.stack(stack), per="rater", raters=tuple(matrices))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.matrices.shape[1]

    @property
    def matrix(self) -> Floats:
        """The matrix of a label drawn from all labels: the average of `matrices`, weighted by `counts`."""
        if len(self.matrices) == 1:
            return self.matrices[0]
        if self.counts is None:
            return np.asarray(self.matrices.mean(axis=0))
        # A class without counts is averaged with equal weights.
        counts = self.counts if self.counts.ndim == 2 else np.repeat(self.counts[:, None], self.n_classes, axis=1)
        weights = np.where(counts.sum(axis=0) > 0, counts, 1.0)[:, :, None]
        return np.asarray((weights * self.matrices).sum(axis=0) / weights.sum(axis=0))

    @property
    def average(self) -> Self:
        """The noise with one matrix for all labels, `matrix`."""
        return self if self.per == "all" else replace(self, matrices=self.matrix, per="all", raters=(), counts=None)

    @property
    def rate(self) -> float | None:
        """Share of wrong labels, ``sum_k class_shares[k] (1 - matrix[k, k])``; None if unknown."""
        if self.class_shares is None or self.source == "too few rows":
            return None
        return float(self.class_shares @ (1 - self.matrix.diagonal()))

    @property
    def wrong_share(self) -> Estimate | None:
        """Share of wrong labels with its interval, `rate_range` if the estimate is not believed; None if unknown."""
        if self.is_estimated and self.answer != "corrected":
            return None if self.rate_range is None else Estimate(np.nan, *self.rate_range, self.confidence)
        low, high = self.rate_interval or (np.nan, np.nan)
        return None if self.rate is None else Estimate(self.rate, low, high, self.confidence)

    @property
    def is_estimated(self) -> bool:
        """Whether the matrices come from the data."""
        return self.source == "estimated"

    @property
    def is_in_doubt(self) -> bool:
        """Whether there are doubts about the estimate."""
        return bool(self.doubts)

    @property
    def believed(self) -> Self:
        """The noise that scores and sets are corrected for: this one, or none at all unless `answer` is "corrected"."""
        if self.answer == "corrected" or self.source == "too few rows":
            return self
        return type(self)(np.eye(self.n_classes), source="trusted", class_shares=self.class_shares)

    @property
    def doubt_codes(self) -> tuple[str, ...]:
        """Codes of the doubts."""
        return tuple(doubt.code for doubt in self.doubts)

    @property
    def doubt_text(self) -> str:
        """The sentences of all doubts, joined."""
        return "; ".join(doubt.sentence for doubt in self.doubts)

    def index_of(self, raters: ArrayLike | None, n_samples: int) -> Ints | None:
        """Number of the matrix of each of `n_samples` labels; None if one matrix is for all."""
        if self.per == "rater":
            if raters is None:
                raise complain("raters", "name the rater of each sample when noise holds one matrix per rater", "None")
            column = np.asarray(raters)
            as_same_length("raters", len(column), "y", n_samples)
            return as_ranks("raters", column, np.asarray(self.raters))
        if raters is not None:
            advice = "pass noise={rater: matrix}"
            raise complain("noise", "hold one matrix per rater when raters are given", "one matrix for all", advice)
        if self.per == "row":
            as_same_length("noise", len(self.matrices), "y", n_samples)
            return np.arange(n_samples)
        return None

    def seen_in(self, ranks: Ints, index: Ints | None = None) -> Self:
        """The noise with missing counts and true-class shares filled in from these recorded labels."""
        counts, shares = self.counts, self.class_shares
        if index is not None and counts is None:
            counts = np.bincount(index, minlength=len(self.matrices)).astype(np.float64)
        found = replace(self, counts=counts)
        if shares is None and len(ranks):
            shares = implied_shares(found.matrix, np.bincount(ranks, minlength=self.n_classes))
        return replace(found, class_shares=shares)

    def to_dict(self, *, replicates: bool = True) -> dict[str, Any]:
        """Plain lists, numbers and text, ready for JSON; `from_dict` gives the same record, bit for bit.

        Parameters
        ----------
        replicates : bool, default=True
            Whether to include the draws, which are most of its size.
        """
        plain = as_plain(self) | {"rate": self.rate, "matrix": self.matrix.tolist()}
        plain |= {} if replicates else {"replicates": []}
        return {name: plain[name] for name in (*FACTS, *ARRAYS)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The record that `to_dict` described; refuses anything else with one sentence."""
        if not isinstance(plain, Mapping) or not {"matrices", "source"} <= set(plain):
            got = sorted(map(str, plain)) if isinstance(plain, Mapping) else type(plain).__name__
            raise complain("noise", "be a mapping with matrices and source, as to_dict gives it", got)
        return of_plain(cls, {field.name: plain[field.name] for field in fields(cls) if field.name in plain})

    def __str__(self) -> str:
        lines = [f"Noise, {self.words}"]
        lines += [" ".join(f"{entry:.3f}" for entry in row) for row in self.matrix]
        return "\n".join([*lines, *(f"in doubt: {doubt.sentence}" for doubt in self.doubts)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = tuple(f"in doubt: {doubt.sentence}" for doubt in self.doubts)
        return hypertext(matrix_text(f"Noise, {self.words}", range(self.n_classes), self.matrix, self.interval, notes))

    @property
    def words(self) -> str:
        """Its source and its rate, in one phrase."""
        return noise_words(self)


def moved_grades(noise_matrix: Floats) -> tuple[Doubt, ...]:
    """The doubt about grades that would be recorded as another one more often than as themselves; none if none is."""
    diagonal = noise_matrix.diagonal()
    moved = np.flatnonzero(noise_matrix.max(axis=1) > diagonal + LEAST_DIFFERENCE)
    if not len(moved):
        return ()
    sentence = (
        f"{len(moved)} of {len(noise_matrix)} grades would be recorded as another one more often than as themselves, "
        f"grade number {moved[0]} as number {noise_matrix[moved[0]].argmax()}: are rows and columns in one order?"
    )
    return (Doubt("moved-grade", sentence),)


def estimated_noise(
    noise_matrix: Floats,
    class_shares: Floats,
    *,
    replicates: Floats,
    rates: Floats,
    confidence: float = 0.95,
    method: str = "",
    doubts: Sequence[Doubt] = (),
    **others: Any,
) -> Noise:
    """The record of an estimate, with intervals from draws of the matrix and of the noise rate, if there are draws."""
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    interval = rate_interval = None
    if len(replicates):
        interval, limits = np.quantile(replicates, ends, axis=0), np.quantile(rates, ends).clip(0.0, 1.0)
        rate_interval = (float(limits[0]), float(limits[1]))
    return Noise(
        noise_matrix, source="estimated", class_shares=class_shares, replicates=replicates, interval=interval,
        rate_interval=rate_interval, confidence=confidence, method=method, doubts=tuple(doubts), **others,
    )  # fmt: skip


def implied_shares(noise_matrix: Floats, recorded: ArrayLike, *, least: float = 0.0) -> Floats:
    """Shares of the true classes under which the recorded ones are most likely; none below `least`.

    Expectation-maximization from equal shares: ``share_k <- share_k sum_r N[k, r] recorded_r / (share @ N)_r``.
    `recorded` may be counts.
    """
    frequencies = np.asarray(recorded, dtype=np.float64) / np.sum(recorded)
    shares = np.full(len(noise_matrix), 1 / len(noise_matrix))
    for _ in range(SHARES_STEPS):
        explained = np.maximum(shares @ noise_matrix, 1e-300)
        shares = shares * (noise_matrix @ (frequencies / explained))
    shares = np.maximum(shares / shares.sum(), least)
    return np.asarray(shares / shares.sum())
