"""``ordinoise fit``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import Json, RequestOptions


def fit(
    request: RequestOptions, *, out: Path = Path("model"), reviewed: Path | None = None, json: Json = False
) -> None:
    """Estimate the label noise of a table, and fit a model that corrects for it. Writes a new folder.

    Example: ordinoise fit ratings.csv --target stars --out model

    Parameters
    ----------
    out
        New folder for the model and its report.html.
    reviewed
        Folder of an audit, or of ordinoise raters (with --item); its settled grades, and those of the
        audits before it, are trusted.
    """
    from ordinoise._files import refuse_existing
    from ordinoise.app.cli._columns import check_columns
    from ordinoise.app.cli._console import console, say, say_continued, show_stage, show_table
    from ordinoise.app.cli._findings import print_record, show_noise, show_scores
    from ordinoise.app.cli._parts import refuse_scheduler

    refuse_existing("out", out)
    check_columns(request)
    from ordinoise.app.out_of_core.files import is_read_in_parts, refuse_in_parts
    from ordinoise.app.report.action import baseline_of
    from ordinoise.app.rounds.history import history_for
    from ordinoise.app.verbs.model import fit_file

    show = show_table(is_quiet=json)
    if is_read_in_parts(request.file, request.scheduler):
        from ordinoise.app.out_of_core.verbs import fit_parts

        refuse_in_parts(reviewed=reviewed)
        found, record = fit_parts(request, out, on_table=show, on_stage=show_stage(is_quiet=json))
    else:
        refuse_scheduler(request.scheduler)
        say_continued(out)
        history = None if reviewed is None else history_for(reviewed, request)
        found, record = fit_file(request, out, history=history, on_table=show, verbose=True)
    if json:
        more = {"weights": dict(found.model.weights_), "scores": found.scores.to_dict(), "out": str(out)}
        print_record(record, more)
        return
    screen = console()
    show_noise(screen, record)
    title = "Out of fold: every row is predicted by models that were not fitted to it"
    show_scores(screen, found.scores, title, baseline_of(found.recorded, record.classes, list(found.scores.scores)))
    shares = ", ".join(f"{name} {share:.0%}" for name, share in found.model.weights_.items() if share > 0)
    say(screen, f"Weights of the learners: {shares}.")
    screen.print()
    say(screen, f" {out}: the model, and report.html (open it in a browser)", bold="Written")
    say(screen, f"Next: ordinoise predict {out} new.csv --out graded.csv")
