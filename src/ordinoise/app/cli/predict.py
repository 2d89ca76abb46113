"""``ordinoise predict``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from ordinoise.app.cli._options import Json, PredictionOptions


def predict(
    request: PredictionOptions,
    *,
    out: Path | None = None,
    dialect: Literal["file", "plain"] = "file",
    json: Json = False,
) -> None:
    """Add the predicted grade and the probability of each grade to every row of a table.

    Example: ordinoise predict model new.csv --out graded.csv

    Parameters
    ----------
    out
        New file: .csv, .tsv, .jsonl, .parquet or .feather; prints CSV on standard output by default. For several
        Parquet files a new folder of them. From CSV to CSV every line is kept and gets more fields.
    dialect
        How CSV in --out is spelled: as the file, or plain, with commas between fields and decimal points.
    """
    from ordinoise._files import refuse_existing

    if out is not None:
        refuse_existing("out", out)
    from ordinoise.app.cli._console import console, say, show_opened
    from ordinoise.app.cli._findings import print_json
    from ordinoise.app.cli._parts import predict_several, refuse_scheduler
    from ordinoise.app.tables.folder import is_folder
    from ordinoise.app.verbs.model import predict_file, write_predictions

    if is_folder(request.file):
        predict_several(request, out, is_json=json)
        return
    refuse_scheduler(request.scheduler)
    is_text = not json if out is None else out.suffix.lower() in (".csv", ".tsv")
    unseen: list[str] = []
    frame = predict_file(request, as_stored=is_text, on_unseen=unseen.append, on_opened=show_opened)
    if out is not None:
        write_predictions(frame, request, out, is_plain=dialect == "plain")
    for sentence in unseen:
        say(console(stderr=True), f" {sentence}", bold="Careful:")
    if out is not None:
        counts = frame[next(name for name in frame.columns if name.startswith("predicted_"))].value_counts(sort=True)
        grades = {str(grade): count for grade, count in counts.rows()}
        if json:
            print_json({"out": str(out), "n_rows": frame.height, "predicted": grades})
            return
        spread = ", ".join(f"{grade}: {count:,}" for grade, count in grades.items())
        say(console(), f"{frame.height:,} rows graded ({spread}), written to {out}")
    elif json:
        from ordinoise.app.cli._streams import print_data

        print_data(frame.write_json() + "\n")
    else:
        _print_csv(frame.write_csv())


def _print_csv(text: str) -> None:
    """Write CSV to standard output: exactly into a file or a pipe, without control characters on a terminal."""
    from ordinoise.app.cli._console import printable
    from ordinoise.app.cli._streams import print_data

    print_data("\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text)
