"""``ordinoise reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ordinoise.app.cli._options import Json

if TYPE_CHECKING:
    from rich.console import Console

    from ordinoise.paper.reproduction import Reproduction, Request


def reproduce(
    part: str,
    *,
    data_dir: Path | None = None,
    out: Path = Path("reproduction"),
    datasets: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    trials: int = 20,
    quick: bool = False,
    protocol: str = "inferred",
    tune: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    cluster: str | None = None,
    json: Json = False,
) -> None:
    """Re-run the paper's experiments and compare with its printed numbers. A stopped run continues where it ended.

    Example: ordinoise reproduce all --data-dir DIR

    Parameters
    ----------
    part
        table1, table2, figure, large (a synthetic set of 1.2 million rows) or all (everything but large).
    data_dir
        Folder of the real data sets; the environment variable ORDINOISE_DATA by default.
    out
        Folder for tables (Markdown, CSV, LaTeX), pictures (PNG, SVG) and the stored trials.
    datasets
        One or more of synthetic, boston, abalone, computer, california, mslr; all by default.
    trials
        Number of random splits per data set; the paper has 20.
    quick
        Three splits of the three smaller data sets: a first look in a minute.
    protocol
        inferred (from the authors' released runs: 200 epochs, 240 with estimated rates), printed (300 epochs), or
        authors (inferred, with the optimizer recreated every epoch as in their code).
    tune
        Search the paper's grid of hidden units and learning rates first.
    workers
        Number of trials to run in parallel; one per processor by default.
    scheduler
        Address of a dask scheduler, tcp://host:port, to run on its cluster.
    cluster
        local: start dask workers on this machine.
    """
    from ordinoise.app.cli._console import TrialProgress
    from ordinoise.app.cli._console import console as make_console
    from ordinoise.paper import PAPER_SETS
    from ordinoise.paper.reproduction import QUICK_SETS, QUICK_SPLITS, Request, reproduce

    chosen = tuple(datasets) if datasets else (QUICK_SETS if quick else PAPER_SETS)
    n_splits = min(trials, QUICK_SPLITS) if quick else trials
    request = Request(part, out, chosen, n_splits, protocol, tune, data_dir, workers, scheduler, cluster)
    console = make_console(stderr=json)
    with TrialProgress(console) as progress:
        outcome = reproduce(request, progress)
    if json:
        from dataclasses import asdict

        from ordinoise.app.cli._findings import print_json

        failures = [f"{failure.trial}: {failure.error}" for failure in outcome.failures]
        found = {"tables": [asdict(table) for table in outcome.tables], "sentences": list(outcome.sentences)}
        print_json(found | {"failures": failures, "files": [str(file) for file in outcome.files]})
    else:
        _show(console, request, outcome)
    if outcome.failures:
        raise SystemExit(1)


def _show(console: Console, request: Request, outcome: Reproduction) -> None:
    from ordinoise.app.cli._console import rich_table, say

    for table in outcome.tables:
        console.print(rich_table(table, grouped=True))
        console.print()
    for sentence in outcome.sentences:
        say(console, f"- {sentence}")
    for failure in outcome.failures:
        say(console, f" {failure.trial}: {failure.error}", bold="failed")
    console.print()
    say(console, f"{len(outcome.files)} files in {request.out}/")
