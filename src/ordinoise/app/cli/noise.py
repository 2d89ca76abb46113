"""``ordinoise noise``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import Asking


def noise(file: Path, *, target: str, asking: Asking | None = None, json: bool = False) -> None:
    """Estimate how often each grade of a table is recorded as another, with intervals. Writes nothing.

    Example: ordinoise noise ratings.csv --target stars

    Parameters
    ----------
    file
        A table: CSV with any delimiter, Parquet or Feather.
    target
        The column of grades.
    json
        Print the findings as JSON.
    """
    from ordinoise.app.cli._console import console, show_table_words
    from ordinoise.app.cli._findings import print_json, tell_noise
    from ordinoise.app.workflow import learn
    from ordinoise.app.workflow.record import audit_record, without_suspects

    show = (lambda _: None) if json else show_table_words
    learned = learn((asking or Asking()).request(file, target, verbose=True), on_table=show)
    record = audit_record(learned, 0)
    if json:
        print_json(without_suspects(record))
    else:
        tell_noise(console(), record)
