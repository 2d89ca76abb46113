"""Data sets with ordered grades: two that need no file, and readers for the published files of the others.

>>> from ordinoise.datasets import synthetic
>>> synthetic(10, random_state=0).class_names
('x1 < 0', '0 <= x1 < 10', '10 <= x1 < 20', 'x1 >= 20')
"""

from __future__ import annotations

from ordinoise.datasets.catalogue import NAMES, catalogue, load
from ordinoise.datasets.cuts import to_ordinal
from ordinoise.datasets.embedded import diabetes, synthetic
from ordinoise.datasets.files import MissingFileError
from ordinoise.datasets.raters import lidc, web_search
from ordinoise.datasets.records import OrdinalDataset, RatedDataset

__all__ = [
    "NAMES",
    "MissingFileError",
    "OrdinalDataset",
    "RatedDataset",
    "catalogue",
    "diabetes",
    "lidc",
    "load",
    "synthetic",
    "to_ordinal",
    "web_search",
]
