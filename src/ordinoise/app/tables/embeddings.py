"""Embeddings of the rows of a table: one vector of numbers per row, from a file or by a model of its texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from ordinoise._validation import Floats, complain
from ordinoise.app.tables.reader import read_stored
from ordinoise.app.tables.source import as_file, check_size
from ordinoise.app.tables.text_models import text_vectors

PREFIX = "embedding_"


def embedded_columns(
    texts: Sequence[pl.Series], n_rows: int, embeddings: str | Path | None, text_model: str | None
) -> pl.DataFrame:
    """Columns embedding_1, embedding_2, ... of every row: the vectors of a file, then those of a model of its texts.

    Parameters
    ----------
    texts : sequence of polars.Series
        The columns of free text.
    n_rows : int
        Rows of the table.
    embeddings : str or Path, optional
        A file for `read_embeddings`.
    text_model : str, optional
        A model for `text_vectors`.
    """
    parts = [] if embeddings is None else [read_embeddings(embeddings, n_rows)]
    if text_model is not None:
        parts.append(text_vectors(text_model, [column.fill_null("").to_list() for column in texts]))
    vectors = np.column_stack(parts) if parts else np.empty((n_rows, 0))
    return pl.DataFrame({f"{PREFIX}{at + 1}": vectors[:, at] for at in range(vectors.shape[1])})


def read_embeddings(path: str | Path, n_rows: int) -> Floats:
    """The vectors in a .npy or Parquet file, one per row of the table.

    A .npy file holds a matrix; it is never unpickled. A Parquet or Feather file has one column of numbers per
    dimension, or a single column of lists of one length.
    """
    path = as_file(path)
    vectors = _from_numpy(path) if path.suffix.lower() == ".npy" else _from_table(path)
    if len(vectors) != n_rows:
        got = f"{len(vectors)} in {str(path)!r}"
        raise complain("embeddings", f"have one vector for each of the {n_rows} rows of the table", got)
    if not np.isfinite(vectors).all():
        raise complain("embeddings", "hold finite numbers", f"others in {str(path)!r}")
    return vectors


def check_no_clash(columns: Sequence[str], embedded: Sequence[str]) -> None:
    """Refuse a table with a column that is named as one of its embeddings."""
    clash = next((name for name in embedded if name in set(columns)), None)
    if clash is not None:
        raise complain("file", f"have no column {clash!r} beside embeddings", "one", "rename it")


def _from_numpy(path: Path) -> Floats:
    try:
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # a damaged header makes numpy raise nearly anything, such as tokenize.TokenError
        raise complain("embeddings", "be a .npy file without objects", repr(str(path))) from None
    if not isinstance(stored, np.ndarray) or stored.ndim != 2 or stored.dtype.kind not in "fiu" or not stored.shape[1]:
        got = f"shape {getattr(stored, 'shape', None)} in {str(path)!r}"
        raise complain("embeddings", "hold a matrix of numbers, one row per vector", got)
    check_size(path, *stored.shape)
    with np.errstate(all="ignore"):  # odd bit patterns of other widths; what is not finite is refused below
        return np.asarray(stored, dtype=np.float64)


def _from_table(path: Path) -> Floats:
    frame = read_stored(path)
    if frame.width == 1 and frame.dtypes[0].is_nested():
        lists = frame.to_series().to_list()
        lengths = {None if one is None else len(one) for one in lists}
        if len(lengths) != 1 or lengths & {None, 0}:
            raise complain("embeddings", "hold lists of one length", f"others in {str(path)!r}")
        frame = pl.DataFrame(np.array(lists, dtype=np.float64))
    odd = next((column.name for column in frame.get_columns() if not column.dtype.is_numeric()), None)
    if odd is not None or sum(frame.null_count().row(0)):
        got = f"another column, {odd!r}" if odd is not None else "missing cells"
        raise complain("embeddings", "have columns of numbers without gaps", f"{got}, in {str(path)!r}")
    return frame.to_numpy().astype(np.float64)
