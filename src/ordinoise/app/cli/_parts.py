"""What the verbs do with a folder of Parquet files in place of one file."""

from __future__ import annotations

from pathlib import Path

from ordinoise._validation import complain
from ordinoise.app.cli._console import console, say, show_stage
from ordinoise.app.cli._findings import print_json
from ordinoise.app.verbs.request import PredictionRequest


def refuse_scheduler(scheduler: str | None) -> None:
    """Refuse a cluster for one file."""
    if scheduler is not None:
        advice = "write the table as several Parquet files, or leave it out"
        raise complain("scheduler", "be used with a folder of Parquet files", "one file", advice)


def predict_several(request: PredictionRequest, out: Path | None, *, is_json: bool) -> None:
    """Grade a folder of Parquet files, and print what was written."""
    from ordinoise.app.out_of_core.files import refuse_in_parts
    from ordinoise.app.out_of_core.prediction import predict_parts

    refuse_in_parts("", **request.how_read(), embeddings=request.embeddings, text_model=request.text_model)
    if out is None:
        raise complain("out", "name a new folder for the grades of several Parquet files", "none")
    unseen: list[str] = []
    grades = predict_parts(request, out, on_stage=show_stage(is_quiet=is_json), on_unseen=unseen.append)
    for sentence in unseen:
        say(console(stderr=True), f" {sentence}", bold="Careful:")
    n_rows = sum(grades.values())
    if is_json:
        print_json({"out": str(out), "n_rows": n_rows, "predicted": grades})
        return
    spread = ", ".join(f"{grade}: {count:,}" for grade, count in grades.items())
    say(console(), f"{n_rows:,} rows graded ({spread}), written to {out}")
