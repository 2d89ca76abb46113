"""The paper's tables with our numbers beside the printed ones, as text."""

from __future__ import annotations

from itertools import product

import numpy as np

from ordinoise._text import TextTable
from ordinoise._validation import Floats
from ordinoise.paper.comparison import (
    Comparison,
    Group,
    Measured,
    Order,
    Summary,
    compare,
    group_of,
    recovered,
)
from ordinoise.paper.printed import ASYMMETRIC_ERRORS, ESTIMATED_MATRIX, table1, table2
from ordinoise.paper.protocol import LOSSES, PAPER_SETS, SETS, noise_matrix

METRIC_NAMES = {"mae": "mean absolute error", "zero_one": "0-1 error"}
NOTHING = "-"
# Loss and variant of the rows of Table 1, in the paper's order.
ROWS = [(loss, variant) for loss in LOSSES for variant in ("plain", "known", "estimated")]


def error_table(summary: Summary, metric: str = "mae", name: str = "Table 1") -> TextTable:
    """Table 1 by one metric: printed and our errors on clean and noisy labels, and the share of damage recovered."""
    cells = {_cell_key(found): found for found in compare(summary) if found.printed.metric == metric}
    datasets = [dataset for dataset in SETS if any(group.dataset == dataset for group in summary)]
    rows: list[tuple[str, ...]] = []
    for dataset in datasets:
        rows += [_paper_row(summary, cells, metric, dataset, *line) for line in ROWS]
        rows += [_forward_row(summary, metric, dataset, variant) for variant in ("known", "estimated")]
    rows = [row for row in rows if set(row[3:]) != {NOTHING}]
    columns = ("data", "loss", "variant", "clean: paper", "clean: here", "noisy: paper", "noisy: here", "recovered")
    notes = [
        "Mean ± standard deviation over the splits; noise on training labels only, errors on clean test labels.",
        "* differs from the printed mean by more than .03 and more than two printed standard deviations.",
        "Recovered: (noisy - ours) / (noisy - clean), noisy and clean by the same loss without correction.",
        *(f"{SETS[dataset].title}: {SETS[dataset].note}." for dataset in datasets if SETS[dataset].note),
    ]
    return TextTable(f"{name}: {METRIC_NAMES[metric]}", columns, tuple(rows), tuple(notes), n_names=3)


def forward_table(summary: Summary) -> TextTable | None:
    """Forward correction with an estimated matrix beside the paper's better loss with the true one; None if not run."""
    rows = []
    for dataset in PAPER_SETS:
        group = Group(dataset, "cross_entropy", "forward", "estimated", "uniform")
        if group in summary:
            known = min(
                cell.mean
                for cell in table1()
                if (cell.dataset, cell.variant, cell.metric, cell.train_on) == (dataset, "known", "mae", "noisy")
            )
            ours = float(summary[group].mean_absolute_errors.mean())
            rows.append((SETS[dataset].printed, f"{known:.2f}", f"{ours:.3f}", f"{ours - known:+.3f}"))
    columns = ("data", "paper, rates known", "forward here, rates estimated", "difference")
    title = "Forward correction, noise estimated, beside the paper's better loss with known rates (MAE)"
    return TextTable(title, columns, tuple(rows)) if rows else None


def asymmetric_table(summary: Summary) -> TextTable:
    """Errors on Abalone under the authors' asymmetric matrix."""
    rows = []
    corrected = product(("unbiased", "forward"), ("known", "estimated"))
    for correction, variant in [("none", "plain"), *corrected]:
        group = Group("abalone", "cross_entropy", correction, variant, "asymmetric")
        printed = NOTHING if correction == "forward" else f"{ASYMMETRIC_ERRORS[variant]:.3f}"
        share = NOTHING if variant == "plain" else _share(recovered(summary, group))
        rows.append((correction, variant, printed, _spread(summary[group].mean_absolute_errors), share))
    columns = ("correction", "variant", "authors' runs", "here", "recovered")
    title = "Abalone, asymmetric noise: mean absolute error, cross-entropy"
    return TextTable(title, columns, tuple(rows), n_names=2)


