"""Text beside other columns: one score of the text becomes a column for the learners that read dense tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.classifiers.blend.candidates import Candidate, Fitted, SparseCandidate
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.lineup import dense_candidates
from ordinoise.classifiers.blend.models import Model, SparseModel, TreesModel
from ordinoise.classifiers.blend.table import Table
from ordinoise.crossfit import stratified_folds

N_INNER_FOLDS = 3  # a round number, chosen by no run


@dataclass(frozen=True, eq=False)
class ScoredModel:
    """A model of the dense columns and the score of the text, the average over its readers."""

    readers: tuple[SparseModel, ...]
    model: Model

    def probabilities(self, table: Table) -> Floats:
        """Probability of each true class, shape (n_samples, n_classes)."""
        return self.model.probabilities(table.with_column(text_scores(self.readers, table)))


def kind_of(model: Model) -> str:
    """The kind of learner, "mlp" or "boosting"; linear models of text are networks."""
    inner = model.model if isinstance(model, ScoredModel) else model
    return "boosting" if isinstance(inner, TreesModel) else "mlp"


def text_scores(readers: tuple[SparseModel, ...], table: Table) -> Floats:
    """The score of each row's text, shape (n_samples,)."""
    texts = table.only_sparse()
    return np.concatenate(
        [
            np.mean([reader.network.score(some.sparse(reader.coding)) for reader in readers], axis=0)
            for some in texts.blocks()
        ]
    )


@dataclass(frozen=True, eq=False)
class Readers:
    """Linear models of the text on inner folds of the training rows: no row is scored by a model that saw its label.

    The candidates of one blend share them; each outer fold's are fitted once.
    """

    _found: dict[int, tuple[tuple[SparseModel, ...], Floats]] = field(default_factory=dict, repr=False)
    _locks: dict[int, Lock] = field(default_factory=dict, repr=False)

    def of(self, data: Recorded, rows: Ints, held_out: Ints) -> tuple[tuple[SparseModel, ...], Floats]:
        """The readers for these training rows, and the score of every row of the table (zero in other rows)."""
        key = hash(rows.tobytes())
        with self._locks.setdefault(key, Lock()):
            if key not in self._found:
                self._found[key] = _fitted_readers(data, rows, held_out)
            return self._found[key]


def _fitted_readers(data: Recorded, rows: Ints, held_out: Ints) -> tuple[tuple[SparseModel, ...], Floats]:
    texts = replace(data, table=data.table.only_sparse())
    groups = None if data.groups is None else data.groups[rows]
    folds = stratified_folds(data.ranks[rows], min(N_INNER_FOLDS, len(rows)), np.random.default_rng(0), groups)
    scores, readers = np.zeros(len(data.ranks)), []
    for fold in range(int(folds.max()) + 1):
        inside, outside = rows[folds != fold], rows[folds == fold]
        reader = SparseCandidate("ordered").fit(texts, inside, outside, 0).model
        assert isinstance(reader, SparseModel)
        readers.append(reader)
        scores[outside] = text_scores((reader,), data.table.rows(outside))
    scores[held_out] = text_scores(tuple(readers), data.table.rows(held_out))
    return tuple(readers), scores


@dataclass(frozen=True)
class ScoredCandidate:
    """A learner of dense columns that also reads the score of the text."""

    candidate: Candidate
    readers: Readers

    def fit(self, data: Recorded, rows: Ints, held_out: Ints, seed: int) -> Fitted:
        """Fit the learner with the score as a last column."""
        readers, scores = self.readers.of(data, rows, held_out)
        fitted = self.candidate.fit(replace(data, table=data.table.with_column(scores)), rows, held_out, seed)
        return Fitted(ScoredModel(readers, fitted.model), fitted.curve)


def candidates(learner: str, table: Table) -> dict[str, Candidate]:
    """The learners that take part, by name, for the columns of this table."""
    categorical = tuple(table.filling.codes)
    dense = dense_candidates(learner, len(table.features), categorical) if table.features.shape[1] else {}
    if not table.counts:
        return dense
    readers = Readers()
    return {
        "linear text": SparseCandidate("ordered"),
        "softmax text": SparseCandidate("softmax"),
        **{name: ScoredCandidate(candidate, readers) for name, candidate in dense.items()},
    }
