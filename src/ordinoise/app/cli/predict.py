"""``ordinoise predict``."""

from __future__ import annotations

import sys
from pathlib import Path


def predict(
    model: Path,
    file: Path,
    *,
    out: Path | None = None,
    decision: str | None = None,
    confidence: float | None = None,
    json: bool = False,
) -> None:
    """Grade the rows of a table: the table again, with the predicted grade and the probability of every grade.

    Example: ordinoise predict model new.csv --out graded.csv

    Parameters
    ----------
    model
        A folder that ordinoise fit wrote.
    file
        A table with the columns that the model reads.
    out
        A new file: .csv, .tsv, .parquet, .feather; standard output as CSV by default.
    decision
        How a grade is picked: median, mode or mean; as the model was fitted by default.
    confidence
        Add the lowest and the highest grade of a set that holds the true grade this often, such as 0.9.
    json
        Print the rows as JSON, or with --out a summary of them.
    """
    from ordinoise._files import refuse_existing

    if out is not None:
        refuse_existing("out", out)
    from ordinoise.app.cli._findings import print_json
    from ordinoise.app.tables import write_table
    from ordinoise.app.workflow import predict_file

    frame = predict_file(model, file, decision=decision, confidence=confidence)
    if out is not None:
        write_table(frame, out)
        counts = frame[next(name for name in frame.columns if name.startswith("predicted_"))].value_counts(sort=True)
        grades = {str(grade): count for grade, count in counts.rows()}
        if json:
            print_json({"out": str(out), "n_rows": frame.height, "predicted": grades})
            return
        from ordinoise.app.cli._console import console

        spread = ", ".join(f"{grade}: {count:,}" for grade, count in grades.items())
        console().print(f"{frame.height:,} rows graded ({spread}), written to {out}", markup=False, highlight=False)
    elif json:
        sys.stdout.write(frame.write_json() + "\n")
    else:
        sys.stdout.write(frame.write_csv())
