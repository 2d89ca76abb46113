"""How rows of X become the table that the learners of a blend read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from ordinoise._sparse import is_sparse
from ordinoise._validation import Ints, as_flag, complain
from ordinoise.classifiers.blend.table import Filling, Reading, Table, sparse_table, text_table
from ordinoise.classifiers.saving import Arrays, as_json, columns_from, columns_state, from_json
from ordinoise.columns.coding import Columns
from ordinoise.columns.summaries import Summaries
from ordinoise.columns.texts import LENGTHS, Grams

SUMMARY_PARTS = ("hashes", "holding", "center", "scale")


@dataclass(frozen=True, eq=False)
class TableCoding:
    """How rows become a table: what was learned from the columns of the training rows.

    Attributes
    ----------
    n_features : int
        Columns of X.
    columns : Columns
        Which of them are features, and what each becomes.
    filling, reading
        How missing values, categories and texts become numbers.
    reads_sparse : bool
        Whether X is a sparse matrix, whose columns are read as they are.
    """

    n_features: int
    columns: Columns
    filling: Filling
    reading: Reading = field(default_factory=Reading)
    reads_sparse: bool = False

    @classmethod
    def of(cls, X: Any, features: Any, n_features: int, columns: Columns, rows: Ints) -> tuple[Self, Table]:
        """The coding that the chosen rows call for, and their table; `features` are the encoded columns of X."""
        if is_sparse(features):
            coding = cls(n_features, columns, Filling.of(np.empty((len(rows), 0)), ()), reads_sparse=True)
            return coding, sparse_table(features[rows], coding.filling)
        # A copy of some rows; all of them need none.
        dense = features[rows] if len(rows) < len(features) else np.ascontiguousarray(features)
        reading, counts = Reading.of([[column[row] for row in rows] for column in columns.cells(X)])
        coding = cls(n_features, columns, Filling.of(dense, columns.categories), reading)
        return coding, Table(dense, coding.filling, counts)

    @property
    def n_dense(self) -> int:
        """Dense columns of the table, before they are filled."""
        return 0 if self.reads_sparse else self.columns.n_features(self.n_features)

    @property
    def n_counts(self) -> list[int]:
        """Sparse columns of each block of the table."""
        return [self.n_features] if self.reads_sparse else [block.n_columns for block in self.reading.blocks]

    def table(self, X: Any, features: Any) -> Table:
        """New rows; `features` are the encoded columns of X."""
        if self.reads_sparse:
            return sparse_table(features, self.filling)
        return text_table(features, self.filling, self.reading, self.columns.cells(X))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Settings for JSON, and arrays."""
        settings = {
            "columns": columns_state(self.columns),
            "codes": as_json("codes", {j: codes.tolist() for j, codes in self.filling.codes.items()}),
            "grams": [as_json("grams", asdict(grams)) for grams in self.reading.grams],
            "n_texts": [one.n_texts for one in self.reading.summaries],
            "reads_sparse": self.reads_sparse,
        }
        arrays: Arrays = {"medians": self.filling.medians, "flagged": self.filling.flagged}
        for one in self.reading.summaries:
            arrays |= {f"{part}-text{one.column}": getattr(one, part) for part in SUMMARY_PARTS}
        return settings, arrays

    @classmethod
    def of_state(cls, settings: dict[str, Any], arrays: Arrays, n_features: int) -> Self:
        """The coding that `state` described, of a table with so many columns."""
        columns = columns_from(settings["columns"], n_features)
        codes = {j: np.array(listed, dtype=np.int64) for j, listed in from_json(settings["codes"]).items()}
        if not np.isin(arrays["flagged"], np.arange(n_features)).all():
            raise complain("flagged", "be columns of the table", arrays["flagged"].tolist()[:3])
        filling = Filling(arrays["medians"], arrays["flagged"], codes)
        reading = _restored_reading(settings, arrays, len(columns.texts))
        coding = cls(n_features, columns, filling, reading, as_flag("reads_sparse", settings["reads_sparse"]))
        if len(filling.medians) != coding.n_dense:
            raise complain("medians", f"be {coding.n_dense} numbers", len(filling.medians))
        return coding


def _restored_reading(settings: dict[str, Any], arrays: Arrays, n_texts: int) -> Reading:
    grams = tuple(Grams(**from_json(grams)) for grams in settings["grams"])
    if [one.column for one in grams] != [at for at in range(n_texts) for _ in LENGTHS]:
        raise complain("grams", f"be those of {n_texts} text columns", len(grams))
    if len(settings["n_texts"]) != n_texts:
        raise complain("n_texts", f"be {n_texts} numbers", len(settings["n_texts"]))
    summaries = [
        Summaries(at, learned, **{part: arrays[f"{part}-text{at}"] for part in SUMMARY_PARTS})
        for at, learned in enumerate(settings["n_texts"])
    ]
    return Reading(grams, tuple(summaries))
