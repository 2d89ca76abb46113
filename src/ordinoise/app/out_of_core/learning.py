"""The course of a run over parts: survey, models that trust the labels, noise, models that correct for it, answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from pathlib import Path

import numpy as np
import polars as pl

from ordinoise._plain import of_plain
from ordinoise._validation import Floats, Ints, complain
from ordinoise.app.out_of_core.files import Part, parts_of, refuse_in_parts
from ordinoise.app.out_of_core.plan import N_FOLDS, Labelled, Plan, scores_at, write_arrays
from ordinoise.app.out_of_core.survey import (
    SampleTable,
    Survey,
    check_features,
    read_sample,
    sample_table,
)
from ordinoise.app.out_of_core.tasks import (
    FIRST,
    FitTask,
    Matrix,
    SampleArrays,
    ScoreTask,
    SurveyTask,
    plain,
    probabilities_of,
    read_models,
    score_file,
    without_trees,
    write_cells,
    write_model,
)
from ordinoise.app.out_of_core.texts import Features, features_in, read_texts
from ordinoise.app.out_of_core.work import Work, working
from ordinoise.app.tables import GradedTable, digest_of
from ordinoise.app.tables.folder import parquet_files
from ordinoise.app.tables.reader import merged
from ordinoise.app.tables.target import Classes
from ordinoise.app.verbs.fit import check_request, noise_of
from ordinoise.app.verbs.request import Request
from ordinoise.classifiers.blend.candidates import CLASS_SHARES
from ordinoise.classifiers.blend.evidence import Evidence, Trusting, course, with_first_answer
from ordinoise.classifiers.card import evenly
from ordinoise.columns.names import as_column
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.estimation.score.estimator import noise_from_counts
from ordinoise.learners.boosting import Ensemble
from ordinoise.noise import Noise

SECOND = "corrected"
OnTable = Callable[[GradedTable], None]
Curves = tuple[tuple[float, ...], ...]


@contextmanager
def work_on(request: Request, place: Path, on_stage: Callable[[str], None]) -> Iterator[Work]:
    """Work on what is requested, beside `place`."""
    wanted = request.target, sorted(request.settings().items())
    with working(place, parquet_files(request.file), wanted, request.jobs, request.scheduler, on_stage) as work:
        yield work


@dataclass(frozen=True, eq=False)
class Surveyed:
    """A surveyed table: its plan, its facts and its sample."""

    request: Request
    plan: Plan
    survey: Survey
    sample: pl.DataFrame
    sample_rows: Ints
    digest: str

    def table(self, sample: pl.DataFrame, rows: Ints) -> SampleTable:
        """The graded rows among some rows, as the table of a file."""
        return sample_table(
            self.request, self.survey, self.plan.classes, self.plan.n_graded, sample, rows, self.digest
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rows:
    """Graded rows in memory: the table, their features as trees read them, ranks and folds."""

    table: SampleTable
    features: Features
    labelled: Labelled

    def probabilities(self, models: Sequence[Ensemble]) -> Floats:
        """Class probabilities of each row by the model that did not see it."""
        folds = self.labelled.folds
        features, scores = self.features.held_out(folds), np.empty(len(folds))
        for fold, model in enumerate(models):
            scores[folds == fold] = model.scores(features[folds == fold])[:, 0]
        return probabilities_of(models, scores, folds)


def rows_in(known: Surveyed, folder: Path, sample: pl.DataFrame, rows: Ints) -> Rows:
    """The graded ones of some rows."""
    labelled = known.plan.labels_of(sample, rows)
    graded = labelled.ranks >= 0
    kept = Labelled(*(getattr(labelled, name)[graded] for name in ("rows", "ranks", "keys", "folds")))
    features = features_in(known.plan, folder, sample.filter(pl.Series(graded)), kept.rows)
    return Rows(known.table(sample, rows), features, kept)


def groups_of(plan: Plan, labelled: Labelled) -> Ints | None:
    """The number of each row's group, from 0; None where no groups are named."""
    return None if plan.group is None else np.unique(labelled.keys, return_inverse=True)[1]


