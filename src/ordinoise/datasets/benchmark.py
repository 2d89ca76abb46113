"""Nine sets of the ordinal benchmark collection, features z-scored and one-hot encoded."""

from __future__ import annotations

from dataclasses import dataclass

from ordinoise._validation import as_choice, as_labels
from ordinoise.datasets.files import DataDir, DataFile, read_numbers, verified
from ordinoise.datasets.records import OrdinalDataset

_SOURCE = "the ordinal benchmark collection"


@dataclass(frozen=True)
class BenchmarkTable:
    """A benchmark file without a header: features, then the grade."""

    name: str
    file: DataFile
    n_features: int
    class_names: tuple[str, ...]


_CHECKSUMS = {
    "ERA": "87255adf573c8d9b98371c33fd4218f6e152448fe079d0abe1b7d0ca51e2b886",
    "LEV": "a514cb5050e7c8005d7c1558796adf02bb98261abd2efe8d0d297eba9f3921e0",
    "SWD": "349e6d56e810a06212a3545ae3a533e3227404188557ff0c99b8b7f897222308",
    "automobile": "a811bc8c1eb8affbd9dd4603ab14f1b66c446807936ee45188f4608e23812166",
    "balance-scale": "c48010a554b1188a38843bec7e06d0751f1e0d33b18f065cd0814c1a26ab261f",
    "car": "1dd1e7f8793792d8a12f7b23ffac69f6b52d6fda558ce0587c78180cfe01e3d2",
    "newthyroid": "eb447bf2b4af8107bc8c1098aa481660291dc76100062ec3097b94a600d9666e",
    "toy": "682983db04dd9d0feb220eae2363e8b5f1e7d023d633f79a98c889c84f9c0163",
    "winequality-red": "209ee5c3cee2da43717d4877f0fae63bf8f3e1b21e7facbc2cb7d541b83c160b",
}


def _table(name: str, n_rows: int, n_features: int, class_names: str) -> BenchmarkTable:
    file = DataFile(f"ordinal/{name}.csv", n_rows, _CHECKSUMS[name], _SOURCE)
    return BenchmarkTable(name, file, n_features, tuple(class_names.split()))


_TABLES = (
    _table("ERA", 1000, 4, "1 2 3 4 5 6 7 8 9"),
    _table("LEV", 1000, 4, "0 1 2 3 4"),
    _table("SWD", 1000, 10, "0 1 2 3"),
    _table("automobile", 205, 71, "-2 -1 0 1 2 3"),
    _table("balance-scale", 625, 4, "left balanced right"),
    _table("car", 1728, 21, "unacceptable acceptable good very-good"),
    _table("newthyroid", 215, 5, "hypo normal hyper"),
    _table("toy", 300, 2, "0 1 2 3 4"),
    _table("winequality-red", 1599, 11, "3 4 5 6 7 8"),
)

BENCHMARKS = {table.name: table for table in _TABLES}
"""The nine files by name."""


def ordinal_benchmark(name: str, data_dir: DataDir = None, *, verify: bool = True) -> OrdinalDataset:
    """One of the nine benchmark sets by name, such as ``"ERA"`` or ``"car"``.

    Parameters
    ----------
    name : str
        ERA, LEV, SWD, automobile, balance-scale, car, newthyroid, toy or winequality-red.
    data_dir : path, optional
        The folder of the data or its subfolder `ordinal`; by default the environment variable ORDINOISE_DATA.
    verify : bool
        Whether to refuse a file whose checksum differs.
    """
    table = BENCHMARKS[as_choice("name", name, BENCHMARKS)]
    path = verified(table.file, data_dir, verify=verify)
    values = read_numbers(path, table.n_features + 1)
    return OrdinalDataset(
        name=name,
        features=values[:, :-1].copy(),
        labels=as_labels(f"grades in {path.name}", values[:, -1], len(table.class_names)),
        feature_names=tuple(f"x{column}" for column in range(1, table.n_features + 1)),
        class_names=table.class_names,
        note=f"{path.name} of {_SOURCE}, features z-scored and one-hot encoded.",
    )
