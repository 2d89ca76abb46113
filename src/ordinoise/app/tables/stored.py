"""A Parquet or Feather file with other values in some rows of a column: every other column as pyarrow reads it.

Polars has fewer types than the formats: it would widen texts, lists and dictionaries, and make a timestamp of a date64.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ordinoise.app.tables.folder import is_folder
from ordinoise.app.tables.writer import new_table_file


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
    if is_folder(source):
        return False
    try:
        import pyarrow as pa
        from pyarrow import ipc
        from pyarrow import parquet as pq
    except ImportError:
        return False
    with suppress(pa.ArrowException, TypeError, ValueError), source.open("rb") as file:
        if kind == "arrow":
            table = _changed(pa, ipc.open_file(file).read_all(), target, values)
            with new_table_file(path) as out:
                # Polars stops at an empty buffer of a view in a compressed file of pyarrow.
                has_views = any("view" in str(field.type) for field in table.schema)
                options = ipc.IpcWriteOptions(compression=None if has_views else "lz4")
                with ipc.new_file(out, table.schema, options=options) as writer:
                    writer.write_table(table)
            return True
        stored = pq.ParquetFile(file)
        table = _changed(pa, stored.read(), target, values)
        group = stored.metadata.row_group(0)
        codec = group.column(0).compression if group.num_columns else "SNAPPY"
        with new_table_file(path) as out:
            pq.write_table(table, out, compression=codec, row_group_size=max(1, group.num_rows))
        return True
    return False


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
