"""The result of an audit: every label with the probability that it is wrong."""

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
from ordinoise.finding import Finding, finding_of, suspicion_words
from ordinoise.noise import Noise

COLUMNS = ("suggested", "probability_wrong", "expected_distance", "rank")
MOST_SHOWN = 10
"""Rows of the printed table."""


@dataclass(frozen=True, eq=False)
class LabelIssues:
    """How suspicious each label is. Arrays are in the order of the data; `to_frame` has the worst first.

    Where the noise is not believed (`noise.answer` is not "corrected"), the ranking still stands, but how many labels
    are wrong is known only as a range, and `probability_wrong` is the chance that another grade was due if the record
    itself is given no credit: more than the probability of an error.

    Attributes
    ----------
    recorded, suggested : array of shape (n_samples,)
        The recorded label, and the median of the posterior: the grade with the least expected distance.
    probability_wrong : array of shape (n_samples,)
        Probability that the recorded label is not the true one.
    expected_distance : array of shape (n_samples,)
        Expected number of grades between the recorded and the true label.
    rank : int array of shape (n_samples,)
        1 is the most suspicious; verified labels are the last.
    posterior : array of shape (n_samples, n_classes)
        Probability of each true label, given the features and the recorded label.
    classes : array of shape (n_classes,)
        The grades in order.
    noise : Noise
        The noise of the labels, given or estimated.
    expected_wrong : WrongCount or None
        How many labels are wrong, with an interval, or a range without a value; None for too few rows. Verified labels
        are not counted, neither right nor wrong ones.
    library : str or None
        The library of the frame that `to_frame` returns; if None, the first installed of pandas, polars, pyarrow.
    verified : bool array of shape (n_samples,) or None
        Labels whose true grade is known.
    """

    recorded: NDArray[Any]
    suggested: NDArray[Any]
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
        return finding_of(self.noise, count.estimate, count.n_samples)

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Columns to put beside the data, in its order: suggested, probability_wrong, expected_distance, rank."""
        return {name: getattr(self, name) for name in COLUMNS}

    def to_frame(self) -> Any:
        """A frame of the library of the data, the most suspicious label first.

        Columns: row, recorded, suggested, probability_wrong, expected_distance, rank.
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
            ("row", "recorded", "suggested", suspicion_words(self.noise), "expected distance"),
            tuple(
                (str(row), shortened(str(seen)), shortened(str(due)), percent(wrong), f"{distance:.2f}")
                for (row, seen, due), wrong, distance in zip(
                    cells, self.probability_wrong[rows], self.expected_distance[rows], strict=True
                )
            ),
            (f"the first {len(rows)} of {n_samples} by rank",) if len(rows) < n_samples else (),
            n_names=3,
        )


def issues_from(
    posterior: Posterior,
    classes: NDArray[Any],
    noise: Noise,
    expected_wrong: WrongCount | None,
    rank_by: str,
    library: Library | None,
    verified: NDArray[np.bool_] | None = None,
) -> LabelIssues:
    """The issues that follow from the posterior of the true label."""
    n_rows = len(posterior.ranks)
    is_known = np.zeros(n_rows, dtype=bool) if verified is None else verified
    worst, rank = worst_first(posterior.suspicion(rank_by, noise.answer)), np.empty(n_rows, dtype=np.int64)
    rank[np.concatenate([worst[~is_known[worst]], worst[is_known[worst]]])] = np.arange(1, n_rows + 1)
    return LabelIssues(
        classes[posterior.ranks], classes[posterior.suggested], posterior.probability_wrong,
        posterior.expected_distance, rank, posterior.probabilities, classes, noise, expected_wrong, library,
        is_known if is_known.any() else None,
    )  # fmt: skip


def library_of(X: Any) -> Library | None:
    """The name of the library that a frame belongs to; None for an array."""
    frame = frame_of(X)
    if not isinstance(frame, nw.DataFrame):
        return None
    return next((library for library in LIBRARIES if library == frame.implementation.value), None)
