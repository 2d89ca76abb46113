"""``ordinoise evaluate``."""

from __future__ import annotations

from pathlib import Path


def evaluate(model: Path, file: Path, *, trusted: bool = False, target: str | None = None, json: bool = False) -> None:
    """Score a model on a table, as the recorded grades show it and as clean grades would.

    Example: ordinoise evaluate model test.csv

    Parameters
    ----------
    model
        A folder that ordinoise fit wrote.
    file
        A table that the model was not fitted to, with grades.
    trusted
        The grades of this table are right.
    target
        The column of grades; that of the training table by default.
    json
        Print the scores as JSON.
    """
    from ordinoise.app.cli._console import console
    from ordinoise.app.cli._findings import print_json, tell_scores
    from ordinoise.app.workflow import evaluate_file

    scores = evaluate_file(model, file, trusted=trusted, target=target)
    if json:
        print_json({"scores": scores.to_dict(), "n_samples": scores.n_samples, "confidence": scores.confidence})
        return
    noisy = "grades taken as right" if trusted else "grades as noisy as those of the training table"
    tell_scores(console(), scores, f"{scores.n_samples:,} rows of {file}, {noisy}")
