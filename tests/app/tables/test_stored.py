"""Parquet and Feather files on the way back: the types, the cells and the notes of pandas are kept."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli.command import few_models, run
from app.review.sample import sample_audit
from ordinoise.app.review.events import RowState
from ordinoise.app.review.export import write_corrected
from ordinoise.app.tables import digest_of, read_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

WORDS = ["a", "b", None]
COLUMNS: dict[str, Any] = {
    **{str(kind): pa.array([1, 2, None], kind) for kind in (pa.int8(), pa.uint64(), pa.float32(), pa.time32("s"), pa.time64("us"),
        pa.timestamp("s"), pa.timestamp("ns", "UTC"), pa.date32(), pa.duration("s"))},
    **{str(kind): pa.array(WORDS, kind) for kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(1))},
    "float16": pa.array(np.array([1.5, 2, 3], np.float16)), "date64": pa.array([dt.date(2024, 1, 2), dt.date(1999, 1, 1), None], pa.date64()),
    "decimal": pa.array([Decimal("1.25"), Decimal("2.50"), None], pa.decimal128(10, 2)), "bool": pa.array([True, False, None]),
    "dictionary": pa.array(WORDS).dictionary_encode(), "small dictionary": pa.array(WORDS).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
    "ordered": pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int32()), pa.array(["b", "a"]), ordered=True),
    "list": pa.array([[1], [2, 3], None]), "large list": pa.array([[1], [2], None], pa.large_list(pa.int64())),
    "fixed list": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int64(), 2)), "struct": pa.array([{"a": 1}, {"a": 2}, {"a": 3}]),
    "map": pa.array([[("k", 1)], [("l", 2)], [("m", 3)]], pa.map_(pa.string(), pa.int64())), "nan": pa.array([1.0, float("nan"), None]), "empty": pa.array(["", "x", None]),
}  # fmt: skip


def _write(table: Any, path: Path) -> Path:
    pq.write_table(table, path) if path.suffix == ".parquet" else feather.write_feather(table, path)
    return path


def _read(path: Path) -> Any:
    return pq.read_table(path) if path.suffix == ".parquet" else feather.read_table(path)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    sample_audit(folder)
    return folder


def _every_type() -> Any:
    """A table with a column of each type, in 60 rows."""
    columns = {
        name: pa.concat_arrays([column] * 20)
        for name, column in COLUMNS.items()
        if name not in ("dictionary", "ordered", "small dictionary")
    }
    columns |= {
        name: COLUMNS[name].take(pa.array([0, 1, 2] * 20)) for name in ("dictionary", "ordered", "small dictionary")
    }
    grades = pa.array(np.arange(60) // 7 % 3 + 1, pa.int16())
    return pa.table(columns | {"grade": grades, "size": np.arange(60.0)}).replace_schema_metadata({"pandas": "{}"})


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_every_type_comes_back(tmp_path: Path, suffix: str) -> None:
    source = _write(_every_type(), tmp_path / f"t{suffix}")
    out = tmp_path / f"out{suffix}"
    done = run("corrupt", source, "--target", "grade", "--rate", "0.3", "--out", out)
    assert done.code == 0, done.err
    before, after = _read(source), _read(out)
    assert after.schema.equals(before.schema, check_metadata=False)
    assert after.schema.metadata[b"pandas"] == b"{}"
    assert not after["grade"].equals(before["grade"])
    changed = before.drop_columns(["grade", "nan"])
    assert after.drop_columns(["grade", "nan"]).equals(changed)
    np.testing.assert_array_equal(after["nan"].to_numpy(), before["nan"].to_numpy())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the column that is read as a number in every table here."""
    folder = tmp_path_factory.mktemp("model")
    lines = "".join(f"{row}.0,{row // 7 % 3 + 1}\n" for row in range(60))
    (folder / "t.csv").write_text(f"size,grade\n{lines}")
    words = ("--target", "grade", "--out", folder / "model", "--learner", "mlp", "--noise", "none", "--jobs", "1")
    with few_models():
        done = run("fit", folder / "t.csv", *words)
    assert done.code == 0, done.err
    return folder / "model"


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("out", [".parquet", ".feather"])
def test_predictions_are_added_to_a_file_whose_types_stay(tmp_path: Path, model: Path, suffix: str, out: str) -> None:
    table = _every_type()
    source, graded = _write(table, tmp_path / f"t{suffix}"), tmp_path / f"graded{out}"
    done = run("predict", model, source, "--out", graded)
    assert done.code == 0, done.err
    as_kept = _write(_read(source), tmp_path / f"again{out}")  # Parquet has no times in whole seconds
    before, after = _read(as_kept), _read(graded)
    added = after.column_names[before.num_columns :]
    assert added == ["predicted_grade", "probability_1", "probability_2", "probability_3"]
    assert {str(after.schema.field(name).type) for name in added} == {"int64", "double"}
    kept = after.drop_columns(added)
    assert kept.schema.equals(before.schema)
    assert kept.schema.metadata[b"pandas"] == b"{}"
    assert kept.drop_columns(["nan"]).equals(before.drop_columns(["nan"]))
    assert read_table(graded)["predicted_grade"].to_list() == after["predicted_grade"].to_pylist()


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("kind", ["string", "ordered", "int8", "decimal", "float"])
def test_a_corrected_file_keeps_the_type_of_its_grades(tmp_path: Path, suffix: str, kind: str) -> None:
    from dataclasses import replace

    record = sample_audit(tmp_path)
    grades = read_table(tmp_path / "wine.csv")["quality"].cast(int).to_list()
    order = [str(grade) for grade in (8, 7, 6, 5, 4, 3)]
    made = {
        "string": pa.array([str(grade) for grade in grades]),
        "ordered": pa.DictionaryArray.from_arrays(pa.array([order.index(str(one)) for one in grades], pa.int8()), pa.array(order), ordered=True),
        "int8": pa.array(grades, pa.int8()),
        "decimal": pa.array([Decimal(grade) for grade in grades], pa.decimal128(5, 1)),
        "float": pa.array(grades, pa.float32()),
    }[kind]  # fmt: skip
    day = pa.array([dt.date(2024, 1, 1)] * 60, pa.date64())
    source = _write(pa.table({"day": day, "quality": made}), tmp_path / f"t{suffix}")
    suspect = record.suspects[0]
    moved = replace(record, source=str(source), digest=digest_of(source))
    corrected = write_corrected(moved, [RowState(suspect.row, "settled", suspect.suggested, "Ada")])
    before, after = _read(source), _read(corrected.path)
    assert after.schema.equals(before.schema)
    assert after["day"].equals(before["day"])
    wanted = before["quality"].to_pylist()
    wanted[suspect.row] = type(wanted[0])(suspect.suggested)
    assert after["quality"].to_pylist() == wanted
    if kind == "ordered":
        assert after["quality"].chunk(0).dictionary.to_pylist() == order


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [("string_view", ".feather"), ("decimal256(50, 2)", ".feather"), ("decimal256(50, 2)", ".parquet")],
)
def test_a_type_that_cannot_be_read_is_named(tmp_path: Path, kind: str, suffix: str) -> None:
    column = (
        pa.array(["a", "b"], pa.string_view())
        if kind == "string_view"
        else pa.array([Decimal("1.25")] * 2, pa.decimal256(50, 2))
    )
    path = _write(pa.table({"odd": column, "stars": [1, 2]}), tmp_path / f"t{suffix}")
    with pytest.raises(ValueError, match=rf"^file must have columns of other types, got 'odd' of type {kind[:10]}"):
        read_table(path)
