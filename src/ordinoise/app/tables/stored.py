"""A Parquet or Feather file with other values in a column, or with more columns: all others as pyarrow reads them.

Polars has fewer types than the formats: it would widen texts, lists and dictionaries, and make a timestamp of a date64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import polars as pl

from ordinoise.app.tables.folder import is_folder
from ordinoise.app.tables.writer import STORED, new_table_file


def write_stored_with(source: Path, kind: str, target: str, values: Mapping[int, Any], path: Path) -> bool:
    """Write the file with other values, its types and the notes of pandas kept; False where pyarrow cannot.

    Several files, which may differ in their types, are left to polars.

    Parameters
    ----------
    source : Path
    kind : {"parquet", "arrow"}
    target : str
        The column that changes; its type stays.
    values : mapping of int to object
        New cells by row.
    path : Path
        The new file.
    """
    return _rewritten(source, kind, path, lambda pa, table: _changed(pa, table, target, values))


def write_stored_and(source: Path, kind: str, added: pl.DataFrame, path: Path) -> bool:
    """Write the rows of a file with more columns, its types and the notes of pandas kept; False where pyarrow cannot.

    Parameters
    ----------
    source, kind, path
        As for `write_stored_with`; `path` may also be of the other kind.
    added : polars.DataFrame
        Columns with other names, a row for each row of the file.
    """

    def appended(pa: Any, table: Any) -> Any:
        for name, column in zip(
            added.columns, added.to_arrow(compat_level=pl.CompatLevel.oldest()).columns, strict=True
        ):
            table = table.append_column(
                name, column.cast("string") if pa.types.is_large_string(column.type) else column
            )
        return table

    return _rewritten(source, kind, path, appended)


def _rewritten(source: Path, kind: str, path: Path, edit: Callable[[Any, Any], Any]) -> bool:
    """Write what a function makes of the Arrow table of a file, in the format that the suffix of `path` names."""
    if is_folder(source) or kind not in STORED:
        return False
    try:
        import pyarrow as pa
        from pyarrow import ipc
        from pyarrow import parquet as pq
    except ImportError:
        return False
    options: dict[str, Any] = {}
    with suppress(pa.ArrowException, TypeError, ValueError), source.open("rb") as file:
        if kind == "arrow":
            table = edit(pa, ipc.open_file(file).read_all())
        else:
            stored = pq.ParquetFile(file)
            table = edit(pa, stored.read())
            group = stored.metadata.row_group(0)
            codec = group.column(0).compression if group.num_columns else "SNAPPY"
            options = {"compression": codec, "row_group_size": max(1, group.num_rows)}
        with new_table_file(path) as out:
            if path.suffix.lower() in STORED["parquet"]:
                pq.write_table(table, out, **options)
            else:
                _write_feather(ipc, table, out)
        return True
    return False


def _write_feather(ipc: Any, table: Any, out: IO[bytes]) -> None:
    # Polars stops at an empty buffer of a view in a compressed file of pyarrow.
    has_views = any("view" in str(field.type) for field in table.schema)
    options = ipc.IpcWriteOptions(compression=None if has_views else "lz4")
    with ipc.new_file(out, table.schema, options=options) as writer:
        writer.write_table(table)


def _changed(pa: Any, table: Any, target: str, values: Mapping[int, Any]) -> Any:
    """An Arrow table with other cells in a column."""
    at = table.schema.get_field_index(target)
    field = table.schema.field(at)
    cells = table.column(at).to_pylist()
    for row, value in values.items():
        cells[row] = value
    if pa.types.is_dictionary(field.type):
        known = table.column(at).unify_dictionaries().chunk(0).dictionary.to_pylist()  # their order may have a meaning
        names = [*known, *dict.fromkeys(cell for cell in cells if cell is not None and cell not in known)]
        places = {name: number for number, name in enumerate(names)}
        indices = pa.array([None if cell is None else places[cell] for cell in cells], type=field.type.index_type)
        dictionary = pa.array(names, type=field.type.value_type)
        column = pa.DictionaryArray.from_arrays(indices, dictionary, ordered=field.type.ordered)
    else:
        column = pa.array(cells, type=field.type)
    return table.set_column(at, field, column)
