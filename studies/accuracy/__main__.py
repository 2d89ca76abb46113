"""``python -m studies.accuracy``: our learners compared with those of other libraries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ordinoise.jobs import StoredResult

STORE = "results.sqlite"


def accuracy(
    *,
    data_dir: Path | None = None,
    out: Path = Path("accuracy"),
    quick: bool = False,
    datasets: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    contestants: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    noises: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    splits: int | None = None,
    max_rows: int | None = None,
    workers: int = 1,
    docs: Path | None = None,
    json: bool = False,
) -> None:
    """Compare our learners with those of other libraries, with and without label noise. Run again to resume.

    Every result is also kept in studies/results/accuracy.csv, from which the next run continues; remove it to measure
    anew.

    Example: python -m studies.accuracy --quick --data-dir DIR

    Parameters
    ----------
    data_dir
        Folder of the real sets; the environment variable ORDINOISE_DATA by default.
    out
        Folder for the page, the table, the pictures and the stored results.
    quick
        Three splits, at most 2000 training rows, no slow contestants.
    datasets
        Some of the sets; all by default.
    contestants
        Some of the learners; by default all those whose packages are installed.
    noises
        Some of uniform, conditional, adjacent, perceived, none.
    splits
        Random splits per set; ten by default.
    max_rows
        Largest number of training rows; 4000 by default.
    workers
        Number of processes, one contest at a time in each.
    docs
        Folder of the documentation, whose page and pictures of the study are written anew.
    json
        Print the mean ranks as JSON.
    """
    from functools import partial

    from ordinoise._files import own_folder
    from ordinoise.app.cli._console import TrialProgress, console
    from ordinoise.jobs import run_plan, trial_key
    from studies.accuracy import CONTESTANTS, missing, plan, processes, run
    from studies.accuracy.pages import short_table
    from studies.results import FOLDER, kept
    from studies.sources import package_state

    planned = partial(
        plan, "quick" if quick else "default", datasets=datasets, noises=noises, splits=splits, max_rows=max_rows
    )
    contests = planned(contestants=contestants)
    own_folder("out", out, {STORE})
    terminal = console(stderr=json)
    absent = missing() if contestants is None else {}
    for sentence in absent.values():
        terminal.print(sentence, markup=False)
    folder = None if data_dir is None else str(data_dir.expanduser().resolve())
    package = package_state("studies.accuracy.measurement")
    with (
        kept(
            FOLDER / "accuracy.csv", out / STORE, package, lambda trial: CONTESTANTS[trial["contestant"]].is_ours
        ) as store,
        processes(workers) as pool,
        TrialProgress(terminal) as progress,
    ):
        found = store.keys()
        contests += tuple(contest for contest in planned(contestants=absent) if trial_key(contest) in found)
        progress.start("accuracy", len(contests))
        progress.reuse(len(found & {trial_key(contest) for contest in contests}))
        outcome = run_plan(
            contests, partial(run, data_dir=folder, package=package), store, pool, on_result=progress.advance,
            n_in_flight=4,
        )  # fmt: skip
    for failure in outcome.failures:
        terminal.print(f"failed: {failure.trial}: {failure.error}", markup=False)
    ranks = _write(terminal, outcome.results, out)
    if docs is not None:
        _copy(out, docs)
        (docs / "_measured" / "accuracy-short.md").write_text(short_table(outcome.results) + "\n")
    if json:
        from ordinoise.app.cli._findings import print_json

        print_json({"mean_ranks": ranks, "n_results": len(outcome.results), "out": str(out)})
    if outcome.failures:
        raise SystemExit(1)


def _write(terminal: Console, results: Sequence[StoredResult], out: Path) -> dict[str, dict[str, float]]:
    """Write tables and pictures; returns the mean ranks on noisy and on clean labels."""
    from studies.accuracy import CONTESTANTS, mean_ranks, summary, write_csv, write_markdown
    from studies.accuracy.pages import FRONT_DOOR, fewer_splits
    from studies.accuracy.pictures import write_ranks
    from studies.accuracy.ranks import comparisons

    shown: dict[str, dict[str, float]] = {}
    fewer = fewer_splits(summary(results))
    write_csv(results, out / "accuracy.csv")
    write_markdown(results, out / "accuracy.md")
    for name, noisy in (("noisy", True), ("clean", False)):
        try:
            ranks = mean_ranks(results, noisy=noisy)
        except ValueError:  # too few entries or problems to rank
            continue
        shown[name] = dict(zip(ranks.entries, ranks.mean_ranks, strict=True))
        title = f"Mean ranks by mean absolute error, {name} labels, {ranks.n_sets} sets"
        terminal.print(f"\n[bold]{title}[/] (critical difference {ranks.critical_difference:.2f})")
        terminal.print(f"beside each, by how much the error of {FRONT_DOOR} is lower (95 % interval over sets)")
        ahead = comparisons(results, FRONT_DOOR, noisy=noisy)
        placed = dict(zip(ranks.entries, ranks.mean_ranks, strict=True)) | dict.fromkeys(ranks.skipped)
        for entry, rank in placed.items():
            one = ahead.get(entry)
            gap = "" if one is None else f"{one.mean:+.3f} ({one.low:+.3f} to {one.high:+.3f}){fewer.get(entry, '')}"
            place = "    -" if rank is None else f"{rank:5.2f}"
            terminal.print(f"  {place}  {entry:30}{gap}", highlight=False, markup=False)
        if len(ranks.entries) > 1:
            ours = [entry for who in CONTESTANTS.values() if who.is_ours for entry in who.entries.values()]
            for suffix in ("png", "svg"):
                write_ranks(
                    out / f"ranks-{name}.{suffix}", ranks.entries, ranks.mean_ranks, ranks.critical_difference,
                    title=title, highlighted=ours,
                )  # fmt: skip
    terminal.print(f"\n{len(results)} results in {out}/accuracy.md and accuracy.csv", markup=False)
    return shown


def _copy(out: Path, docs: Path) -> None:
    """The page, below the heading of the one that includes it, and its pictures."""
    page = (out / "accuracy.md").read_text().partition("\n\n")[2]
    (docs / "_measured" / "accuracy.md").write_text(re.sub(r"^##", "###", page, flags=re.MULTILINE))
    for name in ("noisy", "clean"):
        (docs / "_static" / f"ranks-{name}.png").write_bytes((out / f"ranks-{name}.png").read_bytes())


if __name__ == "__main__":
    app = App(name="accuracy", default_parameter=Parameter(negative=""))
    app.default(accuracy)
    try:
        app()
    except ValueError as error:
        raise SystemExit(str(error)) from None
