"""What a worker does: survey a part, train the model of a fold, score a part, judge the labels of a part.

Every task reads the working folder and the parts, and writes its large results there, whole or not at all; what it
returns adds up over parts, in whole numbers, so that the order of the sum does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ordinoise._files import whole_file
from ordinoise._plain import as_plain
from ordinoise._validation import Floats, Ints
from ordinoise.app.out_of_core.files import Part, read_part
from ordinoise.app.out_of_core.plan import N_FOLDS, Labelled, Plan, read_arrays, read_plan, write_arrays
from ordinoise.app.out_of_core.survey import surveyed
from ordinoise.app.out_of_core.texts import Features, features_in
from ordinoise.app.verbs.labels import label_frame, suggestion_frame
from ordinoise.audit.posterior import Posterior, PosteriorModel, worst_first
from ordinoise.audit.prevalence.sums import Sums, Traits, shape_of
from ordinoise.classifiers.blend.candidates import CLASS_SHARES, TreesCandidate
from ordinoise.classifiers.blend.evidence import Evidence, as_answered, gains_of_correction, gains_over_shares
from ordinoise.classifiers.blend.lineup import dense_candidates
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.learners.boosting import OBJECTIVES, Ensemble, FeatureStream, Sample, Trees, train
from ordinoise.learners.boosting.trees import DTYPES
from ordinoise.noise import Noise
from ordinoise.noise.record import implied_shares

Matrix = tuple[tuple[float, ...], ...]
N_BUCKETS = 512
"""Random groups of rows whose sums give standard errors: these are then known to 6 %, also where rows of a group
belong together, and take 8 kB per part."""
UNIT = 2.0**20
"""Logarithms and probabilities are rounded to multiples of 1e-6, as a binary fraction: sums of a billion are exact."""


@dataclass(frozen=True)
class SurveyTask:
    """The facts of one part; needs no plan."""

    part: Part
    number: int
    target: str
    group: str | None
    seed: int
    n_rows: int
    cost: float = 1.0

    def run(self, folder: Path) -> Mapping[str, Any]:
        """The facts, as plain values."""
        return surveyed(self.part, self.number, self.target, self.group, self.seed, self.n_rows, folder)


@dataclass(frozen=True)
class FitTask:
    """The model of one fold under a noise matrix."""

    fold: int
    matrix: Matrix
    name: str
    cost: float = 100.0

    def run(self, folder: Path) -> Mapping[str, Any]:
        """Train, and write the trees."""
        plan, sample = read_plan(folder), read_sample_arrays(folder)
        blocks, ranks = [], []
        for number in range(len(plan.parts)):
            labelled = plan.labels_of(*plan.training_part(number, folder))
            rows = np.flatnonzero((labelled.ranks >= 0) & (labelled.folds != self.fold))
            blocks.append((len(rows), partial(_features, plan, folder, number, rows, self.fold)))
            ranks.append(labelled.ranks[rows])
        grades = np.concatenate(ranks)
        matrix = np.array(self.matrix)
        objective = OBJECTIVES["ordered"](matrix[None])
        settings, candidate = _settings(plan, len(grades), bool((matrix != np.eye(len(matrix))).any()))
        held_out, features = sample.folds == self.fold, sample.features.of_fold(self.fold)
        training = train(
            Sample(FeatureStream(blocks, features), objective.cells(grades), np.ones(len(grades))), objective,
            implied_shares(matrix, np.bincount(grades, minlength=len(matrix)), least=0.5 / len(grades)), settings,
            n_rounds=candidate.max_rounds, seed=plan.seed + self.fold,
            validation=Sample(
                features[held_out], objective.cells(sample.ranks[held_out]), np.ones(int(held_out.sum()))
            ),
            patience=candidate.patience,
        )  # fmt: skip
        write_model(folder, self.name, self.fold, training.ensemble)
        return {"n_rows": len(grades), "curve": training.validation_curve}


@dataclass(frozen=True)
class ScoreTask:
    """The out-of-fold scores of one part; and how likely its records are by them.

    They are compared with `baseline`, the shares of the classes, or, as its matrix explains them, with those of the
    first pass. That one also counts the records by cells of the score.
    """

    number: int
    name: str
    matrix: Matrix
    decision: str
    baseline: tuple[float, ...] = ()
    cost: float = 5.0

    def run(self, folder: Path) -> Mapping[str, Any]:
        """Write the scores; the sums are returned."""
        plan, models = read_plan(folder), read_models(folder, self.name)
        frame = read_part(plan.parts[self.number], plan.read_columns)
        labelled = plan.labels_in(frame, plan.parts[self.number])
        scores = _own_scores(models, plan, folder, frame, labelled)
        write_arrays(folder / score_file(self.name, self.number), {"scores": scores})
        graded = labelled.ranks >= 0
        ranks, folds = labelled.ranks[graded], labelled.folds[graded]
        found = probabilities_of(models, scores[graded], folds)
        gains: tuple[Floats, ...]
        if self.baseline:
            gains = gains_over_shares(found, ranks, np.array(self.baseline), self.decision)
        else:
            earlier = read_scores(folder, FIRST, self.number)[graded]
            before = probabilities_of(read_models(folder, FIRST), earlier, folds)
            gains = (gains_of_correction(before, found, np.array(self.matrix), ranks),)
        # Not by the remainder of the fold, which would leave most groups of rows empty.
        buckets = (labelled.keys[graded] // np.uint64(N_FOLDS) % np.uint64(N_BUCKETS)).astype(np.int64)
        sums = Evidence.of(*map(in_units, gains), groups=buckets, n_groups=N_BUCKETS)
        counts = read_cells(folder).counts(found, ranks).ravel().tolist() if self.name == FIRST else []
        return {"evidence": as_plain(sums), "counts": counts}


@dataclass(frozen=True)
class JudgeTask:
    """The labels of one part: written with how suspicious each is; the most suspicious are kept apart."""

    number: int
    name: str
    noise: Mapping[str, Any]
    calibration: Matrix | None
    rank_by: str
    n_suspects: int
    out: str
    cost: float = 2.0

    def run(self, folder: Path) -> Mapping[str, Any]:
        """Write the labels and the suspects; the sums are returned."""
        plan, noise = read_plan(folder), Noise.from_dict(self.noise)
        labelled = plan.labelled(self.number)
        scores, models = read_scores(folder, self.name, self.number), read_models(folder, self.name)
        graded = np.flatnonzero(labelled.ranks >= 0)
        found = as_answered(probabilities_of(models, scores[graded], labelled.folds[graded]), noise)
        weights = None if self.calibration is None else np.array(self.calibration)
        after = PosteriorModel(noise, weights).of(found, labelled.ranks[graded])
        names, is_given = [str(grade) for grade in plan.classes], noise.source == "given"
        shares = self._shares(folder, labelled, graded, found, noise)
        texts, unknown = np.array(names, dtype=object), np.full(len(graded), np.nan)
        labels = label_frame(
            labelled.rows[graded], texts[after.ranks], texts[after.suggested], after.probability_wrong, shares, names,
            probability_wrong=after.probability_wrong if is_given else unknown,
            expected_distance=after.expected_distance if is_given else unknown,
        )  # fmt: skip
        others = np.flatnonzero(labelled.ranks < 0)
        if len(others):
            features = features_in(plan, folder, self._frame(plan, plan.read_columns, others), labelled.rows[others])
            predicted = as_answered(average_probabilities(models, features), noise)
            more = suggestion_frame(labelled.rows[others], names, predicted, predicted @ noise.believed.matrix)
            labels = pl.concat([labels, more], how="diagonal").sort("row")
        with whole_file(Path(self.out) / f"part-{self.number:05}.parquet") as file:
            labels.write_parquet(file)
        self._write_suspects(plan, folder, graded, after)
        wrong = after.probability_wrong
        by_matrix = {"wrong": float(in_units(wrong).sum()), "variance": float(in_units(wrong * (1 - wrong)).sum())}
        if not noise.is_estimated:
            return by_matrix
        cells = read_cells(folder)
        sums = Sums.of(Traits.of(cells, shares, after.ranks, wrong), *shape_of(cells, len(names)))
        return by_matrix | {name: one.tolist() for name, one in vars(sums).items()}

    def _shares(self, folder: Path, labelled: Labelled, graded: Ints, found: Floats, noise: Noise) -> Floats:
        """How rows like each one are graded: by the models that trust the labels, if there are any."""
        if not noise.is_estimated or self.name == CLASS_SHARES:
            return np.asarray(found @ noise.believed.matrix)
        scores = read_scores(folder, FIRST, self.number)[graded]
        return probabilities_of(read_models(folder, FIRST), scores, labelled.folds[graded])

    def _write_suspects(self, plan: Plan, folder: Path, graded: Ints, after: Posterior) -> None:
        """The cells of the most suspicious rows for which another grade is suggested, and what ranks them."""
        keys = after.suspicion(self.rank_by, self.noise["answer"])
        places = np.flatnonzero(after.suggested != after.ranks)
        places = places[worst_first(keys[:, places], self.n_suspects)]
        rows = plan.parts[self.number].first + graded[places]
        write_arrays(folder / f"suspects-{self.number:05}.npz", {"rows": rows, "keys": keys[:, places]})
        with whole_file(folder / f"suspects-{self.number:05}.parquet") as file:
            self._frame(plan, None, graded[places]).write_parquet(file)

    def _frame(self, plan: Plan, columns: Sequence[str] | None, rows: Ints) -> pl.DataFrame:
        return read_part(plan.parts[self.number], columns)[rows]


FIRST = "trusting"


def _settings(plan: Plan, n_rows: int, is_corrected: bool) -> tuple[Any, TreesCandidate]:
    """The settings of the ordered trees of the front door, for so many rows."""
    candidate = dense_candidates("boosting", n_rows, tuple(plan.columns.categories))["ordered trees"]
    assert isinstance(candidate, TreesCandidate)
    rate = candidate.corrected_rate if is_corrected else candidate.settings.learning_rate
    return replace(candidate.settings, learning_rate=rate), candidate


def _features(plan: Plan, folder: Path, number: int, rows: Ints, fold: int) -> Floats:
    frame, numbers = plan.training_part(number, folder)
    return features_in(plan, folder, frame[rows], numbers[rows]).of_fold(fold)


def _own_scores(
    models: Sequence[Ensemble], plan: Plan, folder: Path, frame: pl.DataFrame, labelled: Labelled
) -> Floats:
    """The score of each row by the model that did not see it; zero without a grade."""
    scores = np.zeros(len(labelled.rows))
    for fold, model in enumerate(models):
        own = np.flatnonzero((labelled.folds == fold) & (labelled.ranks >= 0))
        if len(own):
            features = features_in(plan, folder, frame[own], labelled.rows[own])
            scores[own] = model.scores(features.of_fold(fold))[:, 0]
    return scores


def probabilities_of(models: Sequence[Ensemble], scores: Floats, folds: Ints) -> Floats:
    """Class probabilities that follow from scores, each with the thresholds of its fold's model."""
    logs = np.empty((len(scores), models[0].n_classes))
    for fold, model in enumerate(models):
        own = folds == fold
        logs[own] = OBJECTIVES["ordered"].log_probabilities(scores[own], model.offsets)
    found = np.exp(logs)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def average_probabilities(models: Sequence[Ensemble], features: Features) -> Floats:
    """Class probabilities by the average of all models."""
    first = np.zeros(len(features.numbers), dtype=np.int64)
    every = [
        probabilities_of([model], model.scores(features.of_fold(fold))[:, 0], first)
        for fold, model in enumerate(models)
    ]
    return np.asarray(np.mean(every, axis=0))


