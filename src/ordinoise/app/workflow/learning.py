"""What fit, noise and audit share: the file read, the front door fitted to it, every label judged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints, as_choice, as_count, as_noise_matrix, complain
from ordinoise.app.tables import GradedTable, graded_table
from ordinoise.audit import LabelIssues, from_probabilities
from ordinoise.classifiers import OrdinalClassifier
from ordinoise.classifiers.ordinal import LEARNERS
from ordinoise.estimation import IdentifiabilityWarning
from ordinoise.labels import RULES, ranks_of
from ordinoise.scoring.evaluation import Evaluation, evaluate_probabilities

Trusted = tuple[Ints, tuple[str, ...]]
"""Rows of the file whose grade a person settled, and those grades as text."""


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Attributes
    ----------
    file : Path
        A table: CSV, Parquet or Feather.
    target : str
        The column of grades.
    order : str or None
        The grades from lowest to highest, with commas between; needed where they are text.
    ignore : tuple of str
        Columns that are no features.
    learner : {"auto", "mlp", "boosting", "blend"}
    noise : str
        "estimate"; "none" to trust the labels; or a file with the noise matrix, a row a true grade, without header.
    decision : {"median", "mode", "mean"}
    seed : int
        Makes everything reproducible.
    n_jobs : int or None
        Fits at a time; all processors by default.
    verbose : bool
        Whether to show progress on standard error.
    """

    file: Path
    target: str
    order: str | None = None
    ignore: tuple[str, ...] = ()
    learner: str = "auto"
    noise: str = "estimate"
    decision: str = "median"
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool = False

    def table(self) -> GradedTable:
        """The file, read and understood."""
        return graded_table(self.file, self.target, order=self.order, ignore=self.ignore)

    def classifier(self, classes: tuple[Any, ...]) -> OrdinalClassifier:
        """The front door as asked for."""
        return OrdinalClassifier(
            self.learner,
            noise=self.noise_for(len(classes)),
            decision=self.decision,
            classes=list(classes),
            n_jobs=self.n_jobs,
            random_state=as_count("seed", self.seed, 0),
            verbose=self.verbose,
        )

    def noise_for(self, n_classes: int) -> Any:
        """What a classifier takes as `noise`."""
        if self.noise == "none":
            return None
        return self.noise if self.noise == "estimate" else matrix_from(Path(self.noise), n_classes)

    def plain(self) -> dict[str, Any]:
        """What JSON can hold of it, enough to ask again."""
        return {
            "order": self.order,
            "ignore": list(self.ignore),
            "learner": self.learner,
            "noise": self.noise,
            "decision": self.decision,
            "seed": self.seed,
        }


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned from a file.

    Attributes
    ----------
    request : Request
    table : GradedTable
    model : OrdinalClassifier
        Fitted.
    recorded : int array of shape (n_graded,)
        Ranks of the recorded grades.
    probabilities : array of shape (n_graded, n_classes)
        Of each true grade, out of fold.
    issues : LabelIssues
        Every label judged; empty of suspicion where the labels were trusted.
    scores : Evaluation
        Out of fold, as recorded labels show them and as clean ones would.
    trusted : (rows, grades) or None
        Labels that a person settled.
    """

    request: Request
    table: GradedTable
    model: OrdinalClassifier
    recorded: Ints
    probabilities: Floats
    issues: LabelIssues
    scores: Evaluation
    trusted: Trusted | None

    @property
    def noise(self) -> Any:
        """The fitted estimator of the noise, or the matrix where there is none."""
        found = self.model.noise_estimator_
        return self.model.noise_matrix_ if found is None else found


def learn(
    request: Request,
    *,
    trusted: Trusted | None = None,
    on_table: Callable[[GradedTable], None] = lambda _: None,
) -> Learned:
    """Read the file, fit the front door, judge every label.

    Parameters
    ----------
    trusted : (rows, grades), optional
        Rows of the file that a person settled, and those grades as text.
    on_table : callable
        Told of the table before the long work begins.
    """
    _check(request)
    table = request.table()
    model = request.classifier(table.classes)
    on_table(table)
    with warnings.catch_warnings():
        # Doubts are kept by the estimator, and told with everything else.
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        model.fit(table.features, table.labels, trusted=_positions(table, trusted))
    assert model.out_of_fold_ is not None
    recorded = ranks_of("target", table.labels, model.classes_)
    source = model.noise_matrix_ if model.noise_estimator_ is None else model.noise_estimator_
    issues = from_probabilities(model.out_of_fold_, table.labels, source, classes=model.classes_)
    scores = evaluate_probabilities(model.out_of_fold_, recorded, source, decision=request.decision)
    return Learned(request, table, model, recorded, model.out_of_fold_, issues, scores, trusted)


def matrix_from(path: Path, n_classes: int) -> Floats:
    """The noise matrix in a file of numbers: a row a true grade, a column a recorded one, no header."""
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
    """What can be told to be wrong before the file is read."""
    as_choice("learner", request.learner, LEARNERS)
    as_choice("decision", request.decision, RULES)
    as_count("seed", request.seed, 0)
    if request.n_jobs is not None:
        as_count("jobs", request.n_jobs, 1)


def _positions(table: GradedTable, trusted: Trusted | None) -> tuple[Ints, list[Any]] | None:
    """The settled rows among the graded ones, with their grades as the table has them."""
    if trusted is None or not len(trusted[0]):
        return None
    classes = {str(grade): grade for grade in table.classes}
    rows, grades = trusted
    unknown = next((grade for grade in grades if grade not in classes), None)
    if unknown is not None:
        raise complain("decisions", f"be among the grades {list(classes)}", repr(unknown))
    known = np.isin(rows, table.rows)
    chosen = [classes[grade] for grade, is_known in zip(grades, known, strict=True) if is_known]
    return (np.searchsorted(table.rows, rows[known]), chosen) if len(chosen) else None
