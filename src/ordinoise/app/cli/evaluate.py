"""``ordinoise evaluate``."""

from __future__ import annotations

from math import isfinite

from ordinoise.app.cli._options import EvaluationOptions, Json


def evaluate(request: EvaluationOptions, *, json: Json = False) -> None:
    """Score a model on a table: on its recorded grades, and corrected for their noise.

    Example: ordinoise evaluate model test.csv
    """
    from ordinoise.app.cli._columns import check_columns

    check_columns(request)
    from ordinoise.app.cli._console import console, show_opened
    from ordinoise.app.cli._findings import print_json, show_belief, show_scores
    from ordinoise.app.verbs.model import evaluate_file

    scores, baseline = evaluate_file(request, on_opened=show_opened)
    if json:
        facts = ("n_samples", "confidence", "in_doubt", "answer", "reason")
        known = {name: score for name, score in baseline.scores.items() if isfinite(score)}
        always = {"grade": baseline.grade, "scores": known}
        print_json({"scores": scores.to_dict(), **{name: getattr(scores, name) for name in facts}, "baseline": always})
        return
    noisy = "grades taken to be right" if request.trusted else "grades taken to be as noisy as the training grades"
    screen = console()
    show_scores(screen, scores, f"{scores.n_samples:,} rows of {request.file}, {noisy}", baseline)
    if not request.trusted:
        screen.print(
            "Assumed: these grades are wrong as often as those that the model was fitted to. If they were verified, "
            "--trusted compares with them as they are."
        )
    show_belief(screen, scores)
