"""An OrdinalClassifier fitted to a file: the step that fit, audit and noise share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from ordinoise._files import regular_content
from ordinoise._validation import Floats, Ints, as_choice, as_count, as_noise_matrix, as_number, complain
from ordinoise.app.rounds.history import History
from ordinoise.app.rounds.training import of_recorded, training_rows
from ordinoise.app.tables import GradedTable, graded_table
from ordinoise.app.verbs.doubt_warnings import without_doubt_warnings
from ordinoise.app.verbs.request import Request
from ordinoise.audit import GraderEffects, LabelIssues, grader_effects, issues_from_probabilities
from ordinoise.audit.posterior import RANKINGS
from ordinoise.classifiers import OrdinalClassifier
from ordinoise.classifiers.blend.table import Table
from ordinoise.classifiers.ordinal import LEARNERS
from ordinoise.decisions import RULES
from ordinoise.estimation.score.doubts import NO_BETTER, gain_over_shares, order_found
from ordinoise.labels import Verified, as_groups, ranks_of
from ordinoise.noise import Noise
from ordinoise.noise.record import ANSWERS
from ordinoise.scoring.evaluation import Evaluation, evaluate_probabilities

MOST_MATRIX_BYTES = 2**20  # of a file with a noise matrix; a round number, chosen by no run


@dataclass(frozen=True, eq=False)
class FileAudit:
    """A model fitted to a file; label issues and scores are computed on first use.

    Attributes
    ----------
    request : Request
    table : GradedTable
    model : OrdinalClassifier
        Fitted.
    training : mapping
        What it was fitted to, the graded rows first: the arguments of `OrdinalClassifier.fit`.
    """

    request: Request
    table: GradedTable
    model: OrdinalClassifier
    training: Mapping[str, Any]
    is_in_parts: ClassVar[bool] = False

    @property
    def probabilities(self) -> Floats:
        """Out-of-fold probabilities of the grades, shape (n_graded, n_classes)."""
        assert self.model.out_of_fold_ is not None
        return self.model.out_of_fold_[: len(self.table.rows)]  # rows that a review graded come after them

    @property
    def graded(self) -> Floats:
        """How rows like each one are graded, out of fold: chances of the recorded grades, (n_graded, n_classes)."""
        of_records, noise = self.model.recorded_out_of_fold_, self.model.noise_.average
        if of_records is not None:
            return of_records[: len(self.table.rows)]
        return self.probabilities @ noise.believed.matrix

    @cached_property
    def training_table(self) -> Table:
        """The rows of `training` as the models read them; models of parts learned from more rows than these."""
        known = self.model.table_
        return self.model.table_of(self.training["X"]) if known is None else known

    @cached_property
    def graded_rows(self) -> Table:
        """The graded rows as the models read them."""
        n_graded, table = len(self.table.rows), self.training_table
        return table if len(table.features) == n_graded else table.rows(slice(n_graded))

    @cached_property
    def verified(self) -> Verified | None:
        """The verified grades of graded rows."""
        return of_recorded(self.training["trusted"])

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
        groups = as_groups(self.table.groups, len(self.recorded))
        # Networks are stopped by the held-out rows, which alone gives useless columns an order of up to 2.5.
        is_ordered = order_found(explained, self.recorded, groups) >= 2 * NO_BETTER
        return not is_ordered and gain_over_shares(explained, self.recorded, groups) < NO_BETTER

    @cached_property
    def issues(self) -> LabelIssues:
        """How suspicious each label is, and how many are wrong."""
        return issues_from_probabilities(
            self.probabilities,
            self.table.labels,
            self.model.noise_,
            classes=self.model.classes_,
            rank_by=self.request.rank_by,
            trusted=self.verified,
            groups=self.table.groups,
            recorded_probabilities=self.graded,
            noise_by=self._by_lot,
        )

    @property
    def _by_lot(self) -> list[str | None] | None:
        """Who graded each row, if rows were given out at random."""
        names = self.table.graders if self.request.by_lot else None
        return None if names is None else [name or None for name in names.tolist()]

    @cached_property
    def graders(self) -> GraderEffects | None:
        """Who grades higher or lower on comparable rows; None unless a column says who graded."""
        names, groups = self.table.graders, self.table.groups
        if names is None:
            return None
        known = np.flatnonzero(names != "")
        return grader_effects(
            self.graded[known], self.table.labels[known], names[known], self.graded_rows.rows(known),
            groups=None if groups is None else groups[known], classes=self.model.classes_,
            random_state=self.request.seed,
        )  # fmt: skip

    @property
    def settled_wrong(self) -> float:
        """Expected number of verified grades that are wrong themselves; zero unless some rows were graded twice."""
        known = self.verified
        if known is None or known.noise is None:
            return 0.0
        after = self.issues.posterior[known.rows]
        right = after[np.arange(len(after)), ranks_of("reviewed", known.labels, self.model.classes_)]
        return float((1 - right).sum())

    @cached_property
    def scores(self) -> Evaluation:
        """Out-of-fold scores on the recorded labels, and corrected for their noise."""
        known = self.model.evaluation_
        if known is not None and known.n_samples == len(self.recorded):  # a review graded no further row
            return known
        return evaluate_probabilities(
            self.probabilities, self.recorded, self.model.noise_, decision=self.request.decision,
            groups=self.table.groups,
        )  # fmt: skip


def learn(
    request: Request,
    *,
    history: History | None = None,
    on_table: Callable[[GradedTable], None] = lambda _: None,
    verbose: bool = False,
    unfinished: Path | None = None,
) -> FileAudit:
    """Read the file and fit an OrdinalClassifier to it.

    Parameters
    ----------
    history : History, optional
        What reviewers settled.
    on_table : callable
        Called with the parsed table before fitting.
    verbose : bool
        Whether to show progress on standard error.
    unfinished : Path, optional
        Folder for models of a fit that is not finished yet, and from one that was stopped.
    """
    table, model = _table_and_model(request, on_table, verbose)
    if unfinished is not None:
        model.keep_fits(unfinished)
    training = training_rows(request, table, history)
    with without_doubt_warnings():
        model.keep_table().fit(**training)
    return FileAudit(request, table, model, training)


def estimate(
    request: Request,
    *,
    history: History | None = None,
    on_table: Callable[[GradedTable], None] = lambda _: None,
    verbose: bool = False,
) -> tuple[GradedTable, Noise]:
    """Read the file and estimate its noise, without the fits that correct for it."""
    table, model = _table_and_model(request, on_table, verbose)
    with without_doubt_warnings():
        return table, model.estimate_noise(**training_rows(request, table, history))


def _table_and_model(
    request: Request, on_table: Callable[[GradedTable], None], verbose: bool
) -> tuple[GradedTable, OrdinalClassifier]:
    check_request(request)
    table = graded_table(
        request.file, request.roles, embeddings=request.embeddings, text_model=request.text_model,
        asked=request.reading,
    )  # fmt: skip
    model = OrdinalClassifier(
        request.learner,
        noise=noise_of(request.noise, len(table.classes)),
        answer=cast(Any, request.answer),  # the classifier checks it
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


def noise_of(noise: str, n_classes: int) -> Any:
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
        text = regular_content(path, MOST_MATRIX_BYTES).decode()
        return [line for line in text.splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError):
        got = repr(str(path))
        raise complain("noise", "be 'estimate', 'none' or a file with a noise matrix", got) from None


def check_request(request: Request) -> None:
    """Refuse bad options before the file is read."""
    as_choice("learner", request.learner, LEARNERS)
    as_choice("decision", request.decision, RULES)
    as_choice("answer", request.answer, ("auto", *ANSWERS))
    as_choice("rank-by", request.rank_by, RANKINGS)
    if request.grader is not None and request.item is not None:
        advice = "name who gave the grades of an item with --rater"
        raise complain("grader", "be left out where items have several grades", repr(request.grader), advice)
    if request.by_lot and request.grader is None:
        raise complain("by-lot", "come with --grader, the column that says who had rows given out", "none")
    if request.prior_rate is not None:
        as_number("prior-rate", request.prior_rate, 0.0, 0.99, open_low=True)
    as_count("seed", request.seed, 0)
    if request.jobs is not None:
        as_count("jobs", request.jobs, 1)
