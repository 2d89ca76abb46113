"""``ordinoise audit``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import Asking


def audit(
    file: Path,
    *,
    target: str,
    out: Path = Path("audit"),
    decisions: Path | None = None,
    suspects: int = 1000,
    asking: Asking | None = None,
    json: bool = False,
) -> None:
    """Find the grades of a table that are probably wrong, and write them with a report into a new folder.

    Example: ordinoise audit ratings.csv --target stars --out audit

    Parameters
    ----------
    file
        A table: CSV with any delimiter, Parquet or Feather.
    target
        The column of grades.
    out
        The new folder: report.html, suspects.csv, labels.csv, audit.json.
    decisions
        An earlier audit's folder, whose reviewed grades are trusted.
    suspects
        How many of the most suspicious rows to keep for a person to look at.
    json
        Print the findings as JSON.
    """
    from ordinoise._files import refuse_existing
    from ordinoise._validation import as_count
    from ordinoise.app.cli._console import console, show_table_words
    from ordinoise.app.cli._findings import print_json, tell_noise, tell_suspects

    refuse_existing("out", out)
    as_count("suspects", suspects, 1)
    from ordinoise.app.workflow import audit_file, settled_labels
    from ordinoise.app.workflow.record import without_suspects

    trusted = None if decisions is None else settled_labels(decisions, file)
    request = (asking or Asking()).request(file, target, verbose=True)
    show = (lambda _: None) if json else show_table_words
    _, record = audit_file(request, out, trusted=trusted, n_suspects=suspects, on_table=show)
    if json:
        print_json(without_suspects(record) | {"out": str(out), "n_suspects": len(record.suspects)})
        return
    screen = console()
    tell_noise(screen, record)
    tell_suspects(screen, record)
    screen.print(f"\n[bold]Written[/] {out}: report.html (open it in a browser), suspects.csv, labels.csv, audit.json")
    screen.print(f"Next: ordinoise review {out}", markup=False, highlight=False)
