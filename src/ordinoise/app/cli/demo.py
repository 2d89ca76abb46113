"""``ordinoise demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ordinoise.app.cli._options import Json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ordinoise.app.verbs.demo import DemoResult


def demo(out: Path = Path("demo"), *, splits: int = 5, seed: int = 0, json: Json = False) -> None:
    """Compare five ways to learn from noisy labels on synthetic data, and estimate the noise. Takes half a minute.

    Example: ordinoise demo --out demo --splits 5

    Parameters
    ----------
    out
        Folder for the picture; created if it does not exist.
    splits
        Number of fresh draws of data and noise to average over.
    seed
        Random seed; the same seed gives the same result.
    """
    from rich.progress import Progress

    from ordinoise._validation import as_count
    from ordinoise.app.cli._console import console as make_console

    as_count("splits", splits, 1)
    as_count("seed", seed, 0)
    out.mkdir(parents=True, exist_ok=True)
    console = make_console(stderr=json)
    console.print("[bold]ordinoise demo[/]: four ordered grades in the plane, labels corrupted by known noise.")
    console.print("The first fit compiles the network (once per machine); later fits take a fraction of a second.\n")
    with Progress(console=console, transient=True) as progress:
        from ordinoise.app.verbs.demo import CONTESTANTS, run_demo

        task = progress.add_task("fitting", total=splits * len(CONTESTANTS))
        result = run_demo(out / "panels.png", splits, seed, on_fit=lambda: progress.advance(task))
    if json:
        from ordinoise.app.cli._findings import print_json

        errors = {outcome.name: float(outcome.mean_absolute_errors.mean()) for outcome in result.outcomes}
        matrices = {
            "noise_matrix": result.noise_matrix.tolist(),
            "estimated_matrix": result.estimates[0].matrix.tolist(),
        }
        doubts = [estimate.doubt_text for estimate in result.estimates if estimate.is_in_doubt]
        print_json({"mean_absolute_errors": errors, **matrices, "doubts": doubts, "picture": str(result.picture)})
    else:
        _print_result(console, result)


def _print_result(console: Console, result: DemoResult) -> None:
    from rich.columns import Columns

    from ordinoise._text import matrix_text
    from ordinoise.app.cli._console import rich_table, say

    console.print(f"Wrong labels in the first training set: {result.share_wrong:.0%}.\n")
    console.print(_error_table(result))
    estimated = result.estimates[0].matrix
    matrices = {"True noise": result.noise_matrix, "Estimated noise": estimated}
    console.print(
        Columns([rich_table(matrix_text(title, range(len(matrix)), matrix)) for title, matrix in matrices.items()])
    )
    error = abs(result.noise_matrix - estimated).mean()
    say(console, f"Mean absolute difference of the two matrices: {error:.3f}. Picture: {result.picture}")
    doubted = [estimate for estimate in result.estimates if estimate.is_in_doubt]
    if doubted:
        share = f"{len(doubted)} of {len(result.estimates)} estimates"
        say(console, f" {share}, for example since {doubted[0].doubt_text}.", bold="In doubt:")
    console.print()
    console.print("[bold]Your own table[/] (the target is a column of ordered grades):\n")
    console.print(
        "  ordinoise audit ratings.csv --target stars    # which grades look wrong: a report for the browser\n"
        "  ordinoise fit ratings.csv --target stars      # a model that corrects for the noise\n\n"
        "or in Python:\n\n"
        "  import pandas as pd\n"
        "  from ordinoise import OrdinalClassifier, find_label_issues\n"
        '  table = pd.read_csv("ratings.csv")\n'
        '  X, stars = table.drop(columns="stars"), table["stars"]\n'
        "  model = OrdinalClassifier().fit(X, stars)\n"
        "  model.noise_matrix_                      # how often each grade is recorded as another\n"
        "  find_label_issues(X, stars).to_frame()   # which ones to check first",
        highlight=False,
        markup=False,
    )


def _error_table(result: DemoResult) -> Table:
    from ordinoise._text import TextTable
    from ordinoise.app.cli._console import rich_table

    rows = tuple(
        (one.name, *(f"{e.mean():.3f} ({e.std():.3f})" for e in (one.mean_absolute_errors, one.zero_one_losses)))
        for one in result.outcomes
    )
    title = "Error on clean test labels, mean over splits (and standard deviation)"
    return rich_table(TextTable(title, ("trained on", "mean absolute error", "0-1 error"), rows))
