"""``ordinoise corrupt``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import CorruptionOptions, Json


def corrupt(request: CorruptionOptions, *, out: Path, json: Json = False) -> None:
    """Copy a table with noise added to its grades, for experiments. All other cells are kept.

    Example: ordinoise corrupt ratings.csv --target stars --out noisy.csv --rate 0.15

    Parameters
    ----------
    out
        New file: .csv, .tsv, .jsonl, .parquet or .feather.
    """
    from ordinoise.app.cli._columns import check_columns

    check_columns(request)
    from ordinoise._text import matrix_text
    from ordinoise.app.cli._console import console, rich_table, say
    from ordinoise.app.cli._findings import print_json
    from ordinoise.app.verbs.corruption import corrupt_file

    done = corrupt_file(request, out)
    if json:
        found = {"classes": done.classes, "noise_matrix": done.noise_matrix, "n_graded": done.n_graded}
        print_json(found | {"n_changed": done.n_changed, "out": str(out)})
        return
    screen = console()
    screen.print(rich_table(matrix_text("Added noise", done.classes, done.noise_matrix)))
    share = done.n_changed / done.n_graded
    say(screen, f"{done.n_changed:,} of {done.n_graded:,} grades changed ({share:.0%}), written to {out}")
