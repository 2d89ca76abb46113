"""An OrdinalClassifier fitted to a file: the step that fit, audit and noise share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints, as_choice, as_count, as_noise_matrix, as_number, complain
from ordinoise.app.tables import GradedTable, graded_table
from ordinoise.app.workflow._doubts import without_doubt_warnings
from ordinoise.app.workflow.request import Request
from ordinoise.app.workflow.reviewed import Trusted
from ordinoise.audit import LabelIssues, issues_from_probabilities
from ordinoise.audit.issues import RANKINGS
from ordinoise.classifiers import OrdinalClassifier
from ordinoise.classifiers.ordinal import LEARNERS
from ordinoise.estimation.score.doubts import NO_BETTER, gain_over_shares, order_found
from ordinoise.labels import RULES, ranks_of
from ordinoise.noise import Noise
from ordinoise.noise.record import ANSWERS
from ordinoise.scoring.evaluation import Evaluation, evaluate_probabilities


@dataclass(frozen=True, eq=False)
class FileAudit:
    """A model fitted to a file; label issues and scores are computed on first use.

    Attributes
    ----------
    request : Request
    table : GradedTable
    model : OrdinalClassifier
        Fitted.
    trusted : (rows, grades) or None
        Reviewed grades.
    """

    request: Request
    table: GradedTable
    model: OrdinalClassifier
    trusted: Trusted | None

    @property
    def probabilities(self) -> Floats:
        """Out-of-fold probabilities of the grades, shape (n_graded, n_classes)."""
        assert self.model.out_of_fold_ is not None
        return self.model.out_of_fold_

    @cached_property
    def recorded(self) -> Ints:
        """Ranks of the recorded grades, shape (n_graded,)."""
        return ranks_of("target", self.table.labels, self.model.classes_)

    @cached_property
    def says_nothing(self) -> bool:
        """Whether held-out grades are no likelier by the columns than by the shares of the grades alone.

        Few rows are no evidence of that.
        """
        noise = self.model.noise_
        if noise.source == "too few rows":
            return False
        if "no-signal" in noise.doubt_codes:
            return True
        explained = self.probabilities @ noise.average.believed.matrix
        # Networks are stopped by the held-out rows, which alone gives useless columns an order of up to 2.5.
        is_ordered = order_found(explained, self.recorded) >= 2 * NO_BETTER
        return not is_ordered and gain_over_shares(explained, self.recorded) < NO_BETTER

    @cached_property
    def issues(self) -> LabelIssues:
        """Probability that each label is wrong; zero if the labels were trusted."""
        return issues_from_probabilities(
            self.probabilities,
            self.table.labels,
            self.model.noise_,
            classes=self.model.classes_,
            rank_by=self.request.rank_by,
            trusted=positions_of(self.table, self.trusted),
        )

    @cached_property
    def scores(self) -> Evaluation:
        """Out-of-fold scores on the recorded labels, and corrected for their noise."""
        return evaluate_probabilities(
            self.probabilities, self.recorded, self.model.noise_, decision=self.request.decision
        )


def learn(
    request: Request,
    *,
    trusted: Trusted | None = None,
    on_table: Callable[[GradedTable], None] = lambda _: None,
    verbose: bool = False,
) -> FileAudit:
    """Read the file and fit an OrdinalClassifier to it.

    Parameters
    ----------
    trusted : (rows, grades), optional
        Rows of the file that were reviewed, and their reviewed grades as text.
    on_table : callable
        Called with the parsed table before fitting.
    verbose : bool
        Whether to show progress on standard error.
    """
    table, model = _table_and_model(request, on_table, verbose)
    with without_doubt_warnings():
        model.fit(table.features, table.labels, trusted=positions_of(table, trusted), **_names_of(table))
    return FileAudit(request, table, model, trusted)


def estimate(
    request: Request,
    *,
    trusted: Trusted | None = None,
    on_table: Callable[[GradedTable], None] = lambda _: None,
    verbose: bool = False,
) -> tuple[GradedTable, Noise]:
    """Read the file and estimate its noise, without the fits that correct for it."""
    table, model = _table_and_model(request, on_table, verbose)
    with without_doubt_warnings():
        known = positions_of(table, trusted)
        return table, model.estimate_noise(table.features, table.labels, trusted=known, **_names_of(table))


def _names_of(table: GradedTable) -> dict[str, Any]:
    """Groups, items and raters of the rows; raters are estimated only from several grades of an item."""
    raters = None if table.items is None else table.raters
    return {"groups": table.groups, "items": table.items, "raters": raters}


def _table_and_model(
    request: Request, on_table: Callable[[GradedTable], None], verbose: bool
) -> tuple[GradedTable, OrdinalClassifier]:
    _check(request)
    table = graded_table(
        request.file,
        request.target,
        order=request.order,
        ignore=request.ignore,
        text=request.text,
        embeddings=request.embeddings,
        text_model=request.text_model,
        item=request.item,
        rater=request.rater,
        group=request.group,
        header=not request.no_header,
    )
    model = OrdinalClassifier(
        request.learner,
        noise=_noise(request.noise, len(table.classes)),
        answer=request.answer,
        prior_rate=request.prior_rate,
        decision=request.decision,
        classes=list(table.classes),
        categorical_features=table.categories,
        text_features=table.texts,
        n_jobs=request.jobs,
        random_state=request.seed,
        verbose=verbose,
    )
    on_table(table)
    return table, model


def _noise(noise: str, n_classes: int) -> Any:
    """The classifier's parameter `noise`: None, "estimate" or a matrix."""
    if noise == "none":
        return None
    return noise if noise == "estimate" else matrix_from(Path(noise), n_classes)


