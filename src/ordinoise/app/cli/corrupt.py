"""``ordinoise corrupt``."""

from __future__ import annotations

from pathlib import Path


def corrupt(
    file: Path,
    *,
    target: str,
    out: Path,
    rate: float = 0.15,
    kind: str = "inverse_decay",
    noise: Path | None = None,
    order: str | None = None,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Copy a table with some of its grades recorded wrong, to try things on. Every other cell stays as it is.

    Example: ordinoise corrupt ratings.csv --target stars --out noisy.csv --rate 0.15

    Parameters
    ----------
    file
        A table: CSV with any delimiter, Parquet or Feather.
    target
        The column of grades.
    out
        The new file.
    rate
        How much: for inverse_decay the chance of each neighbouring grade, half as much two grades off, and so on.
    kind
        inverse_decay, exponential_decay, adjacent or uniform.
    noise
        A file with the noise matrix instead: a line a true grade, no header.
    order
        Grades from lowest to highest, such as low,medium,high; needed where they are text.
    seed
        The same seed gives the same file.
    json
        Print what was done as JSON.
    """
    from ordinoise.app.cli._console import console
    from ordinoise.app.cli._findings import matrix_table, print_json
    from ordinoise.app.workflow import corrupt_file

    done = corrupt_file(file, target, out, rate=rate, kind=kind, order=order, noise=noise, seed=seed)
    if json:
        found = {"classes": done.classes, "noise_matrix": done.noise_matrix.tolist(), "n_graded": done.n_graded}
        print_json(found | {"n_changed": done.n_changed, "out": str(out)})
        return
    screen = console()
    screen.print(matrix_table("Noise put in", done.classes, done.noise_matrix.tolist()))
    share = done.n_changed / done.n_graded
    screen.print(f"{done.n_changed:,} of {done.n_graded:,} grades recorded wrong ({share:.0%}), written to {out}")