def survey_of(request: Request, work: Work, on_table: OnTable) -> tuple[Surveyed, Rows]:
    """One pass over the parts; writes the plan and the sample for the workers."""
    found = parts_of(parquet_files(request.file))
    parts, n_rows = found.parts, found.n_rows
    for option in ("target", "group", "rater"):
        if getattr(request, option) is not None:
            as_column(option, getattr(request, option), list(found.names))
    tasks = [SurveyTask(part, at, request.target, request.group, request.seed, n_rows) for at, part in enumerate(parts)]
    facts = work.done(tasks, f"reading {len(parts):,} part{'s' * (len(parts) > 1)} of {n_rows:,} rows")
    survey = Survey.of(facts, n_rows)
    classes, counts = survey.classes(request.target, request.order)
    sample, rows = read_sample(work.folder, parts, request.seed)
    known = _planned(request, survey, parts, classes, counts, sample, rows, digest_of(request.file))
    known.plan.write(work.folder)
    if known.plan.columns.texts:
        read_texts(known.plan, work, sample, known.plan.labels_of(sample, rows))
    drawn = rows_in(known, work.folder, sample, rows)
    SampleArrays(drawn.features, drawn.labelled.ranks, drawn.labelled.folds).write(work.folder)
    on_table(drawn.table)
    return known, drawn


def _planned(
    request: Request, survey: Survey, parts: Sequence[Part], classes: Classes, counts: tuple[int, ...],
    sample: pl.DataFrame, rows: Ints, digest: str,
) -> Surveyed:  # fmt: skip
    findings = sample_table(request, survey, classes, sum(counts), sample, rows, digest).columns
    check_features(findings, survey.n_rows)
    plan = Plan(
        tuple(parts), request.target, request.group, tuple(classes), findings, survey.coding(findings), counts,
        request.seed,
    )  # fmt: skip
    if plan.n_graded < 2 * N_FOLDS:
        raise complain("file", f"have at least {2 * N_FOLDS} graded rows in several Parquet files", plan.n_graded)
    return Surveyed(request, plan, survey, sample, rows, digest)


@dataclass(frozen=True, eq=False)
class Learned:
    """The noise with its answer, and which models of all folds it calls for."""

    noise: Noise
    name: str
    curves: Curves


