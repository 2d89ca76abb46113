"""Data with ordered grades: two sets that need no file, and readers for the archives' files of the rest.

>>> from ordinoise.datasets import synthetic
>>> synthetic(10, random_state=0).class_names
('x1 < 0', '0 <= x1 < 10', '10 <= x1 < 20', 'x1 >= 20')
"""

from __future__ import annotations

from ordinoise.datasets.benchmark import ordinal_benchmark
from ordinoise.datasets.catalogue import NAMES, CatalogueEntry, catalogue, describe, load
from ordinoise.datasets.cuts import cut_points, interval_names, to_ordinal
from ordinoise.datasets.embedded import diabetes, synthetic
from ordinoise.datasets.files import DATA_VARIABLE, MissingFileError
from ordinoise.datasets.paper import abalone, boston, california, computer, mslr
from ordinoise.datasets.raters import lidc, web_search
from ordinoise.datasets.records import OrdinalDataset, RatedDataset

__all__ = [
    "DATA_VARIABLE",
    "NAMES",
    "CatalogueEntry",
    "MissingFileError",
    "OrdinalDataset",
    "RatedDataset",
    "abalone",
    "boston",
    "california",
    "catalogue",
    "computer",
    "cut_points",
    "describe",
    "diabetes",
    "interval_names",
    "lidc",
    "load",
    "mslr",
    "ordinal_benchmark",
    "synthetic",
    "to_ordinal",
    "web_search",
]
