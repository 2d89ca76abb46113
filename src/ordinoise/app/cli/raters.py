"""``ordinoise raters``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ordinoise.app.cli._options import Json, RatingsOptions


def raters(
    request: RatingsOptions,
    *,
    out: Path = Path("raters"),
    items: int = 1000,
    label_studio: bool = False,
    excel_safe: bool = False,
    dialect: Literal["file", "plain"] = "file",
    json: Json = False,
) -> None:
    """Find the consensus of several raters, how each of them grades, and which items to read again.

    Example: ordinoise raters grades.csv --item id --rater who --grade stars --out raters

    Parameters
    ----------
    out
        New folder for consensus.csv, raters.csv, items.csv, report.html and raters.json.
    items
        Largest number of items to keep for review.
    label_studio
        Also write label-studio.json: tasks with the consensus as a prediction, ready to import. A Label Studio export
        always gets one.
    dialect
        How the CSV files are spelled: as the file, or plain, with commas between fields and decimal points.
    excel_safe
        Put an apostrophe before text in the CSV files that a spreadsheet would run as a formula.
    """
    from ordinoise._files import refuse_existing
    from ordinoise._validation import as_count
    from ordinoise.app.cli._columns import check_columns
    from ordinoise.app.cli._console import step_progress
    from ordinoise.app.cli._findings import print_json
    from ordinoise.app.cli._ratings import show_consensus, show_ratings

    refuse_existing("out", out)
    as_count("items", items, 1)
    check_columns(request)
    from ordinoise.app.verbs.raters import rate_file

    with step_progress("fitting the raters") as on_step:
        found, record = rate_file(
            request,
            out,
            n_items=items,
            label_studio=label_studio,
            excel_safe=excel_safe,
            is_plain=dialect == "plain",
            on_table=show_ratings(is_quiet=json),
            on_step=on_step,
        )
    if json:
        print_json(record.to_dict(suspects=False) | {"out": str(out), "n_to_read_again": len(record.suspects)})
    else:
        show_consensus(found, record, out)
