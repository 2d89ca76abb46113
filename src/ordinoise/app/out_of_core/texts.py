"""Free text of a table in parts: a linear score of it, one more column for the trees, by models that saw other rows.

The model of a pair of folds learns from the text of the rows in the other two folds. Trees that leave out fold f are
shown, for a training row of fold g, the score by the model of f and g; for a row of fold f, and a new one, the mean
over all g. So no tree sees a score that was made with the row's own grade, and six models serve all four.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ordinoise._files import whole_file
from ordinoise._sparse import as_csr
from ordinoise._validation import Floats, Ints
from ordinoise.app.out_of_core.files import read_part
from ordinoise.app.out_of_core.plan import (
    N_FOLDS,
    SAMPLE_ROWS,
    Labelled,
    Plan,
    is_drawn,
    read_arrays,
    read_plan,
    scores_at,
    write_arrays,
)
from ordinoise.app.out_of_core.work import Work
from ordinoise.classifiers.blend.candidates import SparseCandidate
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.models import SparseModel
from ordinoise.classifiers.blend.scored import text_scores
from ordinoise.classifiers.blend.table import Counts, Filling, Reading, Table, text_table
from ordinoise.columns.features import features_of
from ordinoise.columns.findings import ColumnFindings
from ordinoise.columns.summaries import Summaries
from ordinoise.columns.texts import LENGTHS, TEXTS_AT_A_TIME, Grams
from ordinoise.learners.mlp import Architecture, Network
from ordinoise.threads import one_blas_thread

MOST_CHARACTERS = 10_000_000
"""Characters of text, about, that the models of all folds learn from: their n-grams take some 0.3 GB, and a fit four
times as much. A round number, chosen by no run."""
PAIRS = tuple(combinations(range(N_FOLDS), 2))
SUMMARY_PARTS = ("n_texts", "hashes", "holding", "center", "scale")
SAMPLE, READING = "texts.parquet", "reading.npz"


@dataclass(frozen=True, eq=False)
class Features:
    """Some rows as trees read them.

    Attributes
    ----------
    numbers : array of shape (n_rows, n_features)
    scores : array of shape (n_rows, N_FOLDS)
        The score of the text as the trees of each fold are shown it; without text of shape (n_rows, 0).
    """

    numbers: Floats
    scores: Floats

    def of_fold(self, fold: int) -> Floats:
        """What the trees that leave out a fold are shown."""
        return self.numbers if not self.scores.shape[1] else np.column_stack([self.numbers, self.scores[:, fold]])

    def held_out(self, folds: Ints) -> Floats:
        """What the trees that leave out the fold of each row are shown."""
        own = self.scores[np.arange(len(folds)), folds] if self.scores.shape[1] else self.scores
        return np.column_stack([self.numbers, own])


def features_in(plan: Plan, folder: Path, frame: pl.DataFrame, rows: Ints) -> Features:
    """The features of rows with these ascending numbers; the scores of their text were made before."""
    has_text = plan.columns.texts and len(rows)
    scores = scores_at(plan, folder, rows, _score_file) if has_text else np.empty((len(rows), 0))
    return Features(plan.numbers(frame), scores)


def read_texts(plan: Plan, work: Work, sample: pl.DataFrame, labelled: Labelled) -> None:
    """Learn the scores of the text from a sample of rows, and score the text of every row."""
    graded = labelled.ranks >= 0
    cells = pl.DataFrame(_cells(plan, sample.filter(pl.Series(graded))), schema=_names(plan))
    cells = cells.with_columns(
        *(pl.Series(name, getattr(labelled, name)[graded]) for name in ("rows", "ranks", "folds"))
    )
    n_characters = sum(int(cells[name].str.len_chars().sum()) for name in _names(plan))
    share = min(1.0, MOST_CHARACTERS / max(n_characters, 1)) * min(1.0, SAMPLE_ROWS / plan.n_rows)
    cells = cells.filter(pl.Series(is_drawn(cells["rows"].to_numpy(), plan.seed, share)))
    with whole_file(work.folder / SAMPLE) as file:
        cells.write_parquet(file)
    summaries = [Summaries.of(at, cells[name].to_list())[0] for at, name in enumerate(_names(plan))]
    state = {f"{part}-{one.column}": getattr(one, part) for one in summaries for part in SUMMARY_PARTS}
    write_arrays(work.folder / READING, {"share": share, **state})
    work.done([CountTask(fold) for fold in range(N_FOLDS)], f"reading the text of {cells.height:,} rows")
    work.done([ReaderTask(pair) for pair in PAIRS], f"learning {len(PAIRS)} linear models of the text")
    work.done([TextTask(number) for number in range(len(plan.parts))], f"scoring the text of {plan.n_rows:,} rows")


@dataclass(frozen=True)
class CountTask:
    """The n-grams of the sampled texts of one fold."""

    fold: int
    cost: float = 20.0

    def run(self, folder: Path) -> Mapping[str, Any]:
        """Count, and write."""
        plan, cells = read_plan(folder), read_sample_texts(folder)
        cells = cells.filter(pl.col("folds") == self.fold)
        counts = read_reading(folder, True).counts([cells[name].to_list() for name in _names(plan)])
        parts = {
            f"{part}-{at}": getattr(one.matrix, part)
            for at, one in enumerate(counts)
            for part in ("data", "indices", "indptr")
        }
        write_arrays(folder / _count_file(self.fold), {"ranks": cells["ranks"].to_numpy(), **parts})
        return {"n_rows": cells.height}


@dataclass(frozen=True)
class ReaderTask:
    """The linear model of the text for two folds, which learns from the others."""

    pair: tuple[int, int]
    cost: float = 20.0

    @one_blas_thread()  # more threads add in another order
    def run(self, folder: Path) -> Mapping[str, Any]:
        """Fit, and write the weights."""
        plan = read_plan(folder)
        order = (*(fold for fold in range(N_FOLDS) if fold not in self.pair), *self.pair)
        found = [_counted(folder, fold) for fold in order]
        ranks = np.concatenate([own for _, own in found])
        data = Recorded(
            Table.stacked([table for table, _ in found]), ranks, np.ones(len(ranks)), np.eye(plan.n_classes)[None]
        )
        n_inside = sum(len(own) for _, own in found[: N_FOLDS - 2])
        at = np.arange(len(ranks))
        fit = SparseCandidate("ordered").fit(data, at[:n_inside], at[n_inside:], 0)
        assert isinstance(fit.model, SparseModel)
        coding = {f"coding-{at}": weights for at, weights in enumerate(fit.model.coding)}
        write_arrays(folder / _reader_file(self.pair), {"parameters": fit.model.network.parameters, **coding})
        return {"n_rows": n_inside, "curve": fit.curve}


@dataclass(frozen=True)
class TextTask:
    """The scores of the text of one part."""

    number: int
    cost: float = 20.0

    def run(self, folder: Path) -> Mapping[str, Any]:
        """Score, and write."""
        plan, part = read_plan(folder), read_plan(folder).parts[self.number]
        frame = read_part(part, [*(column.name for column in _findings(plan)), *plan.label_columns])
        labelled, cells = plan.labels_in(frame, part), _cells(plan, frame)
        share = float(read_arrays(folder / READING)["share"])
        is_learned = is_drawn(labelled.rows, plan.seed, share) & (labelled.ranks >= 0)
        by_pair = np.empty((len(frame), len(PAIRS)))
        for learned in (False, True):
            every = np.flatnonzero(is_learned == learned)
            for start in range(0, len(every), TEXTS_AT_A_TIME):
                some = every[start : start + TEXTS_AT_A_TIME]
                table = _text_table(read_reading(folder, learned), [[own[at] for at in some] for own in cells])
                for at, reader in enumerate(read_readers(folder).values()):
                    by_pair[some, at] = text_scores((reader,), table)
        write_arrays(folder / _score_file(self.number), {"scores": _shown(by_pair, labelled)})
        return {"n_rows": len(frame)}


def _shown(by_pair: Floats, labelled: Labelled) -> Floats:
    """The scores as the trees of each fold are shown them, from those by the model of each pair of folds."""
    places = {pair: at for at, pair in enumerate(PAIRS)}
    own = np.where(labelled.ranks >= 0, labelled.folds, -1)
    scores = np.empty((len(own), N_FOLDS))
    for fold in range(N_FOLDS):
        others = {other: by_pair[:, places[min(fold, other), max(fold, other)]] for other in _others(fold)}
        scores[:, fold] = np.mean(list(others.values()), axis=0)
        for other, found in others.items():
            scores[own == other, fold] = found[own == other]
    return scores


def readers_of(folder: Path) -> list[tuple[SparseModel, ...]]:
    """The models of the text that the trees of each fold go with."""
    found = read_readers(folder)
    return [tuple(found[min(fold, other), max(fold, other)] for other in _others(fold)) for fold in range(N_FOLDS)]


def _others(fold: int) -> list[int]:
    return [other for other in range(N_FOLDS) if other != fold]


def read_sample_texts(folder: Path) -> pl.DataFrame:
    """Texts that models are learned from, with row numbers, ranks and folds."""
    return pl.read_parquet(folder / SAMPLE)


@lru_cache(maxsize=2)
def read_reading(folder: Path, learned: bool) -> Reading:
    """How text is read: n-grams are hashed. In texts that were learned from the own one does not count."""
    arrays, n_texts = read_arrays(folder / READING), len(read_plan(folder).columns.texts)
    grams = tuple(Grams(at, kind, None) for at in range(n_texts) for kind in LENGTHS)
    summaries = []
    for at in range(n_texts):
        parts = {part: arrays[f"{part}-{at}"] for part in SUMMARY_PARTS}
        one = Summaries(at, int(parts.pop("n_texts")), **parts)
        summaries.append(replace(one, n_texts=one.n_texts - 1, holding=one.holding - 1) if learned else one)
    return Reading(grams, tuple(summaries))


@lru_cache(maxsize=1)
def read_readers(folder: Path) -> dict[tuple[int, int], SparseModel]:
    """The linear model of every pair of folds."""
    plan, found = read_plan(folder), {}
    n_columns = sum(block.n_columns for block in read_reading(folder, False).blocks)
    architecture = Architecture(n_columns, plan.n_classes, (), head="ordered")
    center, scale = np.zeros(n_columns), np.ones(n_columns)
    for pair in PAIRS:
        arrays = read_arrays(folder / _reader_file(pair))
        network = Network(architecture, arrays.pop("parameters"), center, scale)
        found[pair] = SparseModel(network, tuple(arrays[f"coding-{at}"] for at in range(len(arrays))))
    return found


def _counted(folder: Path, fold: int) -> tuple[Table, Ints]:
    """The n-grams of the sampled texts of a fold as they were written, and their ranks."""
    arrays, counts = read_arrays(folder / _count_file(fold)), []
    for at, block in enumerate(read_reading(folder, True).blocks):
        parts = tuple(arrays[f"{part}-{at}"] for part in ("data", "indices", "indptr"))
        matrix = as_csr(parts, shape=(len(arrays["ranks"]), block.n_columns))
        counts.append(Counts(matrix, getattr(block, "analyzer", None)))
    numbers = np.empty((len(arrays["ranks"]), 0))
    return Table(numbers, Filling.of(numbers, ()), tuple(counts)), arrays["ranks"]


def _text_table(reading: Reading, cells: list[list[str]]) -> Table:
    numbers = np.empty((len(cells[0]), 0))
    return text_table(numbers, Filling.of(numbers, ()), reading, cells)


def _cells(plan: Plan, frame: pl.DataFrame) -> list[list[str]]:
    """The cells of every column of text, empty where missing."""
    return [column.fill_null("").to_list() for column in features_of(frame, _findings(plan)).get_columns()]


def _findings(plan: Plan) -> list[ColumnFindings]:
    return [column for column in plan.findings if column.role == "feature" and column.kind == "text"]


def _names(plan: Plan) -> list[str]:
    return [f"text-{at}" for at in range(len(plan.columns.texts))]


def _count_file(fold: int) -> str:
    return f"counts-{fold}.npz"


def _reader_file(pair: tuple[int, int]) -> str:
    return f"reader-{pair[0]}-{pair[1]}.npz"


def _score_file(number: int) -> str:
    return f"text-scores-{number:05}.npz"
