"""Two data sets in which several raters graded the same items."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ordinoise._validation import Floats, Ints, as_floats, as_labels, complain
from ordinoise.datasets.files import DataDir, DataFile, verified
from ordinoise.datasets.records import RatedDataset

LIDC_FILE = DataFile(
    path="raters/lidc_malignancy.csv",
    n_rows=2651,
    sha256="a439f1e6a138dca2d195fe80fe34c3ebaf122dfce6045401d1774217608e22d7",
    source="LIDC-IDRI, one row per nodule",
    n_header=1,
)
LIDC_FEATURES = (
    *("slice_thickness", "pixel_spacing", "contrast", "diameter_mm", "volume_mm3", "max_area_mm2"),
    *("perimeter_mm", "n_slices", "z_extent_mm", "circularity", "subtlety_mean", "internalStructure_mean"),
    *("calcification_mean", "sphericity_mean", "margin_mean", "lobulation_mean", "spiculation_mean"),
    "texture_mean",
)
"""Ten measurements of the scan and the nodule, then eight means of the radiologists' ratings of its appearance."""
LIDC_RATINGS = ("malignancy_r1", "malignancy_r2", "malignancy_r3", "malignancy_r4")
LIDC_CLASSES = ("1", "2", "3", "4", "5")

WEB_LABELS_FILE = DataFile(
    path="raters/web_search_labels.csv",
    n_rows=15567,
    sha256="90b6e66284288079fab48593c61fb7949f964d007fce077b13d21d0b7ab43211",
    source="the web search relevance crowd study",
    n_header=1,
)
WEB_TRUTH_FILE = DataFile(
    path="raters/web_search_truth.csv",
    n_rows=2653,
    sha256="1b215fe642b88107fc07c0f4b9169b70e178f3a65f76926ea1fbeb86fd688c4d",
    source=WEB_LABELS_FILE.source,
    n_header=1,
)
WEB_CLASSES = ("0", "1", "2", "3", "4")


def lidc(data_dir: DataDir = None, *, verify: bool = True) -> RatedDataset:
    """Malignancy 1 to 5 of 2651 lung nodules, each graded by up to four radiologists.

    The file does not identify radiologists: rater 0 is whoever is listed first for a nodule, not one person. `groups`
    holds the scan of each nodule. Features whose names end in ``_mean`` are ratings by the same radiologists; drop
    them if the grade must be predicted from measurements alone.
    """
    path = verified(LIDC_FILE, data_dir, verify=verify)
    grades = _columns(path, LIDC_RATINGS)
    items, raters = np.nonzero(~np.isnan(grades))
    return RatedDataset(
        name="lidc",
        items=items,
        raters=raters,
        labels=as_labels(f"malignancy in {path.name} less 1", grades[items, raters] - 1, len(LIDC_CLASSES)),
        n_items=len(grades),
        n_raters=len(LIDC_RATINGS),
        class_names=LIDC_CLASSES,
        features=as_floats(f"features in {path.name}", _columns(path, LIDC_FEATURES), 2),
        feature_names=LIDC_FEATURES,
        groups=_whole_columns(path, ("scan_id",))["scan_id"],
        note="LIDC-IDRI nodules; raters are positions in a list, not persons.",
    )


def web_search(data_dir: DataDir = None, *, verify: bool = True) -> RatedDataset:
    """Relevance 0 to 4 of 2665 search results by 177 crowd workers, gold grades for 2653; no features."""
    labels_path = verified(WEB_LABELS_FILE, data_dir, verify=verify)
    truth_path = verified(WEB_TRUTH_FILE, data_dir, verify=verify)
    ratings = _whole_columns(labels_path, ("item", "worker", "label"))
    gold = _whole_columns(truth_path, ("item", "truth"))
    n_items = int(max(ratings["item"].max(), gold["item"].max())) + 1
    truth = np.full(n_items, -1, dtype=np.int64)
    truth[gold["item"]] = as_labels(f"truth in {truth_path.name}", gold["truth"], len(WEB_CLASSES))
    return RatedDataset(
        name="web_search",
        items=ratings["item"],
        raters=ratings["worker"],
        labels=as_labels(f"label in {labels_path.name}", ratings["label"], len(WEB_CLASSES)),
        n_items=n_items,
        n_raters=int(ratings["worker"].max()) + 1,
        class_names=WEB_CLASSES,
        truth=truth,
        note="Crowd grades of search results with gold grades for most.",
    )


def _columns(path: Path, names: tuple[str, ...]) -> Floats:
    """The named columns of a CSV file with header, shape (n_rows, n_names); NaN for blank fields."""
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    header, body = (rows[0], rows[1:]) if rows else ([], [])
    absent = [name for name in names if name not in header]
    if absent or not body:
        raise complain(path.name, f"have rows under a column {(absent or names)[0]!r}", f"the header {header}")
    places = [header.index(name) for name in names]
    try:
        return np.array([[float(row[at] or "nan") for at in places] for row in body])
    except (ValueError, IndexError) as error:
        raise complain(path.name, f"hold numbers or blanks in {list(names)}", f"a row with {error}") from None


def _whole_columns(path: Path, names: tuple[str, ...]) -> dict[str, Ints]:
    """The named columns as non-negative integers."""
    table = _columns(path, names)
    if not (np.isfinite(table) & (table >= 0) & (table == np.floor(table))).all():
        raise complain(path.name, f"hold whole numbers from 0 up in {list(names)}", "a row that does not")
    return dict(zip(names, table.T.astype(np.int64), strict=True))