def matrix_from(path: Path, n_classes: int) -> Floats:
    """The noise matrix in a file: one row per true grade, one column per recorded grade, commas between, no header."""
    try:
        rows = [[float(cell) for cell in line.replace(";", ",").split(",")] for line in _lines(path)]
        matrix = np.array(rows, dtype=np.float64)
    except ValueError:
        matrix = np.empty(0)
    if matrix.ndim != 2:
        got = f"{str(path)!r}, which is not a table of numbers"
        raise complain("noise", "be 'estimate', 'none' or a file with a noise matrix", got)
    return as_noise_matrix(matrix, n_classes)


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError):
        got = repr(str(path))
        raise complain("noise", "be 'estimate', 'none' or a file with a noise matrix", got) from None


def _check(request: Request) -> None:
    """Refuse bad options before the file is read."""
    as_choice("learner", request.learner, LEARNERS)
    as_choice("decision", request.decision, RULES)
    as_choice("answer", request.answer, ("auto", *ANSWERS))
    as_choice("rank-by", request.rank_by, RANKINGS)
    if request.prior_rate is not None:
        as_number("prior-rate", request.prior_rate, 0.0, 0.99, open_low=True)
    as_count("seed", request.seed, 0)
    if request.jobs is not None:
        as_count("jobs", request.jobs, 1)


def positions_of(table: GradedTable, trusted: Trusted | None) -> tuple[Ints, list[Any]] | None:
    """Positions of the reviewed rows among the graded rows, and their grades with the type of the table."""
    if trusted is None or not len(trusted[0]):
        return None
    classes = {str(grade): grade for grade in table.classes}
    rows, grades = trusted
    unknown = next((grade for grade in grades if grade not in classes), None)
    if unknown is not None:
        raise complain("reviewed", f"hold grades among {list(classes)}", repr(unknown))
    known = np.isin(rows, table.rows)
    chosen = [classes[grade] for grade, is_known in zip(grades, known, strict=True) if is_known]
    return (np.searchsorted(table.rows, rows[known]), chosen) if len(chosen) else None
