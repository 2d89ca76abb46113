"""The second process of `trial`: reads open files that it is handed, one after another, and says what they hold.

It runs as a script, without the rest of the package, so that it starts quickly and takes little memory.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import IO, Any, TypedDict

import polars as pl

PIECE_BYTES = 2**27  # of the columns that are read at once; a round number, chosen by no run
PIECE_ROWS = 2**20  # in a row group, as programs write them
CELL_BYTES = 8
ODD = re.compile("_view|decimal256|union|run_end_encoded|month_day_nano")
"""Types of Arrow that some versions of polars do not read."""


class Job(TypedDict):
    """What to read: the kind of the file, its name where it cannot be handed over open, the sheet, and the limits."""

    kind: str
    path: str
    sheet: str
    most_columns: int
    most_bytes: int
    memory: int
    seconds: int


def main() -> None:
    """Answer one line of JSON for each job, until there are no more."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    _limit("RLIMIT_CORE", 0)
    _warm_up()
    answers.write(json.dumps({"has_memory_limit": sys.platform == "linux" and _address_space() > 0}) + "\n")
    jobs = _jobs_on_a_socket() if sys.platform != "win32" else _jobs_on_a_pipe()
    for job, file in jobs:
        with file:
            answers.write(json.dumps(_answer(job, file)) + "\n")


def _jobs_on_a_pipe() -> Iterator[tuple[Job, IO[bytes]]]:
    """Jobs and their files, opened by name: Windows hands no open file to a process that runs."""
    for line in sys.stdin:
        job = json.loads(line)
        yield job, open(job["path"], "rb")  # noqa: PTH123, SIM115 - closed by the caller


if sys.platform != "win32":
    import socket

    def _jobs_on_a_socket() -> Iterator[tuple[Job, IO[bytes]]]:
        """Jobs, each with its open file."""
        with socket.socket(fileno=0) as connection:
            while True:
                line, descriptors, _, _ = socket.recv_fds(connection, 2**16, 1)
                if not line:
                    return
                yield json.loads(line), os.fdopen(descriptors[0], "rb")


def _warm_up() -> None:
    """Start the threads of polars, whose address space does not count as that of a file."""
    content = io.BytesIO()
    pl.DataFrame({"a": ["x"], "b": [[1]]}).write_parquet(content)
    content.seek(0)
    pl.scan_parquet(content).select(pl.all().last()).collect(engine="streaming")


def _answer(job: Job, file: IO[bytes]) -> dict[str, Any]:
    """Rows, columns and bytes of the values, as far as they are within the limits."""
    begun = sum(os.times()[:2])
    _limit("RLIMIT_AS", _address_space() + job["memory"])  # a job before may have loaded pyarrow
    _limit("RLIMIT_CPU", int(begun) + job["seconds"])
    try:
        file.seek(0)
        return _of_sheet(job, file) if job["kind"] == "excel" else _of_table(job, file)
    except MemoryError:
        return {"n_bytes": sys.maxsize}
    except BaseException:  # a panic is one
        return {"is_damaged": 1} | _odd_column(job, file)
    finally:
        _limit("RLIMIT_AS", None)
        _limit("RLIMIT_CPU", None)


def _odd_column(job: Job, file: IO[bytes]) -> dict[str, str]:
    """The first column of a type that polars does not read, and that type, where pyarrow can say it."""
    try:
        from pyarrow import ipc, parquet

        file.seek(0)
        schema = ipc.open_file(file).schema if job["kind"] == "arrow" else parquet.read_schema(file)
        return next({"column": one.name, "type": str(one.type)} for one in schema if ODD.search(str(one.type)))
    except Exception:
        return {}


def _of_sheet(job: Job, file: IO[bytes]) -> dict[str, int]:
    try:
        import fastexcel
    except ImportError:
        return {}
    reader = fastexcel.read_excel(file.read())
    reader.load_sheet(job["sheet"], header_row=None, n_rows=1, dtypes="string").to_polars()
    reader.load_sheet(job["sheet"], header_row=0, schema_sample_rows=None).to_polars()
    return {}


def _of_table(job: Job, file: IO[bytes]) -> dict[str, int]:
    """Every value is read, some columns at a time, so that a large file is never in memory."""
    lazy = pl.scan_parquet(file) if job["kind"] == "parquet" else pl.scan_ipc(file)
    schema = lazy.collect_schema()
    n_rows = int(lazy.select(pl.len()).collect().item())
    found = {"n_rows": n_rows, "n_columns": len(schema), "n_bytes": 0}
    if len(schema) > job["most_columns"] or n_rows * len(schema) * CELL_BYTES > job["most_bytes"]:
        return found
    dtypes = schema.dtypes()
    for piece in _pieces(dtypes, n_rows):
        found["n_bytes"] += _read(lazy, {at: dtypes[at] for at in piece})
    return found


def _read(lazy: pl.LazyFrame, columns: dict[int, Any]) -> int:
    """Read every value of some columns, by their numbers; returns the bytes of those that differ in length."""
    # Polars reads nothing but the metadata for the last value, or for the number of rows. Names may be patterns.
    nulls = {at: pl.nth(at).is_null().sum().alias(f"{at}") for at in columns}
    sizes = {at: _size(pl.nth(at), dtype) for at, dtype in columns.items()}
    wanted = [nulls[at] if size is None else size.alias(f"{at}") for at, size in sizes.items()]
    try:
        row = lazy.select(wanted).collect(engine="streaming").row(0)
    except pl.exceptions.PolarsError:  # of a nested type without a size
        lazy.select(nulls.values()).collect(engine="streaming")
        return 0
    return sum(found or 0 for found, size in zip(row, sizes.values(), strict=True) if size is not None)


def _pieces(dtypes: list[Any], n_rows: int) -> Iterator[list[int]]:
    """Numbers of the columns to read at once: nested ones alone, as their size is not known before."""
    at_once = max(1, PIECE_BYTES // (2 * CELL_BYTES * max(1, min(n_rows, PIECE_ROWS))))
    flat = [at for at, dtype in enumerate(dtypes) if not dtype.is_nested()]
    yield from (flat[at : at + at_once] for at in range(0, len(flat), at_once))
    yield from ([at] for at, dtype in enumerate(dtypes) if dtype.is_nested())


def _size(column: pl.Expr, dtype: Any) -> pl.Expr | None:
    """Bytes of the values of a column that differ in length; None if all of them are short."""
    if dtype == pl.String:
        return column.str.len_bytes().sum()
    if dtype == pl.Binary:
        return column.bin.size().sum()
    if isinstance(dtype, pl.Struct):
        fields = [_size(column.struct.field(field.name), field.dtype) for field in dtype.fields]
        known = [field for field in fields if field is not None]
        return pl.sum_horizontal(known) if known else None
    if isinstance(dtype, (pl.List, pl.Array)):
        values = column.explode()
        inner = _size(values, dtype.inner)
        own = CELL_BYTES * values.len()
        return own if inner is None else own + inner
    return None


def _limit(name: str, most: int | None) -> None:
    """Set a limit of this process, where the system has it; None for none."""
    try:
        import resource

        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        wanted = hard if most is None else most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (wanted, hard))
    except (ImportError, AttributeError, OSError, ValueError):
        pass


def _address_space() -> int:
    """Bytes of address space that the process has."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0


if __name__ == "__main__":
    main()
