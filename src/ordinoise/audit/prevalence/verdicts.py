"""What people found in the rows that they verified, and how these rows were drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.labels import Verified


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Verified rows and what was found: what the count reads of `Verified`, and open rows beside it.

    Attributes
    ----------
    rows : int array of shape (n_verified,)
        Row numbers.
    is_wrong : bool array of shape (n_verified,)
        Whether the record was found wrong; False for rows that are open.
    is_open : bool array of shape (n_verified,)
        Rows that somebody looked at and could not decide.
    is_random : bool array of shape (n_verified,)
        Rows drawn at random from those that nobody had verified; all others were chosen.
    slip_rate : array of shape (n_verified,)
        Share of such verdicts that are wrong themselves.
    """

    rows: Ints
    is_wrong: NDArray[np.bool_]
    is_open: NDArray[np.bool_]
    is_random: NDArray[np.bool_]
    slip_rate: Floats

    @classmethod
    def of(cls, verified: Verified | None, recorded: Ints, open_rows: Any = (), open_drawn: str = "random") -> Self:
        """The verdicts of checked verified labels, and rows that stayed open, which were drawn as `open_drawn` says.

        A verdict errs as often as its verifier does on rows of the grade that it names.
        """
        left_open = np.asarray(open_rows, dtype=np.int64)
        is_open = np.ones(len(left_open), dtype=bool)
        still = cls(left_open, ~is_open, is_open, is_open & (open_drawn == "random"), np.zeros(len(left_open)))
        if verified is None:
            return still
        slip_rate = 1 - verified.noise[np.arange(len(verified.rows)), verified.labels, verified.labels]
        is_wrong = verified.labels != recorded[verified.rows]
        decided = cls(verified.rows, is_wrong, np.zeros_like(is_wrong), verified.drawn == "random", slip_rate)
        return cls(*(np.concatenate(parts) for parts in zip(decided._parts, still._parts, strict=True)))

    @property
    def _parts(self) -> tuple[NDArray[Any], ...]:
        return self.rows, self.is_wrong, self.is_open, self.is_random, self.slip_rate

    def among(self, chosen: NDArray[np.bool_]) -> Self:
        """Some of them."""
        return type(self)(*(part[chosen] for part in self._parts))

    @property
    def tally(self) -> Tally:
        """How many there are of each kind."""
        n_open, n_wrong = int(self.is_open.sum()), int(self.is_wrong.sum())
        slip_rate = float(self.slip_rate[~self.is_open].mean()) if n_open < len(self.rows) else 0.0
        return Tally(len(self.rows) - n_open, n_wrong, n_open, slip_rate)


class Tally(NamedTuple):
    """Rows that were decided, those of them found wrong, rows left open, and the share of verdicts that err."""

    n_decided: int
    n_wrong: int
    n_open: int = 0
    slip_rate: float = 0.0

    @property
    def n_rows(self) -> int:
        """Rows that somebody looked at."""
        return self.n_decided + self.n_open
