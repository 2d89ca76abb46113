"""The same rows in memory and in parts: the same answer, and numbers that are close."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.out_of_core.parts import request_for, table, written
from ordinoise.app.out_of_core.verbs import LABELS, audit_parts, fit_parts
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.verbs.audit import audit_file
from ordinoise.app.verbs.model import predict_file


@dataclass(frozen=True)
class Found:
    """An audit, and its table of labels in the order of the rows."""

    record: AuditRecord
    labels: pl.DataFrame


def in_memory(frame: pl.DataFrame, place: Path, **options: Any) -> Found:
    frame.write_parquet(place.with_suffix(".parquet"))
    _, record = audit_file(request_for(place.with_suffix(".parquet"), learner="boosting", **options), place)
    return Found(record, pl.read_csv(place / "labels.csv", schema_overrides={"suggested": pl.String}))


def in_parts(frame: pl.DataFrame, place: Path, n_files: int, **options: Any) -> Found:
    data = written(place.with_name(f"{place.name}-data"), frame, n_files)
    _, record = audit_parts(request_for(data, **options), place)
    return Found(record, pl.read_parquet(place / LABELS))


def without_signal(n_rows: int = 400) -> pl.DataFrame:
    frame = table(n_rows)[0]
    return frame.with_columns(frame["grade"].shuffle(seed=0))


@pytest.mark.parametrize("noise", ["estimate", "none"])
def test_columns_that_say_nothing_leave_the_class_shares_in_parts_too(noise: str, tmp_path: Path) -> None:
    frame = without_signal()
    one, three = in_memory(frame, tmp_path / "one", noise=noise), in_parts(frame, tmp_path / "three", 3, noise=noise)
    assert (one.record.learner, three.record.learner) == ("class shares", "class shares")
    assert (one.record.noise.answer, one.record.noise.reason) == (three.record.noise.answer, three.record.noise.reason)
    assert one.record.suspects == three.record.suspects == ()
    chances = [f"probability_{grade}" for grade in (1, 2, 3, 4)]
    # Shares without a fifth and without a quarter of the rows.
    assert np.abs(one.labels.select(chances).to_numpy() - three.labels.select(chances).to_numpy()).max() < 0.05


def test_a_model_of_the_class_shares_of_parts_is_an_ordinary_one(tmp_path: Path) -> None:
    frame = without_signal()
    data = written(tmp_path / "data", frame, 2)
    fit_parts(request_for(data), tmp_path / "model")
    graded = predict_file(tmp_path / "model", data / "part-00.parquet")
    shares = frame["grade"].value_counts().sort("grade")["count"].to_numpy() / frame.height
    found = graded.select([f"probability_{grade}" for grade in (1, 2, 3, 4)]).to_numpy()
    assert np.abs(found - shares).max() < 0.01
