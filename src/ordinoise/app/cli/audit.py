"""``ordinoise audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ordinoise.app.cli._options import Json, RequestOptions


def audit(
    request: RequestOptions,
    *,
    out: Path = Path("audit"),
    reviewed: Path | None = None,
    suspects: int = 1000,
    excel_safe: bool = False,
    label_studio: bool = False,
    dialect: Literal["file", "plain"] = "file",
    json: Json = False,
) -> None:
    """Find the grades of a table that look wrong, and write them with a report into a new folder.

    Example: ordinoise audit ratings.csv --target stars --out audit

    Parameters
    ----------
    out
        New folder for report.html, suspects.csv, labels.csv and audit.json; of a table read in parts the labels are
        a folder too, labels.parquet.
    reviewed
        Folder of an earlier audit, or of ordinoise raters (with --item); its settled grades, and those of the
        audits before it, are trusted.
    suspects
        Largest number of suspicious rows to keep for review.
    excel_safe
        Put an apostrophe before text in suspects.csv that a spreadsheet would run as a formula.
    dialect
        How the CSV files are spelled: as the file, or plain, with commas between fields and decimal points.
    label_studio
        Also write label-studio.json, the suspicious rows as tasks to import; always written for Label Studio exports.
    """
    from ordinoise._files import refuse_existing
    from ordinoise._validation import as_count
    from ordinoise.app.cli._columns import check_columns
    from ordinoise.app.cli._console import console, say, say_continued, show_stage, show_table
    from ordinoise.app.cli._findings import print_record, show_graders, show_noise, show_suspects
    from ordinoise.app.cli._parts import refuse_scheduler

    refuse_existing("out", out)
    as_count("suspects", suspects, 1)
    check_columns(request)
    from ordinoise.app.out_of_core.files import is_read_in_parts, refuse_in_parts
    from ordinoise.app.rounds.history import history_for
    from ordinoise.app.verbs.audit import TASKS, audit_file

    show, labels = show_table(is_quiet=json), "labels.csv"
    if is_read_in_parts(request.file, request.scheduler):
        from ordinoise.app.out_of_core.verbs import LABELS, audit_parts

        refuse_in_parts(reviewed=reviewed, label_studio=label_studio)
        labels = LABELS
        _, record = audit_parts(
            request,
            out,
            n_suspects=suspects,
            excel_safe=excel_safe,
            is_plain=dialect == "plain",
            on_table=show,
            on_stage=show_stage(is_quiet=json),
        )
    else:
        refuse_scheduler(request.scheduler)
        say_continued(out)
        history = None if reviewed is None else history_for(reviewed, request)
        _, record = audit_file(
            request, out, history=history, n_suspects=suspects, excel_safe=excel_safe, label_studio=label_studio,
            is_plain=dialect == "plain", on_table=show, verbose=True,
        )  # fmt: skip
    if json:
        print_record(record, {"out": str(out), "n_suspects": len(record.suspects)})
        return
    screen = console()
    show_noise(screen, record)
    show_suspects(screen, record)
    show_graders(screen, record)
    for one in record.oddities:
        say(screen, f" {one.sentence}", bold="Also:")
    screen.print()
    files = ["report.html (open it in a browser)", "suspects.csv", labels, "audit.json"]
    files += [TASKS] if (out / TASKS).exists() else []
    say(screen, f" {out}: {', '.join(files)}", bold="Written")
    if record.suspects:
        say(screen, f"Next: ordinoise review {out}")
