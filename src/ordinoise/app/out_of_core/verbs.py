"""noise, audit and fit on a folder of Parquet files; results as of one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ordinoise._files import new_folder
from ordinoise._validation import Floats, Ints
from ordinoise.app.out_of_core.learning import (
    Course,
    Learned,
    OnTable,
    Rows,
    Surveyed,
    check_options,
    groups_of,
    held_out_probabilities,
    rows_in,
    survey_of,
    union_of,
    work_on,
)
from ordinoise.app.out_of_core.tasks import FIRST, JudgeTask, plain, read_cells, read_models, read_suspects
from ordinoise.app.out_of_core.texts import read_reading, readers_of
from ordinoise.app.out_of_core.work import Work
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.rounds.training import training_rows
from ordinoise.app.tables import GradedTable
from ordinoise.app.verbs.audit import MOST_SUSPECTS, audit_record, write_audit
from ordinoise.app.verbs.doubt_warnings import without_doubt_warnings
from ordinoise.app.verbs.fit import FileAudit
from ordinoise.app.verbs.model import SHOWN_SUSPECTS, write_model
from ordinoise.app.verbs.request import Request
from ordinoise.audit import LabelIssues
from ordinoise.audit.count import WrongCount, counted, matrix_variance, wrong_by_rate
from ordinoise.audit.issues import issues_from
from ordinoise.audit.posterior import PosteriorModel, is_believed
from ordinoise.audit.prevalence.count import Table
from ordinoise.audit.prevalence.sums import Sums, Traits
from ordinoise.audit.prevalence.verdicts import Verdicts
from ordinoise.classifiers import OrdinalClassifier
from ordinoise.classifiers.blend.candidates import CLASS_SHARES
from ordinoise.classifiers.blend.evidence import as_answered
from ordinoise.classifiers.blend.models import Model, TreesModel
from ordinoise.classifiers.blend.scored import ScoredModel
from ordinoise.classifiers.ordinal import TREES
from ordinoise.clusters import effect_on_records
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.noise import Noise

LABELS = "labels.parquet"
"""A folder of Parquet files, one per part; polars, pandas and pyarrow read it as one table."""
SUMS = ("records", "n_unlike", "by_level")
CONFIDENCE = 0.95  # as in `issues_from_probabilities`
OnStage = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class PartsAudit(FileAudit):
    """A model fitted to parts; its table is a sample of the rows together with the suspects.

    The number of wrong labels, and which are the most suspicious, are those of all rows.
    """

    is_in_parts: ClassVar[bool] = True
    posteriors: PosteriorModel
    expected_wrong: WrongCount | None
    shares: Floats

    @property
    def graded(self) -> Floats:
        """How rows like each one of the sample are graded."""
        return self.shares

    @cached_property
    def issues(self) -> LabelIssues:
        """How suspicious each label of the sample is."""
        assert self.model.out_of_fold_ is not None
        after, noise = self.posteriors.of(self.model.out_of_fold_, self.recorded), self.model.noise_
        chances = np.full(len(self.recorded), np.nan) if noise.is_estimated else after.probability_wrong
        return issues_from(
            after, after.probability_wrong, chances, self.model.classes_, noise, self.expected_wrong,
            self.request.rank_by, "polars",
        )  # fmt: skip


def estimate_parts(
    request: Request, *, on_table: OnTable = lambda _: None, on_stage: OnStage = lambda _: None
) -> tuple[GradedTable, Noise]:
    """The noise of a folder of Parquet files, without the fits that correct for it."""
    check_options(request)
    place = Path.cwd() / f"{request.file.name.strip('*.') or 'noise'}"
    with work_on(request, place, on_stage) as work, without_doubt_warnings():
        known, rows = survey_of(request, work, on_table)
        return rows.table, Course(known, rows, work).noise()


def audit_parts(
    request: Request,
    out: Path,
    *,
    n_suspects: int = MOST_SUSPECTS,
    excel_safe: bool = False,
    is_plain: bool = False,
    on_table: OnTable = lambda _: None,
    on_stage: OnStage = lambda _: None,
) -> tuple[FileAudit, AuditRecord]:
    """Find the labels that look wrong in a folder of Parquet files, as `audit_file` does for a file.

    All labels are in the folder ``labels.parquet``, one file per part, without a rank.
    """
    with _audited(request, out, n_suspects, on_table, on_stage) as (folder, found, labels):
        record = audit_record(found, n_suspects)
        write_audit(folder, found, record, out, excel_safe=excel_safe, is_plain=is_plain)
        labels.rename(folder / LABELS)
    return found, record


def fit_parts(
    request: Request, out: Path, *, on_table: OnTable = lambda _: None, on_stage: OnStage = lambda _: None
) -> tuple[FileAudit, AuditRecord]:
    """Fit a model to a folder of Parquet files and write it with a report, as `fit_file` does for a file."""
    with _audited(request, out, SHOWN_SUSPECTS, on_table, on_stage) as (folder, found, _):
        record = audit_record(found, SHOWN_SUSPECTS)
        write_model(folder, found, record)
    return found, record


@contextmanager
def _audited(
    request: Request, out: Path, n_suspects: int, on_table: OnTable, on_stage: OnStage
) -> Iterator[tuple[Path, PartsAudit, Path]]:
    """A new folder, what was found, and the labels of all parts."""
    check_options(request)
    with work_on(request, out, on_stage) as work, without_doubt_warnings(), new_folder("out", out) as folder:
        labels = work.folder / LABELS
        labels.mkdir(exist_ok=True)
        yield folder, _found(request, work, labels, n_suspects, on_table), labels


def _found(request: Request, work: Work, labels: Path, n_suspects: int, on_table: OnTable) -> PartsAudit:
    known, rows = survey_of(request, work, on_table)
    learned = Course(known, rows, work).learned()
    noise, ranks = learned.noise, rows.labelled.ranks
    probabilities = as_answered(held_out_probabilities(known, learned, rows, work.folder), noise)
    posteriors = PosteriorModel.fitted(noise, probabilities, ranks)
    weights = None if posteriors.calibration is None else plain(posteriors.calibration)
    plain_noise, place = noise.to_dict(replicates=False), str(labels.resolve())
    tasks = [
        JudgeTask(number, learned.name, plain_noise, weights, request.rank_by, n_suspects, place)
        for number in range(len(known.plan.parts))
    ]
    sums = work.done(tasks, f"judging {known.plan.n_graded:,} labels")
    groups, n_graded = groups_of(known.plan, rows.labelled), known.plan.n_graded
    count, trusting = _by_matrix(noise, n_graded, posteriors.true(probabilities), ranks, sums, groups), learned
    if noise.is_estimated:
        trusting = learned if learned.name == CLASS_SHARES else replace(learned, name=FIRST)
        of_records = held_out_probabilities(known, trusting, rows, work.folder)
        effect = effect_on_records(of_records, ranks, groups, n_graded)
        count = _count(read_cells(work.folder), sums, count, effect)
    suspects = read_suspects(work.folder, len(tasks), n_suspects)
    both = rows_in(known, work.folder, *union_of(known, *suspects))
    model = _model(known, learned, both, work.folder)
    shares = held_out_probabilities(known, trusting, both, work.folder)
    return PartsAudit(
        request, both.table, model, training_rows(request, both.table, None), posteriors, count,
        shares if noise.is_estimated else shares @ noise.believed.matrix,
    )  # fmt: skip


def _count(cells: ScoreCells, found: list[Any], under: WrongCount | None, effect: float) -> WrongCount:
    """The range of the number of wrong labels, by sums over the parts."""
    parts = [Sums(*(np.array(one[name], dtype=np.int64) for name in SUMS)) for one in found]
    nobody = np.empty(0, dtype=np.int64)
    count = Table.of(cells, reduce(Sums.__add__, parts), effect).count(
        Verdicts.of(None, nobody), Traits(nobody, nobody, np.empty((0, 2), dtype=bool), nobody), CONFIDENCE
    )
    by_matrix = None if under is None else under.estimate
    return WrongCount(count.left, count.n_left, count=count, by_matrix=by_matrix, design_effect=effect)


def _by_matrix(
    noise: Noise, n_graded: int, true: Floats, ranks: Ints, sums: list[Any], groups: Ints | None
) -> WrongCount | None:
    """How many labels are wrong by the noise matrix: over all rows, its variance over matrices from the sample."""
    if noise.source == "too few rows":
        return None
    if not is_believed(noise):
        return wrong_by_rate(noise, n_graded)
    value, variance = (sum(one[what] for one in sums) for what in ("wrong", "variance"))
    variance *= effect_on_records(true @ noise.matrix, ranks, groups, n_graded)
    of_matrix = matrix_variance(true, ranks, noise)
    return counted(value, variance + of_matrix * (n_graded / len(ranks)) ** 2, n_graded, CONFIDENCE)


def _model(known: Surveyed, learned: Learned, rows: Rows, folder: Path) -> OrdinalClassifier:
    request, plan = known.request, known.plan
    models: list[Model] = [TreesModel(trees) for trees in read_models(folder, learned.name)]
    reading = read_reading(folder, False) if plan.columns.texts else None
    if reading is not None:
        models = list(map(ScoredModel, readers_of(folder), models))
    parameters = {
        "noise": "estimate" if learned.noise.is_estimated else learned.noise.matrix,
        "answer": request.answer, "prior_rate": request.prior_rate, "decision": request.decision,
        "classes": list(plan.classes), "categorical_features": rows.table.categories,
        "text_features": rows.table.texts or None, "n_jobs": request.jobs, "random_state": request.seed,
    }  # fmt: skip
    return OrdinalClassifier.from_trees(
        parameters, models, learned.noise, rows.table.features, plan.columns, ranks=rows.labelled.ranks,
        folds=rows.labelled.folds, out_of_fold=held_out_probabilities(known, learned, rows, folder),
        recorded_counts=np.array(plan.recorded_counts), curves=learned.curves, reading=reading,
        name=CLASS_SHARES if learned.name == CLASS_SHARES else TREES, groups=groups_of(plan, rows.labelled),
    )  # fmt: skip
