"""A data set of the catalogue, written as a table that the verbs can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ordinoise._files import refuse_existing
from ordinoise._validation import complain
from ordinoise.app.tables import write_table
from ordinoise.datasets import OrdinalDataset, load

GRADE = "grade"


def write_dataset(name: str, out: Path | None, *, data_dir: Path | None = None, fetch: bool = False) -> dict[str, Any]:
    """Write a data set with its grades in the column "grade"; returns a summary of the file.

    Grades are whole numbers if all class names are, names if all are single words, and ranks from 0 otherwise.
    """
    if out is None:
        raise complain("out", "name the file to write", "nothing", f"--out {name}.csv")
    refuse_existing("out", out)
    found = load(name, data_dir, **({"fetch": True} if fetch else {}))
    if not isinstance(found, OrdinalDataset):
        raise complain("name", "be a data set with one grade per row", f"{name!r}, which has several raters")
    grades = _grades(found.class_names)
    columns = {feature: found.features[:, at] for at, feature in enumerate(found.feature_names)}
    write_table(pl.DataFrame(columns | {GRADE: grades[found.labels]}), out)
    shape = {"n_rows": found.n_samples, "n_features": len(columns), "classes": grades.tolist()}
    return {"name": name, **shape, "target": GRADE, "note": found.note, "out": str(out)}


def _grades(names: tuple[str, ...]) -> Any:
    if all(name.lstrip("-").isdigit() for name in names):
        return np.array([int(name) for name in names])
    return np.array(names if all(name.isidentifier() for name in names) else range(len(names)))