def plain(matrix: Floats) -> Matrix:
    """A matrix as plain values."""
    return tuple(tuple(row) for row in matrix.tolist())


def in_units(numbers: Floats) -> Floats:
    """Numbers rounded so that sums of a billion of them are exact, whatever their order."""
    return np.asarray(np.rint(numbers * UNIT) / UNIT)


@dataclass(frozen=True, eq=False)
class SampleArrays:
    """The graded rows of the sample: features, ranks, folds."""

    features: Features
    ranks: Ints
    folds: Ints

    def write(self, folder: Path) -> None:
        """Write them for the workers."""
        write_arrays(folder / "sample.npz", {"ranks": self.ranks, "folds": self.folds, **vars(self.features)})


@lru_cache(maxsize=1)
def read_sample_arrays(folder: Path) -> SampleArrays:
    """The sample in the working folder."""
    arrays = read_arrays(folder / "sample.npz")
    return SampleArrays(Features(arrays["numbers"], arrays["scores"]), arrays["ranks"], arrays["folds"])


def without_trees(n_features: int, counts: Ints) -> Ensemble:
    """The model that predicts the shares of the classes, whatever the row."""
    shares = implied_shares(np.eye(len(counts)), counts, least=0.5 / counts.sum())
    offsets = OBJECTIVES["ordered"](np.eye(len(counts))[None]).first_offsets(shares)
    empty = {name: np.zeros((0, 2) if name == "children" else 0, dtype) for name, dtype in DTYPES.items()}
    ends = {"set_starts": np.zeros(1, DTYPES["set_starts"]), "gains": np.zeros(n_features)}
    return Ensemble("ordered", Trees(**empty | ends), offsets, 1)


