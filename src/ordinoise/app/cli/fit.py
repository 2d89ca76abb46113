"""``ordinoise fit``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import Asking


def fit(
    file: Path,
    *,
    target: str,
    out: Path = Path("model"),
    decisions: Path | None = None,
    asking: Asking | None = None,
    json: bool = False,
) -> None:
    """Learn the grades of a table as if they were right: estimate their noise, fit, say how sure it is.

    Example: ordinoise fit ratings.csv --target stars --out model

    Parameters
    ----------
    file
        A table: CSV with any delimiter, Parquet or Feather.
    target
        The column of grades.
    out
        The new folder for the model and its report.html.
    decisions
        An audit's folder, whose reviewed grades are trusted.
    json
        Print the findings as JSON.
    """
    from ordinoise._files import refuse_existing
    from ordinoise.app.cli._console import console, show_table_words
    from ordinoise.app.cli._findings import print_json, tell_noise, tell_scores

    refuse_existing("out", out)
    from ordinoise.app.workflow import fit_file, settled_labels
    from ordinoise.app.workflow.record import without_suspects

    trusted = None if decisions is None else settled_labels(decisions, file)
    request = (asking or Asking()).request(file, target, verbose=True)
    show = (lambda _: None) if json else show_table_words
    learned, record = fit_file(request, out, trusted=trusted, on_table=show)
    if json:
        found = {"weights": dict(learned.model.weights_), "scores": learned.scores.to_dict(), "out": str(out)}
        print_json(without_suspects(record) | found)
        return
    screen = console()
    tell_noise(screen, record)
    tell_scores(screen, learned.scores, "Out of fold: every row judged by models that did not see it")
    shares = ", ".join(f"{name} {share:.0%}" for name, share in learned.model.weights_.items() if share > 0)
    screen.print(f"Prediction made of: {shares}.", markup=False, highlight=False)
    screen.print(f"\n[bold]Written[/] {out}: the model, and report.html (open it in a browser)")
    screen.print(f"Next: ordinoise predict {out} new.csv --out graded.csv", markup=False, highlight=False)
