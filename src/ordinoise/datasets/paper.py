"""The five real sets of the paper, read from the published files.

Every reader takes the folder of the file (`data_dir`, by default the environment variable ORDINOISE_DATA), and refuses
a file with another checksum unless ``verify=False``.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import Floats, Ints, as_choice, as_labels, complain
from ordinoise.datasets._tables import ABALONE, BOSTON, CALIFORNIA, COMPUTER, MSLR_FILES, NumericTable
from ordinoise.datasets.cuts import cut_dataset
from ordinoise.datasets.files import DataDir, MissingFileError, read_numbers, verified
from ordinoise.datasets.openml import fetch_table
from ordinoise.datasets.records import OrdinalDataset

MSLR_FEATURES = 136
MSLR_CLASSES = ("irrelevant", "slightly relevant", "relevant", "very relevant", "perfectly relevant")


def numeric_set(
    table: NumericTable,
    data_dir: DataDir = None,
    *,
    n_classes: int | None = None,
    strategy: str | None = None,
    edges: ArrayLike | None = None,
    fetch: bool = False,
    verify: bool = True,
) -> OrdinalDataset:
    """One of the paper's sets with a numeric target, cut into grades.

    Parameters
    ----------
    table : NumericTable
        The file, and how the paper cuts its target.
    data_dir : path, optional
        The folder of the data; by default the environment variable ORDINOISE_DATA.
    n_classes, strategy, edges
        How to cut the target, see :func:`to_ordinal`; as in the paper by default.
    fetch : bool
        Whether to download the table from OpenML if the file is missing.
    verify : bool
        Whether to refuse a file whose checksum differs.
    """
    values, note = _values(table, data_dir, fetch, verify)
    strategy = table.strategy if strategy is None else strategy
    if strategy == "edges" and edges is None:
        edges = table.edges
    return cut_dataset(
        table.name,
        np.ascontiguousarray(values[:, :-1]),
        values[:, -1].copy(),
        table.feature_names,
        quantity=table.quantity,
        n_classes=table.n_classes if n_classes is None and strategy != "edges" else n_classes,
        strategy=strategy,
        edges=edges,
        note=note,
    )


boston = partial(numeric_set, BOSTON)
"""Boston housing (`housing.data`, 506 x 13): the median value in five grades of equal frequency."""

abalone = partial(numeric_set, ABALONE)
"""Abalone (`abalone.data`, 4177 x 8): rings 1-7, 8-9, 10-12, 13-29; sex M, F, I is one column 0, 1, 2."""

computer = partial(numeric_set, COMPUTER)
"""Computer Activity (`cpu_act.data`, 8192 x 21): time in user mode in five grades of equal frequency."""

california = partial(numeric_set, CALIFORNIA)
"""California housing (`cal_housing.data`, 20640 x 8): the median value in four grades of equal width."""


def mslr(data_dir: DataDir = None, *, subset: str = "both", verify: bool = True) -> OrdinalDataset:
    """MSLR-WEB10K, fold 1 (`train.txt`, `test.txt`): pages graded 0 to 4 for a query, 136 float32 features.

    Parameters
    ----------
    data_dir : path, optional
        The folder of the data, or any subfolder on the path to the two files.
    subset : {"both", "train", "test"}
        Which file to read; with both, training rows come first.
    verify : bool
        True reads only the excerpt of 5,000 rows per file, false any version, such as the whole fold.

    Returns
    -------
    OrdinalDataset
        `groups` holds the query of each row: keep a query on the same side of a split.
    """
    as_choice("subset", subset, ("both", *MSLR_FILES))
    files = list(MSLR_FILES.values()) if subset == "both" else [MSLR_FILES[subset]]
    parts = [_svmlight(verified(file, data_dir, verify=verify)) for file in files]
    features, labels, groups = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return OrdinalDataset(
        name="mslr",
        features=features,
        labels=labels,
        feature_names=tuple(f"x{column}" for column in range(1, MSLR_FEATURES + 1)),
        class_names=MSLR_CLASSES,
        groups=groups,
        note=f"{'Excerpt of' if verify else 'From fold 1,'} {len(labels):,} rows of MSLR-WEB10K ({subset}).",
    )


def _values(table: NumericTable, data_dir: DataDir, fetch: bool, verify: bool) -> tuple[Floats, str]:
    """The numbers of the table, and a sentence about their source."""
    file = table.file
    try:
        path = verified(file, data_dir, verify=verify, advice=", or pass fetch=True to ask OpenML")
    except MissingFileError:
        if not fetch:
            raise
        return fetch_table(table.openml, file.n_rows), f"OpenML data set {table.openml.data_id}."
    values = read_numbers(path, len(table.openml.columns), table.delimiter, table.openml.codes)
    return values, f"{file.name}: {file.source}."


def _svmlight(path: Path) -> tuple[NDArray[np.float32], Ints, Ints]:
    """Features, labels and query ids of one file."""
    from sklearn.datasets import load_svmlight_file

    try:
        # Columns are numbered from 1: a column 0 is an error, not a sign of zero-based columns.
        sparse, grades, queries = load_svmlight_file(
            path, n_features=MSLR_FEATURES, dtype=np.float32, query_id=True, zero_based=False
        )
    except (ValueError, OverflowError) as error:
        reason = f"one that does not parse ({str(error).rstrip('.')})"
        raise complain(path.name, f"hold SVMlight rows of {MSLR_FEATURES} features with qid", reason) from None
    labels = as_labels(f"grades in {path.name}", grades, len(MSLR_CLASSES))
    return sparse.toarray(), labels, np.asarray(queries, dtype=np.int64)
