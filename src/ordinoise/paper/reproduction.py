"""The run behind ``ordinoise reproduce``: plan the trials, run or resume them, compare, write tables and pictures."""

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
from ordinoise.jobs import (
    Failure,
    Outcome,
    ResultStore,
    StoredResult,
    executor,
    run_plan,
    trial_key,
    write_table,
)
from ordinoise.paper import findings, tables
from ordinoise.paper.comparison import Summary, orders, summarize
from ordinoise.paper.pictures import write_figure_of_rules, write_picture_of_errors
from ordinoise.paper.protocol import N_SPLITS, PAPER_SETS, PROTOCOLS, PaperTrial, plan
from ordinoise.paper.trials import load_set, run
from ordinoise.paper.tuning import best_settings, grid, run_tuning

PARTS = ("table1", "table2", "figure", "large", "all")
STORE = "results.sqlite"
# The three smallest sets, and splits enough for a standard deviation: chosen by no run.
QUICK_SETS, QUICK_SPLITS = ("synthetic", "boston", "abalone"), 3


@dataclass(frozen=True)
class Request:
    """What to reproduce.

    Attributes
    ----------
    part : {"table1", "table2", "figure", "large", "all"}
        ``large`` is the synthetic set of MSLR's full size, which is not part of ``all``.
    out : Path
        Folder of tables, pictures and results; an interrupted run is resumed in the same folder.
    datasets : tuple of str
        Some of the paper's sets; all by default.
    n_splits : int
        Random splits per set.
    protocol : {"inferred", "printed", "authors"}
        See `ordinoise.paper.protocol.Protocol`.
    tune : bool
        Whether to run the paper's grid search first; otherwise 10 hidden units and a learning rate of 0.001.
    data_dir : path, optional
        Folder of the real sets; ORDINOISE_DATA by default.
    workers, scheduler, cluster
        Where to run, see `ordinoise.jobs.executor`.
    """

    part: str
    out: Path
    datasets: tuple[str, ...] = PAPER_SETS
    n_splits: int = N_SPLITS
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
    """Callbacks for a progress display."""

    def start(self, what: str, n_trials: int) -> None:
        """Called before a plan of `n_trials` trials runs."""

    def reuse(self, n_trials: int) -> None:
        """Called with the number of trials that the store holds already."""

    def advance(self, result: StoredResult | Failure, seconds_left: float, /) -> None:
        """Called after each trial with its result or failure."""


@dataclass(frozen=True)
class Reproduction:
    """Tables, findings and files of a run.

    Attributes
    ----------
    tables : list of TextTable
    sentences : list of str
        The findings.
    files : list of Path
        The files that were written.
    failures : list of Failure
        Trials that raised an error; their cells are missing.
    """

    tables: list[TextTable] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def reproduce(request: Request, progress: Progress) -> Reproduction:
    """Run the requested trials that have no result yet, and write tables, report and pictures.

    Parameters
    ----------
    request : Request
    progress : Progress
        Called before each plan and after each trial.
    """
    own_folder("out", request.out, {STORE, "figure.png"})
    if request.part == "figure":
        return Reproduction(files=write_figure_of_rules(request.out, request.protocol))
    with (
        executor(request.workers, request.scheduler, request.cluster) as pool,
        ResultStore(request.out / STORE) as store,
        warnings.catch_warnings(),
    ):
        # Estimates on every noise are compared here, including unidentifiable ones.
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        warnings.filterwarnings("ignore", "noise_matrix is nearly singular")
        if request.scheduler is None:
            for name in _sets(request):  # report a missing file before any trial runs
                load_set(name, _folder(request))
        loop = None if request.part == "large" else _loop_microseconds(request)
        outcome = _run(request, partial(_run_with_progress, store=store, executor=pool, progress=progress))
    return _written(request, outcome, _timing(request, outcome, loop))


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
    return run_all(request.part, trials, partial(run, data_dir=_folder(request)))


def _run_with_progress(
    what: str, trials: Sequence[Any], function: Callable[[Any], Any], *, store: ResultStore, executor: Any,
    progress: Progress,
) -> Outcome:  # fmt: skip
    progress.start(what, len(trials))
    progress.reuse(len(store.keys() & {trial_key(trial) for trial in trials}))
    return run_plan(trials, function, store, executor, on_result=progress.advance)


def _written(request: Request, outcome: Outcome, timing: str) -> Reproduction:
    summary = summarize(outcome.results)
    shown = _tables(request, summary)
    found = orders(summary) if request.part in ("table1", "all") else []
    sentences = [*findings.agreement(summary), *findings.orders_seen(found)] if found else []
    if request.tune:
        sentences += findings.settings_found(outcome.results)
    if request.part != "large":
        sentences += findings.consistency(summary)
    if found:
        shown["orders"] = tables.order_table(found)
    files = [path for name, table in shown.items() for path in write_tables(request.out, name, table)]
    write_table(outcome.results, request.out / "trials.csv")
    # The timing is printed and not written, so that an interrupted and resumed run writes the same report.
    page = "\n".join(
        ["# The paper, re-run", "", *(f"- {one}" for one in sentences), "", *map(markdown, shown.values())]
    )
    write_whole(request.out / "report.md", page.encode())
    files += [request.out / "trials.csv", request.out / "report.md", *write_picture_of_errors(request.out, summary)]
    if request.part == "all":
        files += write_figure_of_rules(request.out, request.protocol)
    return Reproduction(list(shown.values()), [*sentences, timing], files, outcome.failures)


def _timing(request: Request, outcome: Outcome, loop: dict[str, float] | None) -> str:
    if request.part == "large":  # its estimator uses larger batches, to which the loop's time per update does not apply
        busy = sum(stored.seconds for stored in outcome.results)
        return f"{len(outcome.results)} trials took {busy:.0f} seconds, summed over the workers."
    measured = None if loop is None else findings.speed(outcome.results, loop, outcome.seconds)
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
        forward = tables.forward_table(summary)
        shown |= {"forward": forward} if forward else {}
        if any(group.noise == "asymmetric" for group in summary):
            shown["asymmetric"] = tables.asymmetric_table(summary)
        if any(group.dataset == "california" for group in summary):
            shown["estimated_matrix"] = tables.matrix_table(summary)
    return shown


def _is_for_large(trial: PaperTrial) -> bool:
    """Cross-entropy without anchor points, clean and noisy: enough to show the time at full size."""
    return trial.loss == "cross_entropy" and (trial.correction == "forward" or trial.variant != "estimated")


def _loop_microseconds(request: Request) -> dict[str, float] | None:
    try:
        return findings.loop_microseconds(_sets(request))
    except ImportError:
        return None


def _sets(request: Request) -> tuple[str, ...]:
    return ("made",) if request.part == "large" else request.datasets


def _folder(request: Request) -> str | None:
    return None if request.data_dir is None else str(Path(request.data_dir).expanduser().resolve())
