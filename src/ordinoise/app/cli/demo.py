"""``ordinoise demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ordinoise._validation import Floats
    from ordinoise.app.workflow.demo import Story


def demo(out: Path = Path("demo"), *, splits: int = 5, seed: int = 0, json: bool = False) -> None:
    """The whole story on embedded data: noise put in, learned under, and estimated. Takes half a minute.

    Example: ordinoise demo --out demo --splits 5

    Parameters
    ----------
    out
        Folder for the picture; made if absent.
    splits
        Fresh draws of data and noise to average over.
    seed
        The same seed tells the same story.
    json
        Print the errors and the matrices as JSON.
    """
    from rich.progress import Progress

    from ordinoise._validation import as_count
    from ordinoise.app.cli._console import console as make_console

    as_count("splits", splits, 1)
    as_count("seed", seed, 0)
    out.mkdir(parents=True, exist_ok=True)
    console = make_console(stderr=json)
    console.print("[bold]ordinoise demo[/]: four ordered grades in the plane, labels corrupted by noise of known size.")
    console.print("The first fit compiles the network (once a machine); then a fit takes a fraction of a second.\n")
    with Progress(console=console, transient=True) as progress:
        from ordinoise.app.workflow.demo import contestants, tell
        from ordinoise.noise import inverse_decay

        task = progress.add_task("fitting", total=splits * len(contestants(inverse_decay(4, 0.15))))
        story = tell(out / "panels.png", splits, seed, on_fit=lambda: progress.advance(task))
    if json:
        from ordinoise.app.cli._findings import print_json

        errors = {outcome.name: float(outcome.mean_absolute_errors.mean()) for outcome in story.outcomes}
        matrices = {"noise_matrix": story.noise_matrix.tolist(), "estimated_matrix": story.estimated_matrix.tolist()}
        print_json({"mean_absolute_errors": errors, **matrices, "picture": str(story.picture)})
    else:
        _print_story(console, story)


def _print_story(console: Console, story: Story) -> None:
    from rich.columns import Columns

    console.print(f"Labels recorded wrong in the first training set: {story.share_wrong:.0%}.\n")
    console.print(_outcome_table(story))
    matrices = {"Noise put in": story.noise_matrix, "Noise estimated": story.estimated_matrix}
    console.print(Columns([_matrix_table(title, matrix) for title, matrix in matrices.items()]))
    error = abs(story.noise_matrix - story.estimated_matrix).mean()
    console.print(f"Mean difference of the two matrices: {error:.3f}. Picture: {story.picture}\n")
    console.print("[bold]Your own table[/] (the target is a column of ordered grades):\n")
    console.print(
        "  ordinoise audit ratings.csv --target stars    # which grades are wrong: a report to open in a browser\n"
        "  ordinoise fit ratings.csv --target stars      # a model that learns as if they were right\n\n"
        "or in Python:\n\n"
        "  import pandas as pd\n"
        "  from ordinoise import OrdinalClassifier, find_label_issues\n"
        '  table = pd.read_csv("ratings.csv")\n'
        '  X, stars = table.drop(columns="stars"), table["stars"]\n'
        "  model = OrdinalClassifier().fit(X, stars)\n"
        "  model.noise_matrix_                      # how wrong the grades are\n"
        "  find_label_issues(X, stars).to_frame()   # which ones to look at first",
        highlight=False,
        markup=False,
    )


def _outcome_table(story: Story) -> Table:
    from rich.table import Table

    table = Table(title="Error on clean test labels, mean over splits (and standard deviation)", title_justify="left")
    table.add_column("trained on")
    table.add_column("mean absolute error", justify="right")
    table.add_column("0-1 error", justify="right")
    for outcome in story.outcomes:
        cells = [f"{e.mean():.3f} ({e.std():.3f})" for e in (outcome.mean_absolute_errors, outcome.zero_one_losses)]
        table.add_row(outcome.name, *cells)
    return table


def _matrix_table(title: str, matrix: Floats) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("true \\ recorded")
    for label in range(len(matrix)):
        table.add_column(str(label), justify="right")
    for label, row in enumerate(matrix):
        table.add_row(str(label), *[f"{entry:.2f}" for entry in row])
    return table
