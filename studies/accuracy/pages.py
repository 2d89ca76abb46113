"""Files of the study: all metrics as a CSV table, and a page in Markdown."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ordinoise._files import write_whole
from ordinoise.jobs.store import StoredResult
from studies.accuracy.contestants import CONTESTANTS
from studies.accuracy.contests import NOISE_NAMES
from studies.accuracy.ranks import ALPHA, MARGIN, Ranks, comparisons, mean_ranks
from studies.accuracy.summary import ERROR, METRICS, Line, oracle_entries, summary
from studies.paired import Comparison

NOISE_WORDS = {
    "uniform": "Uniform noise: inverse decay at .15",
    "conditional": "Class-conditional noise: inverse decay from .03 for the lowest grade to .20 for the highest",
    "adjacent": "Asymmetric noise: one grade up with .25, one down with .08",
    "perceived": "Noise of the item: its place by a ridge regression, seen with a normal error of half a grade",
    "none": "Clean labels",
}

FRONT_DOOR = "ordinoise"
SHORT_NAMES = {
    FRONT_DOOR: "`OrdinalClassifier()`",
    "network, estimated": '`OrdinalMLPClassifier(noise="estimate")`',
    "boosting, estimated": '`OrdinalBoostingClassifier(noise="estimate")`',
    "dlordinal EMD, median": "dlordinal, earth mover's distance, median",
    "network, trusting": "`OrdinalMLPClassifier()`, trusting",
    "boosting, trusting": "`OrdinalBoostingClassifier()`, trusting",
    "corn": "coral-pytorch, CORN",
    "catboost, stopped": "CatBoost, stopped early",
    "lightgbm, stopped": "LightGBM, stopped early",
    "autogluon, median": "AutoGluon, 60 seconds, median",
    "forest, median": "random forest, median",
    "mord": "mord",
    "cleanlab, median": "cleanlab around LightGBM, median",
    "lightgbm, median": "LightGBM, median",
    "rounded regression": "LightGBM regression, rounded",
}
"""Entries of the short table, as a user would name them."""

NOTES = """\
All contestants learn from the same splits, 80 % training and 20 % test rows (MSLR is split by query), with noise in the
training labels only. If a grade would be wrong more than 45 % of the time, the noise is scaled down to that. Seconds
are processor time of the fit alone, with numerical libraries on one thread. Entries marked * are given the noise
matrix, which is unknown in practice; they are not ranked.

Nothing is tuned here. Our defaults come from earlier experiments, some of them on sets of this study; other libraries
have their own defaults unless the settings below say otherwise, and the recipe of the PyTorch networks was chosen on
sets outside the study."""


def write_csv(results: Iterable[StoredResult], path: str | os.PathLike[str]) -> None:
    """Write the summary as CSV, one row per set, noise and entry, with mean and standard deviation of each metric."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    spread = [f"{metric}{end}" for metric in METRICS for end in ("", "_sd")]
    writer.writerow(["dataset", "noise", "entry", "n_splits", "n_training_rows", *spread])
    for line in summary(results):
        numbers = [table[metric] for metric in METRICS for table in (line.means, line.sds)]
        cells = ["" if math.isnan(number) else f"{number:.6g}" for number in numbers]
        writer.writerow([*line.block, line.entry, line.n_splits, line.n_training_rows, *cells])
    write_whole(Path(path), text.getvalue().encode())


def write_markdown(results: Iterable[StoredResult], path: str | os.PathLike[str]) -> None:
    """Write a page: ranks with and without noise, one table of mean absolute errors per noise, times and settings."""
    kept = list(results)
    lines = summary(kept)
    parts = ["# Accuracy under label noise", NOTES, *_row_parts(kept)]
    parts += [*_rank_parts(kept), *_noise_parts(lines)]
    parts += ["## Processor seconds of a fit", *_second_parts(lines), "## Settings", _settings(kept)]
    write_whole(Path(path), ("\n\n".join(parts) + "\n").encode())


def short_table(results: Iterable[StoredResult]) -> str:
    """The entries of `SHORT_NAMES` by how far they are behind the front door on noisy labels: ranks and seconds."""
    kept = list(results)
    noisy, clean = (_ranks_of(kept, noisy) for noisy in (True, False))
    lines = summary(kept)
    behind, seconds, fewer = comparisons(kept, FRONT_DOOR), _seconds(lines), fewer_splits(lines)
    rows = []
    for entry in sorted((entry for entry in SHORT_NAMES if entry in seconds), key=lambda one: _mean(behind.get(one))):
        one = behind.get(entry)
        gap = ["", ""] if one is None else [_short(one.mean), f"{_short(one.low)} to {_short(one.high)}"]
        ranks = [f"{of[entry]:.2f}" if entry in of else "-" for of in (noisy, clean)]
        rows.append([SHORT_NAMES[entry] + fewer.get(entry, ""), ranks[0], *gap, ranks[1], f"{seconds[entry][0]:.2f}"])
    return _table(["entry", "rank, noisy", "behind by", "95 % interval", "rank, clean", "seconds"], rows)


def fewer_splits(lines: Sequence[Line]) -> dict[str, str]:
    """Entries that lack splits of a set, and in words how many they have."""
    most = max((line.n_splits for line in lines), default=0)
    least: dict[str, int] = {}
    for line in lines:
        least[line.entry] = min(least.get(line.entry, most), line.n_splits)
    return {entry: f" ({n_splits} of {most} splits)" for entry, n_splits in least.items() if n_splits < most}


def _short(number: float) -> str:
    return f"{number:.3f}".replace("0.", ".", 1)


