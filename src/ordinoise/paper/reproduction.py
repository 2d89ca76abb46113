"""From a request to finished tables: plan, run or resume, compare, write."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from ordinoise._files import own_folder, write_whole
from ordinoise._text import TextTable, markdown, write_tables
from ordinoise._validation import as_choice, as_count
from ordinoise.estimation import IdentifiabilityWarning
from ordinoise.paper import (
    PAPER_SETS,
    PROTOCOLS,
    PaperTrial,
    Summary,
    best_settings,
    findings,
    grid,
    orders,
    plan,
    run,
    run_tuning,
    summarise,
    tables,
)
from ordinoise.paper.figure import write_figure_of_rules, write_picture_of_errors
from ordinoise.paper.runs import (
    Failure,
    Outcome,
    ResultStore,
    StoredResult,
    executor,
    run_plan,
    trial_key,
    write_table,
)
from ordinoise.paper.speed import Speed, loop_microseconds, speed
from ordinoise.paper.trials import load_set

PARTS = ("table1", "table2", "figure", "large", "all")
STORE = "results.sqlite"
QUICK_SETS, QUICK_SPLITS = ("synthetic", "boston", "abalone"), 3


@dataclass(frozen=True)
class Request:
    """What to reproduce.

    Attributes
    ----------
    part : {"table1", "table2", "figure", "large", "all"}
        ``large`` is the made set of MSLR's full size, which ``all`` leaves out.
    out : Path
        Folder of the outcome; a run that was stopped goes on in it.
    datasets : tuple of str
        Some of the paper's sets; all by default.
    n_splits : int
        Random splits of each.
    protocol : {"inferred", "printed", "authors"}
        See `ordinoise.paper.protocol.Protocol`.
    tune : bool
        Whether to search the paper's grid first; otherwise 10 hidden units and a learning rate of 0.001.
    data_dir : path, optional
        Folder of the real sets; ORDINOISE_DATA by default.
    workers, scheduler, cluster
        Where to run, see `ordinoise.paper.runs.executor`.
    """

    part: str
    out: Path
    datasets: tuple[str, ...] = PAPER_SETS
    n_splits: int = 20
    protocol: str = "inferred"
    tune: bool = False
    data_dir: str | os.PathLike[str] | None = None
    workers: int | None = None
    scheduler: str | None = None
    cluster: str | None = None

    def __post_init__(self) -> None:
        as_choice("part", self.part, PARTS)
        as_choice("protocol", self.protocol, [name for name in PROTOCOLS if name != "short"])
        as_count("trials", self.n_splits, 1)
        for name in self.datasets:
            as_choice("datasets", name, PAPER_SETS)


class Progress(Protocol):
    """Who wants to know how far the run is."""

    def start(self, what: str, n_trials: int) -> None:
        """A plan of so many trials begins."""

    def reuse(self, n_trials: int) -> None:
        """So many of them were there already."""

    def advance(self, told: StoredResult | Failure, seconds_left: float) -> None:
        """A trial ended."""


@dataclass(frozen=True)
class Reproduction:
    """Everything that a run gave.

    Attributes
    ----------
    tables : list of TextTable
    sentences : list of str
        What the tables say.
    files : list of Path
        What was written.
    failures : list of Failure
        Trials that ended with an error; their cells are missing.
    """

    tables: list[TextTable] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def reproduce(request: Request, progress: Progress) -> Reproduction:
    """Run what the request asks for, or the rest of it, and write tables, page and pictures.

    Parameters
    ----------
    request : Request
    progress : Progress
        Told of every trial.
    """
    own_folder("out", request.out, {STORE, "figure.png"})
    if request.part == "figure":
        return Reproduction(files=write_figure_of_rules(request.out, request.protocol))
    with (
        executor(request.workers, request.scheduler, request.cluster) as pool,
        ResultStore(request.out / STORE) as store,
        warnings.catch_warnings(),
    ):
        # The doubts of an estimate are the subject here, not a surprise.
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        warnings.filterwarnings("ignore", "noise_matrix is nearly singular")
        if request.scheduler is None:
            for name in _sets(request):  # a missing file is told before the work begins
                load_set(name, _folder(request))
        loop = None if request.part == "large" else _loop_microseconds(request)
        outcome = _run(request, partial(_run_with_progress, store=store, executor=pool, progress=progress))
    measured = None if loop is None else speed(outcome.results, loop, outcome.seconds)
    return _written(request, outcome, measured)


RunAll = Callable[[str, Sequence[Any], Callable[[Any], Any]], Outcome]


def _run(request: Request, run_all: RunAll) -> Outcome:
    tuned = None
    if request.tune:
        search = grid(_sets(request), request.protocol)
        tuned = best_settings(run_all("grid search", search, partial(run_tuning, data_dir=_folder(request))).results)
    if request.part == "large":
        trials = [trial for trial in plan(["made"], n_splits=1, protocol="short") if _is_for_large(trial)]
    else:
        trials = plan(_sets(request), n_splits=request.n_splits, protocol=request.protocol, tuned=tuned)
    if request.part == "table2":
        trials = [trial for trial in trials if trial.correction == "unbiased" and trial.variant == "estimated"]
    return run_all(f"{request.part}", trials, partial(run, data_dir=_folder(request)))


def _run_with_progress(
    what: str, trials: Sequence[Any], function: Callable[[Any], Any], *, store: ResultStore, executor: Any,
    progress: Progress,
) -> Outcome:  # fmt: skip
    progress.start(what, len(trials))
    progress.reuse(len(store.keys() & {trial_key(trial) for trial in trials}))
    return run_plan(trials, function, store, executor, on_result=progress.advance)


def _written(request: Request, outcome: Outcome, measured: Speed | None) -> Reproduction:
    summary = summarise(outcome.results)
    shown = _tables(request, summary)
    found = orders(summary) if request.part in ("table1", "all") else []
    sentences = [*findings.agreement(summary), *findings.orders_seen(found)] if found else []
    if request.part != "large":
        sentences += findings.consistency(summary)
    timing = _timing(request, outcome, measured)
    if found:
        shown["orders"] = tables.order_table(found)
    files = [path for name, table in shown.items() for path in write_tables(request.out, name, table)]
    write_table(outcome.results, request.out / "trials.csv", seconds=False)
    # The time it took is told and not written: the page of a run that was stopped in between is the same.
    page = "\n".join(
        ["# The paper, re-run", "", *(f"- {one}" for one in sentences), "", *map(markdown, shown.values())]
    )
    write_whole(request.out / "report.md", page.encode())
    files += [request.out / "trials.csv", request.out / "report.md", *write_picture_of_errors(request.out, summary)]
    if request.part == "all":
        files += write_figure_of_rules(request.out, request.protocol)
    return Reproduction(list(shown.values()), [*sentences, timing], files, outcome.failures)


def _timing(request: Request, outcome: Outcome, measured: Speed | None) -> str:
    if request.part == "large":  # its estimator takes larger batches, which the loop's time does not stand for
        busy = sum(stored.seconds for stored in outcome.results)
        return f"{len(outcome.results)} trials took {busy:.0f} seconds, summed over the workers."
    return findings.speed_sentence(measured, outcome.n_reused)


def _tables(request: Request, summary: Summary) -> dict[str, TextTable]:
    shown: dict[str, TextTable] = {}
    if request.part in ("table1", "all", "large"):
        name = "Table 1" if request.part != "large" else "1.2 million x 136 rows, ten epochs"
        shown["table1"] = tables.error_table(summary, "mae", name)
        shown["table1_zero_one"] = tables.error_table(summary, "zero_one", name)
    if request.part in ("table2", "all"):
        shown["table2"] = tables.unordered_table(summary)
    if request.part in ("table1", "all"):
        forward = findings.forward_table(summary)
        shown |= {"forward": forward} if forward else {}
        if any(group.noise == "asymmetric" for group in summary):
            shown["asymmetric"] = tables.asymmetric_table(summary)
        if any(group.dataset == "california" for group in summary):
            shown["estimated_matrix"] = tables.matrix_table(summary)
    return shown


def _is_for_large(trial: PaperTrial) -> bool:
    """Cross-entropy and forward, clean and noisy: what shows that the size is no obstacle."""
    return trial.loss == "cross_entropy" and (trial.correction == "forward" or trial.variant != "estimated")


def _loop_microseconds(request: Request) -> dict[str, float] | None:
    try:
        return loop_microseconds(_sets(request))
    except ImportError:
        return None


def _sets(request: Request) -> tuple[str, ...]:
    return ("made",) if request.part == "large" else request.datasets


def _folder(request: Request) -> str | None:
    return None if request.data_dir is None else str(Path(request.data_dir).expanduser().resolve())
