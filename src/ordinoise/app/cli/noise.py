"""``ordinoise noise``."""

from __future__ import annotations

from ordinoise.app.cli._options import Json, RequestOptions


def noise(request: RequestOptions, *, json: Json = False) -> None:
    """Estimate how often each grade of a table is recorded as another, with intervals. Writes nothing.

    Example: ordinoise noise ratings.csv --target stars
    """
    from ordinoise.app.cli._console import console, show_table
    from ordinoise.app.cli._findings import print_json, show_matrix, show_rate
    from ordinoise.app.workflow.fit import estimate

    table, found = estimate(request, on_table=show_table(is_quiet=json), verbose=True)
    classes = [str(grade) for grade in table.classes]
    if json:
        head = {"target": table.target, "classes": classes, "n_graded": len(table.rows), "cautions": table.cautions}
        print_json(head | {"noise": found.to_dict(replicates=False)})
        return
    if "no-signal" not in found.doubt_codes:
        show_matrix(console(), found, classes)
    show_rate(console(), found, len(table.rows))