def _ranks_of(results: Sequence[StoredResult], noisy: bool) -> dict[str, float]:
    ranks = mean_ranks(results, noisy=noisy)
    return dict(zip(ranks.entries, ranks.mean_ranks, strict=True))


def _mean(one: Comparison | None) -> float:
    return -math.inf if one is None else one.mean


def _row_parts(results: Sequence[StoredResult]) -> Iterator[str]:
    for most in sorted({stored.trial["max_rows"] for stored in results if stored.trial["max_rows"] is not None}):
        yield f"If a split has more than {most} training rows, {most} of them are drawn at random, the same for all."


def _rank_parts(results: Sequence[StoredResult]) -> Iterator[str]:
    for noisy, title in ((True, "Mean ranks, noisy labels"), (False, "Mean ranks, clean labels")):
        try:
            ranks = mean_ranks(results, noisy=noisy)
        except ValueError:
            continue  # too few entries or blocks to rank
        yield f"## {title}"
        yield _rank_words(ranks)
        rows = [[entry, f"{rank:.2f}"] for entry, rank in zip(ranks.entries, ranks.mean_ranks, strict=True)]
        yield _table(["entry", "mean rank"], rows)
        yield from _comparison_parts(results, noisy)


def _rank_words(ranks: Ranks) -> str:
    words = (
        f"Mean absolute error, {ranks.n_blocks} blocks of a set and a noise, averaged within {ranks.n_sets} sets "
        f"first. Friedman over sets: chi-squared {ranks.statistic:.1f}, p = {ranks.p_value:.2g}; ranks that differ by "
        f"less than {ranks.critical_difference:.2f} do not differ at {ALPHA:g} (Nemenyi, sets as blocks)."
    )
    return words + (
        f" Skipped, without a result on some split of some block: {', '.join(ranks.skipped)}." if ranks.skipped else ""
    )


def _comparison_parts(results: Sequence[StoredResult], noisy: bool) -> Iterator[str]:
    """The front door beside every other entry."""
    found, fewer = comparisons(results, FRONT_DOOR, noisy=noisy), fewer_splits(summary(results))
    if not found:
        return
    yield (
        f"How much lower the error of `{FRONT_DOOR}` is: mean over sets and 95 % interval by a bootstrap over sets; "
        f"and how probable it is that on most sets `{FRONT_DOOR}` is better, equal within {MARGIN:g}, or worse, by the "
        "Bayesian signed-rank test."
    )
    heads = ["entry", "sets", "lower by", "95 % interval", "better", "equal", "worse"]
    rows = [
        [entry + fewer.get(entry, ""), str(one.n_sets), f"{one.mean:+.3f}", f"{one.low:+.3f} to {one.high:+.3f}"]
        + [f"{chance:.0%}" for chance in (one.better, one.equal, one.worse)]
        for entry, one in sorted(found.items(), key=lambda pair: pair[1].mean)
    ]
    yield _table(heads, rows)


def _noise_parts(lines: Sequence[Line]) -> Iterator[str]:
    for noise in NOISE_NAMES:
        of_noise = [line for line in lines if line.noise == noise]
        if of_noise:
            yield f"## {NOISE_WORDS[noise]}"
            yield "Mean absolute error, mean and standard deviation over splits."
            yield _cross(of_noise)


def _cross(lines: Sequence[Line]) -> str:
    """One row per entry, one column per set.

    The best entry of each set is bold, among those that are not given the matrix and lack no split.
    """
    fewer = fewer_splits(lines)
    sets = {line.dataset: f"{line.dataset} ({line.n_training_rows} rows)" for line in lines}
    cells = {(line.entry, line.dataset): line for line in lines}
    rows = [
        [_marked(entry) + fewer.get(entry, "")]
        + [_cell(cells.get((entry, dataset)), _best(lines, dataset)) for dataset in sets]
        for entry in dict.fromkeys(line.entry for line in lines)
    ]
    return _table(["entry", *sets.values()], rows)


def _best(lines: Sequence[Line], dataset: str) -> float:
    of_set = [line for line in lines if line.dataset == dataset and line.entry not in oracle_entries()]
    most = max((line.n_splits for line in of_set), default=0)
    return min((line.means[ERROR] for line in of_set if line.n_splits == most), default=math.nan)


def _cell(line: Line | None, best: float) -> str:
    if line is None:
        return "-"
    mean, spread = f"{line.means[ERROR]:.3f}", line.sds[ERROR]
    shown = f"**{mean}**" if line.means[ERROR] == best else mean
    return f"{shown} (-)" if math.isnan(spread) else f"{shown} ({spread:.3f})"


def _second_parts(lines: Sequence[Line]) -> Iterator[str]:
    yield "Median over all sets and noises, and the largest mean of any."
    found = _seconds(lines).items()
    rows = [[_marked(entry), f"{median:.2f}", f"{largest:.2f}"] for entry, (median, largest) in found]
    yield _table(["entry", "median", "largest"], rows)


def _seconds(lines: Sequence[Line]) -> dict[str, tuple[float, float]]:
    """Median and largest processor seconds of each entry."""
    seconds: dict[str, list[float]] = {}
    for line in lines:
        seconds.setdefault(line.entry, []).append(line.means["fit_seconds"])
    return {entry: (float(np.median(of_entry)), max(of_entry)) for entry, of_entry in seconds.items()}


def _settings(results: Sequence[StoredResult]) -> str:
    names = dict.fromkeys(stored.trial["contestant"] for stored in results)
    return "\n".join(f"- {name}: {CONTESTANTS[name].settings}." for name in names)


def _marked(entry: str) -> str:
    return f"{entry} *" if entry in oracle_entries() else entry


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    ruler = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ruler, *rows])
