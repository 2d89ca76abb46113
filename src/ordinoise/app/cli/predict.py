"""``ordinoise predict``."""

from __future__ import annotations

import sys
from pathlib import Path

from ordinoise.app.cli._options import Json


def predict(
    model: Path,
    file: Path,
    *,
    out: Path | None = None,
    decision: str | None = None,
    confidence: float | None = None,
    no_header: bool = False,
    embeddings: Path | None = None,
    text_model: str | None = None,
    scheduler: str | None = None,
    json: Json = False,
) -> None:
    """Add the predicted grade and the probability of each grade to every row of a table.

    Example: ordinoise predict model new.csv --out graded.csv

    Parameters
    ----------
    model
        Folder written by ordinoise fit.
    file
        Table with the feature columns of the model; or a folder of Parquet files, or a pattern in quotes.
    out
        New file: .csv, .tsv, .jsonl, .parquet or .feather; prints CSV on standard output by default. For several
        Parquet files a new folder of them.
    decision
        How a grade is picked from its probabilities: median, mode or mean; as in the fit by default.
    confidence
        Also add the lowest and highest grade of a prediction set with this coverage, such as 0.9.
    no_header
        The first row of the CSV file is data; its columns are called column_1, column_2, ...
    embeddings
        File with one vector per row, if the model was made with one.
    text_model
        Model that makes vectors of the free text, if the model was made with one.
    scheduler
        Address of a running Dask cluster, such as tcp://host:8786, for a folder of Parquet files.
    """
    from ordinoise._files import refuse_existing

    if out is not None:
        refuse_existing("out", out)
    from ordinoise.app.cli._console import console, say
    from ordinoise.app.cli._findings import print_json
    from ordinoise.app.cli._parts import predict_several, refuse_scheduler
    from ordinoise.app.tables.folder import is_folder
    from ordinoise.app.verbs.model import predict_file, write_predictions

    if is_folder(file):
        predict_several(
            model, file, out, decision, confidence, scheduler, is_json=json,
            others={"no-header": no_header, "embeddings": embeddings, "text-model": text_model},
        )  # fmt: skip
        return
    refuse_scheduler(scheduler)
    is_text = not json if out is None else out.suffix.lower() in (".csv", ".tsv")
    unseen: list[str] = []
    frame = predict_file(
        model,
        file,
        decision=decision,
        confidence=confidence,
        as_stored=is_text,
        header=not no_header,
        embeddings=embeddings,
        text_model=text_model,
        on_unseen=unseen.append,
    )
    if out is not None:
        write_predictions(frame, file, out)
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
