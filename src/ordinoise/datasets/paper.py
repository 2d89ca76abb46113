"""The five real sets of the paper, read as their archives publish them.

Every reader takes the folder that holds the file (`data_dir`, else the environment variable ORDINOISE_DATA),
and refuses a file that is not the archive's unless ``verify=False``. The numeric ones also take `n_classes`,
`strategy` and `edges` (see :func:`to_ordinal`) to cut otherwise than the paper, and ``fetch=True`` to ask
OpenML for a set whose file is absent.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordinoise._validation import Floats, Ints, as_choice, as_labels, complain
from ordinoise.datasets._tables import ABALONE, BOSTON, CALIFORNIA, COMPUTER, MSLR_FILES, NumericTable
from ordinoise.datasets.cuts import cut_points, interval_names, to_ordinal
from ordinoise.datasets.files import DataDir, MissingFileError, read_numbers, verified
from ordinoise.datasets.openml import fetch_table
from ordinoise.datasets.records import OrdinalDataset

RING_EDGES = (8.0, 10.0, 13.0)
"""The paper's cuts of Abalone: rings 1-7, 8-9, 10-12, 13-29."""

MSLR_FEATURES = 136
MSLR_CLASSES = ("irrelevant", "slightly relevant", "relevant", "very relevant", "perfectly relevant")


def boston(
    data_dir: DataDir = None,
    *,
    n_classes: int | None = None,
    strategy: str = "equal_frequency",
    edges: ArrayLike | None = None,
    fetch: bool = False,
    verify: bool = True,
) -> OrdinalDataset:
    """Boston housing (`housing.data`, 506 x 13): the median value in five grades of equal frequency."""
    values, note = _values(BOSTON, data_dir, fetch, verify)
    return _graded(BOSTON, values, note, n_classes, strategy, edges)


def abalone(
    data_dir: DataDir = None,
    *,
    n_classes: int | None = None,
    strategy: str = "edges",
    edges: ArrayLike | None = None,
    fetch: bool = False,
    verify: bool = True,
) -> OrdinalDataset:
    """Abalone (`abalone.data`, 4177 x 8): rings 1-7, 8-9, 10-12, 13-29; sex M, F, I is one column 0, 1, 2."""
    values, note = _values(ABALONE, data_dir, fetch, verify)
    if strategy == "edges" and edges is None:
        edges = RING_EDGES
    return _graded(ABALONE, values, note, n_classes, strategy, edges)


def computer(
    data_dir: DataDir = None,
    *,
    n_classes: int | None = None,
    strategy: str = "equal_frequency",
    edges: ArrayLike | None = None,
    fetch: bool = False,
    verify: bool = True,
) -> OrdinalDataset:
    """Computer Activity (`cpu_act.data`, 8192 x 21): time in user mode in five grades of equal frequency."""
    values, note = _values(COMPUTER, data_dir, fetch, verify)
    return _graded(COMPUTER, values, note, n_classes, strategy, edges)


def california(
    data_dir: DataDir = None,
    *,
    n_classes: int | None = None,
    strategy: str = "equal_width",
    edges: ArrayLike | None = None,
    fetch: bool = False,
    verify: bool = True,
) -> OrdinalDataset:
    """California housing (`cal_housing.data`, 20640 x 8): the median value in four grades of equal width."""
    values, note = _values(CALIFORNIA, data_dir, fetch, verify)
    return _graded(CALIFORNIA, values, note, n_classes, strategy, edges)


def mslr(data_dir: DataDir = None, *, subset: str = "both", verify: bool = True) -> OrdinalDataset:
    """MSLR-WEB10K, fold 1 (`train.txt`, `test.txt`): pages graded 0 to 4 for a query, 136 float32 features.

    Parameters
    ----------
    data_dir : path, optional
        The folder of the data, or any folder on the way down to the two files.
    subset : {"both", "train", "test"}
        Which file to read; both are joined, training rows first.
    verify : bool
        True reads only the excerpt of 5,000 rows a file; false any version, such as the whole fold.

    Returns
    -------
    OrdinalDataset
        `groups` has the query of each row: keep a query on one side of a split.
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
    """The table's numbers, and a sentence on where they come from."""
    file = table.file
    try:
        path = verified(file, data_dir, verify=verify, advice=", or pass fetch=True to ask OpenML")
    except MissingFileError:
        if not fetch:
            raise
        return fetch_table(table.openml, file.n_rows), f"OpenML data set {table.openml.data_id}."
    values = read_numbers(path, len(table.openml.columns), table.delimiter, table.openml.codes)
    return values, f"{file.name}: {file.source}."


def _graded(
    table: NumericTable,
    values: Floats,
    note: str,
    n_classes: int | None,
    strategy: str,
    edges: ArrayLike | None,
) -> OrdinalDataset:
    """The dataset with its last column cut into grades."""
    target = values[:, -1].copy()
    wanted = table.n_classes if n_classes is None and strategy != "edges" else n_classes
    return OrdinalDataset(
        name=table.name,
        features=np.ascontiguousarray(values[:, :-1]),
        labels=to_ordinal(target, wanted, strategy, edges),
        feature_names=table.feature_names,
        class_names=interval_names(cut_points(target, wanted, strategy, edges), table.quantity),
        target=target,
        note=note,
    )


def _svmlight(path: Path) -> tuple[NDArray[np.float32], Ints, Ints]:
    """Features, labels and query ids of one file."""
    from sklearn.datasets import load_svmlight_file

    try:
        # Columns are numbered from 1: a column 0 is an error, not a reason to count otherwise in this file.
        sparse, grades, queries = load_svmlight_file(
            path, n_features=MSLR_FEATURES, dtype=np.float32, query_id=True, zero_based=False
        )
    except ValueError as error:
        reason = f"one that does not parse ({str(error).rstrip('.')})"
        raise complain(path.name, f"hold SVMlight rows of {MSLR_FEATURES} features with qid", reason) from None
    labels = as_labels(f"grades in {path.name}", grades, len(MSLR_CLASSES))
    return sparse.toarray(), labels, np.asarray(queries, dtype=np.int64)
