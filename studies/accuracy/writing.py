"""The study on paper: a table of everything as CSV, a page for people as Markdown."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ordinoise._files import write_whole
from ordinoise._validation import as_choice
from ordinoise.paper.runs.store import StoredResult
from studies.accuracy.contestants import CONTESTANTS
from studies.accuracy.contests import NOISE_NAMES
from studies.accuracy.ranks import Ranks, mean_ranks
from studies.accuracy.summary import GREATER_IS_BETTER, METRICS, Line, summary, told_entries

NOISE_WORDS = {
    "uniform": "Uniform noise: inverse decay at .15",
    "conditional": "Class-conditional noise: inverse decay from .03 for the lowest grade to .20 for the highest",
    "adjacent": "Asymmetric noise: one grade up with .25, one down with .08",
    "none": "Clean labels",
}

NOTES = """\
Every contestant learns from the same splits, 80 % to train and 20 % to test (MSLR: a query on one side), noise in the
training labels only, clean test labels. Where many grades would let one be recorded wrong more than 45 % of the time,
all slips are shrunk by one factor until it is not. Seconds are processor time, for the fit alone; numerical libraries
keep to one thread. Entries marked * are told the noise matrix, which nobody knows in practice; they have no part in the
ranks.

Nothing is tuned here. Our defaults come from earlier experiments, some of them on sets of this study; those of the
other libraries are their own unless the settings below say otherwise, and the recipe of the PyTorch networks was chosen
on sets outside the study."""


def write_csv(results: Iterable[StoredResult], path: str | os.PathLike[str]) -> None:
    """Write the summary as CSV: a row for each set, noise and entry, a mean and a spread for each metric.

    Parameters
    ----------
    results : iterable of StoredResult
        What `run_plan` gave.
    path : path
        There is a whole file or none.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    spread = [f"{metric}{end}" for metric in METRICS for end in ("", "_sd")]
    writer.writerow(["dataset", "noise", "entry", "n_splits", "n_training_rows", *spread])
    for line in summary(results):
        numbers = [table[metric] for metric in METRICS for table in (line.means, line.sds)]
        cells = ["" if math.isnan(number) else f"{number:.6g}" for number in numbers]
        writer.writerow([*line.block, line.entry, line.n_splits, line.n_training_rows, *cells])
    write_whole(Path(path), text.getvalue().encode())


def write_markdown(
    results: Iterable[StoredResult], path: str | os.PathLike[str], metric: str = "mean_absolute_error"
) -> None:
    """Write a page: ranks with and without noise, one table of `metric` for each noise, and how each entry was set.

    Parameters
    ----------
    results : iterable of StoredResult
        What `run_plan` gave.
    path : path
        There is a whole file or none.
    metric : str
        One of `METRICS`.
    """
    as_choice("metric", metric, METRICS)
    kept = list(results)
    lines = summary(kept)
    parts = ["# Accuracy under label noise", NOTES, *_row_parts(kept)]
    parts += [*_rank_parts(kept, metric), *_noise_parts(lines, metric)]
    parts += ["## Processor seconds of a fit", *_second_parts(lines), "## Settings", _settings(kept)]
    write_whole(Path(path), ("\n\n".join(parts) + "\n").encode())


def _row_parts(results: Sequence[StoredResult]) -> Iterator[str]:
    for most in sorted({stored.trial["max_rows"] for stored in results if stored.trial["max_rows"] is not None}):
        yield f"Where a split has more than {most} training rows, {most} of them are drawn at random, the same for all."


def _rank_parts(results: Sequence[StoredResult], metric: str) -> Iterator[str]:
    for noisy, title in ((True, "Mean ranks, noisy labels"), (False, "Mean ranks, clean labels")):
        try:
            ranks = mean_ranks(results, metric, noisy=noisy)
        except ValueError:
            # Too few entries or blocks to rank, as when a study has one noise only.
            continue
        yield f"## {title}"
        yield _rank_words(ranks)
        rows = [[entry, f"{rank:.2f}"] for entry, rank in zip(ranks.entries, ranks.mean_ranks, strict=True)]
        yield _table(["entry", "mean rank"], rows)


def _rank_words(ranks: Ranks) -> str:
    words = (
        f"{ranks.metric.replace('_', ' ').capitalize()}, {ranks.n_blocks} blocks of a set and a noise. Friedman "
        f"chi-squared {ranks.statistic:.1f}, p = {ranks.p_value:.2g}; ranks that differ by less than "
        f"{ranks.critical_difference:.2f} do not differ at {ranks.alpha:g} (Nemenyi)."
    )
    return words + (f" Left out for want of some block: {', '.join(ranks.left_out)}." if ranks.left_out else "")


def _noise_parts(lines: Sequence[Line], metric: str) -> Iterator[str]:
    for noise in NOISE_NAMES:
        of_noise = [line for line in lines if line.noise == noise]
        if of_noise:
            yield f"## {NOISE_WORDS[noise]}"
            yield f"{metric.replace('_', ' ').capitalize()}, mean and standard deviation over splits."
            yield _cross(of_noise, metric)


def _cross(lines: Sequence[Line], metric: str) -> str:
    """Entries down, sets across; the best of each set that is not told the matrix is bold."""
    sets = {line.dataset: f"{line.dataset} ({line.n_training_rows} rows)" for line in lines}
    cells = {(line.entry, line.dataset): line for line in lines}
    rows = [
        [
            _marked(entry),
            *(_cell(cells.get((entry, dataset)), metric, _best(lines, dataset, metric)) for dataset in sets),
        ]
        for entry in dict.fromkeys(line.entry for line in lines)
    ]
    return _table(["entry", *sets.values()], rows)


def _best(lines: Sequence[Line], dataset: str, metric: str) -> float:
    of_set = [line.means[metric] for line in lines if line.dataset == dataset and line.entry not in told_entries()]
    finite = [mean for mean in of_set if not math.isnan(mean)]
    pick = max if GREATER_IS_BETTER[metric] else min
    return pick(finite, default=math.nan)


def _cell(line: Line | None, metric: str, best: float) -> str:
    if line is None or math.isnan(line.means[metric]):
        return "-"
    mean, spread = f"{line.means[metric]:.3f}", line.sds[metric]
    return (f"**{mean}**" if line.means[metric] == best else mean) + (
        " (-)" if math.isnan(spread) else f" ({spread:.3f})"
    )


def _second_parts(lines: Sequence[Line]) -> Iterator[str]:
    yield "Median over all sets and noises, and the largest mean of any."
    rows = []
    for entry in dict.fromkeys(line.entry for line in lines):
        seconds = [line.means["fit_seconds"] for line in lines if line.entry == entry]
        rows.append([_marked(entry), f"{np.median(seconds):.2f}", f"{max(seconds):.2f}"])
    yield _table(["entry", "median", "largest"], rows)


def _settings(results: Sequence[StoredResult]) -> str:
    names = dict.fromkeys(stored.trial["contestant"] for stored in results)
    return "\n".join(f"- {name}: {CONTESTANTS[name].settings}." for name in names)


def _marked(entry: str) -> str:
    return f"{entry} *" if entry in told_entries() else entry


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    ruler = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ruler, *rows])
