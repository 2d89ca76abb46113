"""``ordinoise evaluate``."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from ordinoise.app.cli._options import Json


def evaluate(
    model: Path,
    file: Path,
    *,
    trusted: bool = False,
    target: str | None = None,
    no_header: bool = False,
    embeddings: Path | None = None,
    text_model: str | None = None,
    json: Json = False,
) -> None:
    """Score a model on a table: on its recorded grades, and corrected for their noise.

    Example: ordinoise evaluate model test.csv

    Parameters
    ----------
    model
        Folder written by ordinoise fit.
    file
        Table with grades that the model was not fitted to.
    trusted
        Take the grades of this table to be right.
    target
        Column of grades; named as in training by default.
    no_header
        The first row of the CSV file is data; its columns are called column_1, column_2, ...
    embeddings
        File with one vector per row, if the model was made with one.
    text_model
        Model that makes vectors of the free text, if the model was made with one.
    """
    from ordinoise.app.cli._console import console
    from ordinoise.app.cli._findings import print_json, show_belief, show_scores
    from ordinoise.app.verbs.model import evaluate_file

    scores, baseline = evaluate_file(
        model,
        file,
        trusted=trusted,
        target=target,
        header=not no_header,
        embeddings=embeddings,
        text_model=text_model,
    )
    if json:
        facts = ("n_samples", "confidence", "in_doubt", "answer", "reason")
        known = {name: score for name, score in baseline.scores.items() if isfinite(score)}
        always = {"grade": baseline.grade, "scores": known}
        print_json({"scores": scores.to_dict(), **{name: getattr(scores, name) for name in facts}, "baseline": always})
        return
    noisy = "grades taken to be right" if trusted else "grades taken to be as noisy as the training grades"
    screen = console()
    show_scores(screen, scores, f"{scores.n_samples:,} rows of {file}, {noisy}", baseline)
    if not trusted:
        screen.print(
            "Assumed: these grades are wrong as often as those that the model was fitted to. If they were verified, "
            "--trusted compares with them as they are."
        )
    show_belief(screen, scores)
