"""The result of an audit: how suspicious every label is, and how many are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ordinoise._frames import LIBRARIES, Library, frame_of, installed_library
from ordinoise._text import TextTable, hypertext, percent, plain, shortened
from ordinoise._validation import Floats, Ints
from ordinoise.audit.count import WrongCount
from ordinoise.audit.posterior import Posterior, worst_first
from ordinoise.finding import Finding, finding_of
from ordinoise.noise import Noise

COLUMNS, CHANCES = ("suggested", "suspicion", "rank"), ("probability_wrong", "expected_distance")
MOST_SHOWN = 10
"""Rows of the printed table."""


@dataclass(frozen=True, eq=False)
class LabelIssues:
    """How suspicious each label is. Arrays are in the order of the data; `to_frame` has the worst first.

    A ranking needs no verified label, a number does. Unless the noise matrix is given, the number of wrong labels is a
    range, and `probability_wrong` is missing, until rows that were drawn at random are verified.

    Attributes
    ----------
    recorded, suggested : array of shape (n_samples,)
        The recorded label, and the median of the posterior: the grade with the least expected distance.
    suspicion : array of shape (n_samples,)
        How suspicious the label is, from 0 to 1: no probability. Where the noise is not believed (`noise.answer` is not
        "corrected"), it is the chance that another grade would be recorded.
    probability_wrong : array of shape (n_samples,)
        Probability that the recorded label is not the true one, by a noise matrix that is given or by rows that were
        verified at random; it sums to the number printed. NaN where neither is known.
    expected_distance : array of shape (n_samples,)
        Expected number of grades between the recorded and the true label; NaN where `probability_wrong` is.
    rank : int array of shape (n_samples,)
        1 is the most suspicious; verified labels are the last.
    posterior : array of shape (n_samples, n_classes)
        Probability of each true label, given the features and the recorded label, under the fitted model: no record is
        wrong more often or less for its sake.
    classes : array of shape (n_classes,)
        The grades in order.
    noise : Noise
        The noise of the labels, given or estimated.
    expected_wrong : WrongCount or None
        How many labels are wrong, with an interval, or a range without a value; None if the noise is given as none.
        Verified labels are not counted, neither right nor wrong ones.
    library : str or None
        The library of the frame that `to_frame` returns; if None, the first installed of pandas, polars, pyarrow.
    verified : bool array of shape (n_samples,) or None
        Labels whose true grade is known.
    """

    recorded: NDArray[Any]
    suggested: NDArray[Any]
    suspicion: Floats
    probability_wrong: Floats
    expected_distance: Floats
    rank: Ints
    posterior: Floats
    classes: NDArray[Any]
    noise: Noise
    expected_wrong: WrongCount | None
    library: Library | None = None
    verified: NDArray[np.bool_] | None = None

    @property
    def worst(self) -> Ints:
        """Row numbers from the most to the least suspicious."""
        return np.argsort(self.rank)

    @property
    def finding(self) -> Finding:
        """What is known of the number of wrong labels."""
        count = self.expected_wrong
        if count is None:
            return finding_of(self.noise, None, len(self.rank))
        told = count.count
        return finding_of(
            self.noise, count.estimate, count.n_samples, by_matrix=None if told is None else count.by_matrix,
            n_next=None if told is None else told.n_next,
            count_doubts=() if told is None else tuple(doubt.sentence for doubt in told.doubts),
            by_lot=None if told is None else told.by_lot,
        )  # fmt: skip

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Columns to put beside the data, in its order: suggested, suspicion, rank and, where known, probabilities."""
        known = () if np.isnan(self.probability_wrong).all() else CHANCES
        return {name: getattr(self, name) for name in (*COLUMNS, *known)}

    def to_frame(self) -> Any:
        """A frame of the library of the data, the most suspicious label first.

        Columns: row, recorded, suggested, suspicion, rank and, where they are known, probability_wrong and
        expected_distance.
        """
        rows = self.worst
        columns = {"row": rows, "recorded": self.recorded[rows]}
        columns |= {name: column[rows] for name, column in self.to_columns().items()}
        return nw.from_dict(columns, backend=self.library or installed_library()).to_native()

    def __repr__(self) -> str:
        return plain(self._first_rows())

    def _repr_html_(self) -> str:
        return hypertext(self._first_rows())

    def _first_rows(self) -> TextTable:
        """The most suspicious labels, with what is known of the number of wrong ones."""
        n_samples = len(self.rank)
        rows = self.worst[:MOST_SHOWN]
        cells = zip(rows, self.recorded[rows], self.suggested[rows], strict=True)
        return TextTable(
            f"LabelIssues: {self.finding.phrase}",
            ("row", "recorded", "suggested", "suspicion", "probability wrong"),
            tuple(
                (str(row), shortened(str(seen)), shortened(str(due)), f"{suspicion:.2f}", percent(wrong))
                for (row, seen, due), suspicion, wrong in zip(
                    cells, self.suspicion[rows], self.probability_wrong[rows], strict=True
                )
            ),
            (f"the first {len(rows)} of {n_samples} by rank",) * (len(rows) < n_samples)
            + tuple(self.finding.sentences[1:]),
            n_names=3,
        )


def issues_from(
    posterior: Posterior,
    suspicion: Floats,
    chances: Floats,
    classes: NDArray[Any],
    noise: Noise,
    expected_wrong: WrongCount | None,
    rank_by: str,
    library: Library | None,
    verified: NDArray[np.bool_] | None = None,
    ranked: Posterior | None = None,
) -> LabelIssues:
    """The issues that follow from the posterior of the true label, and the chances that records are wrong, or NaN.

    Labels are ranked by `ranked`, by default the posterior.
    """
    n_rows = len(posterior.ranks)
    is_known = np.zeros(n_rows, dtype=bool) if verified is None else verified
    worst, rank = worst_first((ranked or posterior).suspicion(rank_by, noise.answer)), np.empty(n_rows, dtype=np.int64)
    rank[np.concatenate([worst[~is_known[worst]], worst[is_known[worst]]])] = np.arange(1, n_rows + 1)
    return LabelIssues(
        classes[posterior.ranks], classes[posterior.suggested], suspicion, chances,
        chances * posterior.distance_if_wrong, rank, posterior.probabilities, classes, noise, expected_wrong, library,
        is_known if is_known.any() else None,
    )  # fmt: skip


def library_of(X: Any) -> Library | None:
    """The name of the library that a frame belongs to; None for an array."""
    frame = frame_of(X)
    if not isinstance(frame, nw.DataFrame):
        return None
    return next((library for library in LIBRARIES if library == frame.implementation.value), None)
