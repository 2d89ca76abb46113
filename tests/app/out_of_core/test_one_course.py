"""The same rows in memory and in parts: the same answer, and numbers that are close."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from app.out_of_core.parts import request_for, table, written
from ordinoise.app.out_of_core.files import MAX_ROWS, is_read_in_parts
from ordinoise.app.out_of_core.verbs import LABELS, audit_parts, fit_parts
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.review.events import RowState
from ordinoise.app.review.export import write_corrected
from ordinoise.app.rounds.history import check_same
from ordinoise.app.tables import ColumnRoles, digest_of, graded_table
from ordinoise.app.tables.folder import folder_of, whole_folder
from ordinoise.app.verbs.audit import audit_file
from ordinoise.app.verbs.model import predict_file
from ordinoise.app.verbs.request import PredictionRequest


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


def kind_of_reason(record: AuditRecord) -> str:
    """The reason without its number."""
    return re.sub(r"z = [-\d.]+", "z", record.noise.reason)


@pytest.mark.slow
@pytest.mark.parametrize("is_sorted", [False, True])
def test_memory_and_parts_give_the_same_answer_in_any_order_of_the_rows(is_sorted: bool, tmp_path: Path) -> None:
    frame = table()[0]
    frame = frame.sort("grade") if is_sorted else frame
    one, three = in_memory(frame, tmp_path / "one"), in_parts(frame, tmp_path / "three", 3)
    assert one.record.noise.answer == three.record.noise.answer == "corrected"
    assert kind_of_reason(one.record) == kind_of_reason(three.record)
    # 4 folds in place of 5, and other rows in each: entries differ by .040 at most here.
    assert np.abs(one.record.noise.matrix - three.record.noise.matrix).max() < 0.06
    assert one.record.by_matrix is not None
    assert three.record.by_matrix is not None
    assert one.record.by_matrix[1] < three.record.by_matrix[0] < one.record.by_matrix[2]
    assert three.record.wrong is one.record.wrong is None
    highs = [found.record.wrong_high for found in (one, three)]
    assert abs((highs[0] or 0.0) - (highs[1] or 0.0)) < 0.05 * one.record.n_graded
    before, after = (found.labels.sort("row")["suspicion"].to_numpy() for found in (one, three))
    assert np.corrcoef(before, after)[0, 1] > 0.9


def test_a_folder_is_the_table_of_one_file(tmp_path: Path) -> None:
    frame = table(60)[0]
    frame.write_parquet(tmp_path / "one.parquet")
    data = written(tmp_path / "data", frame, 3)
    one, three, pattern = (
        graded_table(path, ColumnRoles("grade")) for path in (tmp_path / "one.parquet", data, data / "*.parquet")
    )
    for found in (three, pattern):
        assert found.frame.equals(one.frame)
        assert found.features.equals(one.features)
        assert found.columns == one.columns
        assert found.messages == ("3 Parquet files are read as one table, in the order of their names.", *one.messages)
        assert found.digest == digest_of(data) != one.digest
    assert whole_folder(data) == whole_folder(data / "*.parquet") == data
    assert folder_of(data) == folder_of(data / "*.parquet") == folder_of(data / "part-00.parquet") == data


@pytest.mark.slow
def test_a_folder_that_fits_into_memory_is_read_as_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = table(300)[0].drop("owner")
    in_memory(frame, tmp_path / "one", ignore=())
    data = written(tmp_path / "data", frame, 3)
    monkeypatch.delenv(MAX_ROWS)
    audited = run("audit", data, "--target", "grade", "--learner", "boosting", "--out", tmp_path / "three")
    assert audited.code == 0, audited.err
    assert "3 Parquet files are read as one table, in the order of their names." in audited.out
    assert (tmp_path / "three" / "labels.csv").read_bytes() == (tmp_path / "one" / "labels.csv").read_bytes()


def test_a_folder_read_as_one_file_is_reviewed_as_one(tmp_path: Path) -> None:
    frame = table(100)[0].select("x0", "grade")
    data = written(tmp_path / "data", frame, 2)
    _, record = audit_file(request_for(data, ignore=(), learner="mlp"), tmp_path / "audit")
    check_same(record, data)
    corrected = write_corrected(record, [RowState(60, "settled", "4", "ann")]).path
    assert corrected == tmp_path / "data.reviewed.parquet"
    before, after = frame["grade"].to_list(), pl.read_parquet(corrected)["grade"].to_list()
    assert after == [*before[:60], 4, *before[61:]]
    frame[:5].write_parquet(data / "part-02.parquet")
    with pytest.raises(ValueError, match="file must be unchanged since its audit"):
        check_same(record, data)


def test_larger_folders_and_clusters_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(tmp_path / "data", table(300)[0], 2)
    for limit, is_in_parts in (("299", True), ("300", False)):
        monkeypatch.setenv(MAX_ROWS, limit)
        assert is_read_in_parts(data) == is_read_in_parts(data / "*.parquet") == is_in_parts
    assert is_read_in_parts(data, "tcp://127.0.0.1:1")
    assert not is_read_in_parts(data / "part-00.parquet")
    for limit, is_in_parts in (("10000", True), ("30000", False)):
        monkeypatch.setenv("ORDINOISE_MAX_BYTES", limit)
        assert is_read_in_parts(data) == is_in_parts


def without_signal(n_rows: int = 400) -> pl.DataFrame:
    frame = table(n_rows)[0]
    return frame.with_columns(frame["grade"].shuffle(seed=0))


@pytest.mark.parametrize("noise", ["estimate", pytest.param("none", marks=pytest.mark.slow)])
def test_columns_that_say_nothing_leave_the_class_shares_in_parts_too(noise: str, tmp_path: Path) -> None:
    frame = without_signal()
    one, three = in_memory(frame, tmp_path / "one", noise=noise), in_parts(frame, tmp_path / "three", 3, noise=noise)
    assert (one.record.learner, three.record.learner) == ("class shares", "class shares")
    assert (one.record.noise.answer, one.record.noise.reason) == (three.record.noise.answer, three.record.noise.reason)
    assert one.record.suspects == three.record.suspects == ()
    chances = [f"graded_{grade}" for grade in (1, 2, 3, 4)]
    # Shares without a fifth and without a quarter of the rows.
    assert np.abs(one.labels.select(chances).to_numpy() - three.labels.select(chances).to_numpy()).max() < 0.05


def test_a_model_of_the_class_shares_of_parts_is_an_ordinary_one(tmp_path: Path) -> None:
    frame = without_signal()
    data = written(tmp_path / "data", frame, 2)
    fit_parts(request_for(data), tmp_path / "model")
    graded = predict_file(PredictionRequest(tmp_path / "model", data / "part-00.parquet"))
    shares = frame["grade"].value_counts().sort("grade")["count"].to_numpy() / frame.height
    found = graded.select([f"probability_{grade}" for grade in (1, 2, 3, 4)]).to_numpy()
    assert np.abs(found - shares).max() < 0.01
