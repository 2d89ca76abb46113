"""All data sets by name: size, source, required files, and how to load them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ordinoise._validation import as_choice, complain
from ordinoise.datasets._tables import ABALONE, BOSTON, CALIFORNIA, COMPUTER, MSLR_FILES, NumericTable
from ordinoise.datasets.benchmark import BENCHMARKS, BenchmarkTable, ordinal_benchmark
from ordinoise.datasets.embedded import diabetes, synthetic
from ordinoise.datasets.files import DataDir, DataFile
from ordinoise.datasets.paper import mslr, numeric_set
from ordinoise.datasets.raters import LIDC_FILE, WEB_LABELS_FILE, WEB_TRUTH_FILE, lidc, web_search
from ordinoise.datasets.records import OrdinalDataset, RatedDataset

Loader = Callable[..., OrdinalDataset | RatedDataset]


@dataclass(frozen=True)
class CatalogueEntry:
    """Size, source and files of one data set.

    Attributes
    ----------
    name : str
        The name for :func:`load`.
    kind : {"embedded", "paper", "benchmark", "raters"}
    n_rows, n_features, n_classes : int
        As loaded without options; for sets with several raters, `n_rows` counts items.
    source : str
        Where the data come from.
    files : tuple of str
        Required files, relative to the data folder; empty for embedded sets.
    can_fetch : bool
        Whether ``fetch=True`` can download it from OpenML instead.
    """

    name: str
    kind: str
    n_rows: int
    n_features: int
    n_classes: int
    source: str
    files: tuple[str, ...] = ()
    can_fetch: bool = False


def catalogue() -> tuple[CatalogueEntry, ...]:
    """Entries of all data sets, in the order of :data:`NAMES`."""
    return tuple(entry for entry, _ in _REGISTRY.values())


def describe(name: str) -> CatalogueEntry:
    """Size, source and files of one data set."""
    return _REGISTRY[as_choice("name", name, _REGISTRY)][0]


def load(name: str, data_dir: DataDir = None, **options: Any) -> OrdinalDataset | RatedDataset:
    """The data set with this name.

    Parameters
    ----------
    name : str
        One of :data:`NAMES`.
    data_dir : path, optional
        The folder of the files; by default the environment variable ORDINOISE_DATA. Embedded sets need none.
    **options
        Options of the reader. The paper's numeric sets and ``diabetes`` take `n_classes`, `strategy` and `edges` of
        :func:`to_ordinal` to cut the target differently; the paper's numeric sets take ``fetch=True`` to download a
        missing file from OpenML; every set with files takes ``verify=False`` to skip the checksum; ``mslr`` takes
        `subset`, and ``synthetic`` takes `n_per_class` and `random_state`.

    Examples
    --------
    >>> load("synthetic", n_per_class=10, random_state=0).n_classes
    4
    """
    entry, loader = _REGISTRY[as_choice("name", name, _REGISTRY)]
    known = [option for option in inspect.signature(loader).parameters if option not in ("name", "data_dir")]
    for option in options:
        if option == "fetch" and not entry.can_fetch:
            raise _cannot_fetch(entry)
        as_choice(f"option of {name!r}", option, known)
    return loader(**options) if entry.kind == "embedded" else loader(data_dir=data_dir, **options)


def _cannot_fetch(entry: CatalogueEntry) -> ValueError:
    fetchable = [other.name for other in catalogue() if other.can_fetch]
    if entry.kind == "embedded":
        advice = f"{entry.name!r} needs neither file nor network"
    else:
        advice = f"OpenML has no verified copy; get {list(entry.files)} from {entry.source}"
    return complain("fetch", f"be used only with {fetchable}", repr(entry.name), advice)


def _on_file(kind: str, name: str, shape: tuple[int, int, int], *files: DataFile) -> CatalogueEntry:
    """The entry of a set with files; `shape` is (n_rows, n_features, n_classes)."""
    paths = tuple(file.path for file in files)
    return CatalogueEntry(name, kind, *shape, files[0].source, paths)


def _numeric(table: NumericTable) -> tuple[CatalogueEntry, Loader]:
    shape = (table.file.n_rows, len(table.feature_names), table.n_classes)
    entry = replace(_on_file("paper", table.name, shape, table.file), can_fetch=True)
    return entry, partial(numeric_set, table)


def _benchmark(table: BenchmarkTable) -> tuple[CatalogueEntry, Loader]:
    shape = (table.file.n_rows, table.n_features, len(table.class_names))
    return _on_file("benchmark", table.name, shape, table.file), partial(ordinal_benchmark, table.name)


_ENTRIES: tuple[tuple[CatalogueEntry, Loader], ...] = (
    (CatalogueEntry("synthetic", "embedded", 8000, 2, 4, "the paper"), synthetic),
    (CatalogueEntry("diabetes", "embedded", 442, 10, 5, "scikit-learn"), diabetes),
    *(_numeric(table) for table in (BOSTON, ABALONE, COMPUTER, CALIFORNIA)),
    (_on_file("paper", "mslr", (10_000, 136, 5), *MSLR_FILES.values()), mslr),
    *(_benchmark(table) for table in BENCHMARKS.values()),
    (_on_file("raters", "lidc", (2651, 18, 5), LIDC_FILE), lidc),
    (_on_file("raters", "web_search", (2665, 0, 5), WEB_LABELS_FILE, WEB_TRUTH_FILE), web_search),
)

_REGISTRY = {entry.name: (entry, loader) for entry, loader in _ENTRIES}

NAMES = tuple(_REGISTRY)
"""Names of all data sets."""
