"""``ordinoise noise``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import Json, RequestOptions


def noise(request: RequestOptions, *, reviewed: Path | None = None, json: Json = False) -> None:
    """Estimate how often each grade of a table is recorded as another, with intervals. Writes nothing.

    Example: ordinoise noise ratings.csv --target stars

    Parameters
    ----------
    reviewed
        Folder of an audit, or of ordinoise raters (with --item); its settled grades, and those of the audits before it,
        are trusted.
    """
    from ordinoise.app.cli._columns import check_columns

    check_columns(request)
    from ordinoise.app.cli._console import console, show_stage, show_table
    from ordinoise.app.cli._findings import print_json, show_finding
    from ordinoise.app.cli._parts import refuse_scheduler
    from ordinoise.app.out_of_core.files import is_read_in_parts, refuse_in_parts
    from ordinoise.app.rounds.history import history_for
    from ordinoise.app.verbs.fit import estimate
    from ordinoise.finding import finding_of

    show, history = show_table(is_quiet=json), None
    if is_read_in_parts(request.file, request.scheduler):
        from ordinoise.app.out_of_core.verbs import estimate_parts

        refuse_in_parts(reviewed=reviewed)
        table, found = estimate_parts(request, on_table=show, on_stage=show_stage(is_quiet=json))
    else:
        refuse_scheduler(request.scheduler)
        history = None if reviewed is None else history_for(reviewed, request)
        table, found = estimate(request, history=history, on_table=show, verbose=True)
    n_settled = 0 if history is None else len(history.settled)
    classes = [str(grade) for grade in table.classes]
    wrong = found.wrong_share and found.wrong_share.times(table.n_graded)
    what = finding_of(found, wrong, table.n_graded, thing="grade")
    if json:
        head = {"target": table.target, "classes": classes, "n_graded": table.n_graded, "cautions": table.cautions}
        head |= {"n_settled": n_settled}
        print_json(head | {"noise": found.to_dict(replicates=False), "finding": what.to_dict()})
        return
    if n_settled:
        console().print(f"{n_settled:,} settled grades are used; what follows is about all grades as recorded.")
    show_finding(console(), found, classes, what, f"{found.doubt_text}.")