def write_model(folder: Path, name: str, fold: int, model: Ensemble) -> None:
    """Write the model of a fold for the workers."""
    write_arrays(folder / _model_file(name, fold), {**model.trees.arrays, "offsets": model.offsets})


@lru_cache(maxsize=2)
def read_models(folder: Path, name: str) -> tuple[Ensemble, ...]:
    """The models of all folds."""
    found = []
    for fold in range(N_FOLDS):
        arrays = read_arrays(folder / _model_file(name, fold))
        offsets = arrays.pop("offsets")
        found.append(Ensemble("ordered", Trees(**arrays), offsets, 1))
    return tuple(found)


def write_cells(folder: Path, cells: ScoreCells) -> None:
    """Write the cuts of the score for the workers."""
    write_arrays(folder / "cells.npz", vars(cells))


@lru_cache(maxsize=1)
def read_cells(folder: Path) -> ScoreCells:
    """The cuts of the score."""
    return ScoreCells(**read_arrays(folder / "cells.npz"))


def read_scores(folder: Path, name: str, number: int) -> Floats:
    """The scores of a part."""
    return np.asarray(read_arrays(folder / score_file(name, number))["scores"])


def read_suspects(folder: Path, n_parts: int, n_suspects: int) -> tuple[list[pl.DataFrame], Ints]:
    """The cells and numbers of the most suspicious rows of all parts; only parts that have some are read."""
    found = [read_arrays(folder / f"suspects-{number:05}.npz") for number in range(n_parts)]
    rows, keys = (np.concatenate([one[name] for one in found], axis=-1) for name in ("rows", "keys"))
    sizes = np.array([len(one["rows"]) for one in found])
    part_of, first = np.repeat(np.arange(n_parts), sizes), np.cumsum(sizes) - sizes
    chosen = np.sort(worst_first(keys, n_suspects))
    frames = [
        pl.read_parquet(folder / f"suspects-{number:05}.parquet")[chosen[part_of[chosen] == number] - first[number]]
        for number in np.unique(part_of[chosen]).tolist()
    ]
    return frames, rows[chosen]


def _model_file(name: str, fold: int) -> str:
    return f"model-{name}-{fold}.npz"


def score_file(name: str, number: int) -> str:
    """The file with the scores of a part, in the working folder."""
    return f"scores-{name}-{number:05}.npz"
