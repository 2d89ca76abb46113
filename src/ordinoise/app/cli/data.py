"""``ordinoise data``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import Json


def data(
    name: str | None = None,
    *,
    out: Path | None = None,
    data_dir: Path | None = None,
    fetch: bool = False,
    json: Json = False,
) -> None:
    """List the data sets that ordinoise can read, or write one as a table with a column "grade".

    Example: ordinoise data diabetes --out diabetes.csv

    Parameters
    ----------
    name
        Data set to write; without it the list is shown.
    out
        New file: .csv, .tsv, .jsonl, .parquet or .feather.
    data_dir
        Folder of downloaded archives; the environment variable ORDINOISE_DATA by default. Embedded sets need none.
    fetch
        Download the set from OpenML instead, if it is there.
    """
    from dataclasses import asdict

    from ordinoise.app.cli._console import console, say
    from ordinoise.app.cli._findings import catalogue_table, print_json

    if name is None:
        from ordinoise.datasets import catalogue

        if json:
            print_json([asdict(entry) for entry in catalogue()])
        else:
            console().print(catalogue_table())
        return
    from ordinoise.app.verbs.catalogue import write_dataset

    entry = write_dataset(name, out, data_dir=data_dir, fetch=fetch)
    if json:
        print_json(entry)
    else:
        words = f"{entry['n_rows']:,} rows, {entry['n_features']} features, grades {entry['classes']}"
        say(console(), f"{name}: {words}, written to {entry['out']}")