def unordered_table(summary: Summary) -> TextTable:
    """Table 2: updates that left the thresholds unordered, and whether the final models are ordered."""
    printed = {(cell.dataset, cell.loss, cell.train_on): cell for cell in table2()}
    rows = []
    for dataset, loss, train_on in product(PAPER_SETS, LOSSES, ("clean", "noisy")):
        measured = summary.get(group_of(dataset, loss, "estimated", train_on))
        if measured is not None:
            cell = printed.get((dataset, loss, train_on))
            theirs = f"{cell.unordered} / {cell.total:,}" if cell else NOTHING
            rows.append((SETS[dataset].title, LOSSES[loss], train_on, theirs, *_counts(measured)))
    columns = ("data", "loss", "labels", "paper", "here", "in 10,000", "final models ordered")
    notes = (
        "Free thresholds, estimated rates; updates with unordered thresholds / all updates, mean over the splits.",
        "Thresholds start equal, so the first updates of a training may leave them unordered.",
    )
    return TextTable("Table 2: updates with unordered thresholds", columns, tuple(rows), notes, n_names=3)


def matrix_table(summary: Summary) -> TextTable:
    """The noise matrix put into California's labels, the paper's estimate, and our estimates on the first split."""
    anchors = summary[Group("california", "cross_entropy", "unbiased", "estimated", "uniform")].noise_matrices[0]
    likelihood = summary[Group("california", "cross_entropy", "forward", "estimated", "uniform")].noise_matrices[0]
    true = noise_matrix("uniform", 4)
    named = {
        "put in": true,
        "printed estimate": ESTIMATED_MATRIX,
        "anchor points here": anchors,
        "score likelihood here": likelihood,
    }
    rows = tuple(
        (str(label), *(" ".join(f"{entry:.2f}" for entry in matrix[label]) for matrix in named.values()))
        for label in range(4)
    )
    errors = (
        "mean difference",
        NOTHING,
        *(f"{abs(matrix - true).mean():.3f}" for matrix in list(named.values())[1:]),
    )
    title = "California: noise matrix put in and estimated (row = true grade), first split"
    return TextTable(title, ("true grade", *named), (*rows, errors))


def order_table(found: list[Order]) -> TextTable:
    """The rankings that the paper's discussion states, in its own table and in ours."""
    rows = tuple(
        (
            order.statement,
            SETS[order.dataset].title,
            f"{order.printed:+.2f}",
            f"{order.ours:+.3f} ± {order.standard_error:.3f}",
            "yes" if order.is_seen else "no",
        )
        for order in found
    )
    columns = ("statement", "data", "paper", "here (± standard error)", "seen here")
    notes = (
        "Differences in mean absolute error; positive where the statement holds.",
        "The paper finds known rates and the plain loss at par on Boston, which is small.",
    )
    return TextTable("Orders that the discussion names", columns, rows, notes, n_names=2)


def _paper_row(
    summary: Summary, cells: dict[tuple[str, ...], Comparison], metric: str, dataset: str, loss: str, variant: str
) -> tuple[str, ...]:
    numbers: list[str] = []
    for train_on in ("clean", "noisy"):
        found = cells.get((dataset, loss, variant, train_on))
        measured = summary.get(group_of(dataset, loss, variant, train_on))
        mark = "" if found is None or found.is_within else "*"
        numbers.append(f"{found.printed.mean:.2f} ± {found.printed.sd:.2f}" if found else NOTHING)
        numbers.append(f"{_spread(measured.errors(metric))}{mark}" if measured else NOTHING)
    group = group_of(dataset, loss, variant, "noisy")
    share = NOTHING if variant == "plain" or group not in summary else _share(recovered(summary, group, metric))
    return (SETS[dataset].title, LOSSES[loss], variant, *numbers, share)


def _forward_row(summary: Summary, metric: str, dataset: str, variant: str) -> tuple[str, ...]:
    clean, noisy = (Group(dataset, "cross_entropy", "forward", variant, noise) for noise in ("none", "uniform"))
    on_clean = _spread(summary[clean].errors(metric)) if clean in summary else NOTHING
    on_noisy, share = NOTHING, NOTHING
    if noisy in summary:
        on_noisy, share = _spread(summary[noisy].errors(metric)), _share(recovered(summary, noisy, metric))
    return (SETS[dataset].title, "forward", variant, NOTHING, on_clean, NOTHING, on_noisy, share)


def _counts(measured: Measured) -> tuple[str, str, str]:
    mean, total = measured.unordered_updates.mean(), measured.n_updates.mean()
    return f"{mean:.1f} / {total:,.0f}", f"{1e4 * mean / total:.2f}", "all" if measured.are_ordered else "not all"


def _cell_key(found: Comparison) -> tuple[str, ...]:
    return (found.printed.dataset, found.printed.loss, found.printed.variant, found.printed.train_on)


def _spread(errors: Floats) -> str:
    return f"{errors.mean():.3f} ± {errors.std():.3f}"


def _share(value: float) -> str:
    return NOTHING if np.isnan(value) else f"{value:.0%}"