@dataclass(frozen=True, eq=False)
class Course:
    """The fits of a run, one pass after the other."""

    known: Surveyed
    rows: Rows
    work: Work

    def learned(self) -> Learned:
        """The models that the evidence calls for, or that were asked for."""
        if self.given is not None:
            curves, evidence = self.corrected(self.given)
            is_useless = self.given.source == "trusted" and not evidence.has_learned
            return self._class_shares(self.given) if is_useless else Learned(self.given, SECOND, curves)
        found, curves, evidence = self._estimated()

        def correct(noise: Noise) -> tuple[tuple[str, Curves], Evidence]:
            curves, gained = self.corrected(noise)
            return (SECOND, curves), gained

        noise, models = course(self.known.request.answer, Trusting((FIRST, curves), found, evidence), correct)
        return self._class_shares(noise) if models is None else Learned(noise, *models)

    def noise(self) -> Noise:
        """The noise alone, with the answer that its doubts call for."""
        return with_first_answer(self._estimated()[0]) if self.given is None else self.given

    @cached_property
    def given(self) -> Noise | None:
        """The noise that was given; None if it is to be estimated."""
        plan, ranks = self.known.plan, self.rows.labelled.ranks
        given = noise_of(self.known.request.noise, plan.n_classes)
        return None if isinstance(given, str) else Noise.of(given, plan.n_classes).seen_in(ranks)

    def _estimated(self) -> tuple[Noise, Curves, Evidence]:
        """The estimated noise, the curves of the fits, and what these gain over the class shares."""
        curves, plan, labelled = self.fitted(FIRST), self.known.plan, self.rows.labelled
        probabilities = self.rows.probabilities(read_models(self.work.folder, FIRST))
        cells = ScoreCells.from_sample(probabilities)
        write_cells(self.work.folder, cells)
        evidence, counts = self.scored(FIRST)
        found = noise_from_counts(
            cells, counts, probabilities, labelled.ranks,
            features=_filled(self.rows.features.held_out(labelled.folds)),
            prior_rate=self.known.request.prior_rate, random_state=self.known.request.seed,
            groups=groups_of(plan, labelled),
        )  # fmt: skip
        return found, curves, evidence

    def corrected(self, noise: Noise) -> tuple[Curves, Evidence]:
        """The fits under a noise: their curves, and what they gain over the first ones, or over the class shares."""
        return self.fitted(SECOND, noise), self.scored(SECOND, noise)[0]

    def fitted(self, name: str, noise: Noise | None = None) -> Curves:
        """Train the models of a pass; their validation losses are returned."""
        tasks = [FitTask(fold, self._matrix(noise), name) for fold in range(N_FOLDS)]
        words = "that trust the grades" if name == FIRST else "that correct for the noise"
        found = self.work.done(tasks, f"learning {N_FOLDS} models {words}")
        return tuple(tuple(one["curve"]) for one in found)

    def scored(self, name: str, noise: Noise | None = None) -> tuple[Evidence, Ints]:
        """What the models gain, and for the first pass the counts of the records by cells of the score."""
        plan, is_first = self.known.plan, name == FIRST
        counts = np.array(plan.recorded_counts)
        shares = tuple((counts / plan.n_graded).tolist()) if is_first or self.given is not None else ()
        matrix, decision = self._matrix(noise), self.known.request.decision
        tasks = [ScoreTask(number, name, matrix, decision, shares) for number in range(len(plan.parts))]
        found = self.work.done(tasks, f"scoring {plan.n_rows:,} rows")
        evidence = reduce(add, [of_plain(Evidence, one["evidence"]) for one in found])
        tables = np.sum([one["counts"] for one in found], axis=0, dtype=np.int64)
        return evidence, tables.reshape(-1, plan.n_classes)

    def _matrix(self, noise: Noise | None) -> Matrix:
        return plain(np.eye(self.known.plan.n_classes) if noise is None else noise.matrix)

    def _class_shares(self, noise: Noise) -> Learned:
        """Models that predict the shares of the grades in the sample, each without the rows of its fold."""
        labelled, plan, folder = self.rows.labelled, self.known.plan, self.work.folder
        n_features = self.rows.features.of_fold(0).shape[1]
        for fold in range(N_FOLDS):
            counts = np.bincount(labelled.ranks[labelled.folds != fold], minlength=plan.n_classes)
            write_model(folder, CLASS_SHARES, fold, without_trees(n_features, counts))
        for number, part in enumerate(plan.parts):
            write_arrays(folder / score_file(CLASS_SHARES, number), {"scores": np.zeros(part.n_rows)})
        return Learned(noise, CLASS_SHARES, ((),) * N_FOLDS)


def _filled(features: Floats) -> Floats:
    """Missing numbers as medians, as an estimate of a table in memory is shown them."""
    medians = np.nan_to_num(np.nanmedian(features, axis=0))
    return np.where(np.isnan(features), medians, features)


def held_out_probabilities(known: Surveyed, learned: Learned, rows: Rows, folder: Path) -> Floats:
    """Class probabilities of rows in memory by the models that did not see them, from the scores of all rows."""
    scores = scores_at(known.plan, folder, rows.labelled.rows, partial(score_file, learned.name))
    return probabilities_of(read_models(folder, learned.name), scores, rows.labelled.folds)


def check_options(request: Request) -> None:
    """Refuse bad options, and those that need all rows at once."""
    check_request(request)
    is_other = request.learner not in ("auto", "boosting")
    refuse_in_parts("", **request.how_read())  # the files store types
    refuse_in_parts(
        learner=request.learner if is_other else None, embeddings=request.embeddings, text_model=request.text_model,
        item=request.item, grader=request.grader, text=", ".join(request.text), image=", ".join(request.image),
        **{"as": ", ".join(request.as_)},
    )  # fmt: skip


def union_of(known: Surveyed, more: Sequence[pl.DataFrame], rows: Ints) -> tuple[pl.DataFrame, Ints]:
    """The sample and more rows, every row once, in the order of the table; with text fewer, as it is read again."""
    some = evenly(len(known.sample_rows)) if known.plan.columns.texts else slice(None)
    both = merged([known.sample[some], *more])
    numbers = np.concatenate([known.sample_rows[some], rows])
    unique, first = np.unique(numbers, return_index=True)
    return both[first], unique
