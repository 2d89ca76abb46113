"""The paper's files: names and means of their columns, checksums, how they are cut, and their copies on OpenML.

The means are those of the published files, to six digits; a table fetched from OpenML must have the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from ordinoise.datasets.files import DataFile
from ordinoise.datasets.openml import OpenMLTable


@dataclass(frozen=True)
class NumericTable:
    """A file of numbers whose last column, the `quantity`, is cut into grades as the paper does by default.

    The columns are those of `openml`, in order.
    """

    name: str
    file: DataFile
    openml: OpenMLTable
    quantity: str
    n_classes: int
    strategy: str = "equal_frequency"
    edges: tuple[float, ...] | None = None
    delimiter: str | None = ","

    @property
    def feature_names(self) -> tuple[str, ...]:
        """All columns but the last."""
        return tuple(self.openml.columns)[:-1]


BOSTON = NumericTable(
    name="boston",
    quantity="value",
    n_classes=5,
    delimiter=None,
    file=DataFile(
        path="paper/housing.data",
        n_rows=506,
        sha256="fe07bd78f843bd42cdff4268020274eceaee4d51f9f8298c54c7dfc4a54a076f",
        source="UCI machine learning archive, Boston housing",
    ),
    openml=OpenMLTable(
        data_id=531,
        columns={
            "CRIM": 3.61352,
            "ZN": 11.3636,
            "INDUS": 11.1368,
            "CHAS": 0.06917,
            "NOX": 0.554695,
            "RM": 6.28463,
            "AGE": 68.5749,
            "DIS": 3.79504,
            "RAD": 9.54941,
            "TAX": 408.237,
            "PTRATIO": 18.4555,
            "B": 356.674,
            "LSTAT": 12.6531,
            "MEDV": 22.5328,
        },
    ),
)

ABALONE = NumericTable(
    name="abalone",
    quantity="rings",
    n_classes=4,
    strategy="edges",
    edges=(8.0, 10.0, 13.0),
    file=DataFile(
        path="paper/abalone.data",
        n_rows=4177,
        sha256="de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f",
        source="UCI machine learning archive, Abalone",
    ),
    openml=OpenMLTable(
        data_id=183,
        columns={
            "Sex": 0.95547,
            "Length": 0.523992,
            "Diameter": 0.407881,
            "Height": 0.139516,
            "Whole_weight": 0.828742,
            "Shucked_weight": 0.359367,
            "Viscera_weight": 0.180594,
            "Shell_weight": 0.238831,
            "Class_number_of_rings": 9.93368,
        },
        codes={"M": 0.0, "F": 1.0, "I": 2.0},
    ),
)

COMPUTER = NumericTable(
    name="computer",
    quantity="usr",
    n_classes=5,
    file=DataFile(
        path="paper/cpu_act.data",
        n_rows=8192,
        sha256="c9217b9151939d8f740438869ee81ed02a0fe99de2ff6ab2faac278f31c3cf45",
        source="Torgo's regression archive, Computer Activity",
    ),
    openml=OpenMLTable(
        data_id=197,
        columns={
            "lread": 19.5597,
            "lwrite": 13.1062,
            "scall": 2306.32,
            "sread": 210.48,
            "swrite": 150.058,
            "fork": 1.88455,
            "exec": 2.792,
            "rchar": 197014.0,
            "wchar": 95898.3,
            "pgout": 2.28532,
            "ppgout": 5.97723,
            "pgfree": 11.9197,
            "pgscan": 21.5268,
            "atch": 1.1275,
            "pgin": 8.27796,
            "ppgin": 12.3886,
            "pflt": 109.794,
            "vflt": 185.316,
            "runqsz": 19.6307,
            "freemem": 1763.46,
            "freeswap": 1328130.0,
            "usr": 83.9689,
        },
    ),
)

CALIFORNIA = NumericTable(
    name="california",
    quantity="value",
    n_classes=4,
    strategy="equal_width",
    file=DataFile(
        path="paper/cal_housing.data",
        n_rows=20640,
        sha256="a2b44dcc7e1c9091b43c4f458b25cbd1f7e8068d08edd26bc4703108d3fa6214",
        source="Torgo's regression archive, California Housing",
    ),
    openml=OpenMLTable(
        # "houses" has raw totals and values; scikit-learn's own California set has ratios.
        data_id=537,
        columns={
            "longitude": -119.57,
            "latitude": 35.6319,
            "housing_median_age": 28.6395,
            "total_rooms": 2635.76,
            "total_bedrooms": 537.898,
            "population": 1425.48,
            "households": 499.54,
            "median_income": 3.87067,
            "median_house_value": 206856.0,
        },
    ),
)

_MSLR_SOURCE = "Microsoft Research, MSLR-WEB10K"

MSLR_FILES = {
    "train": DataFile(
        path="paper/MSLR-WEB10K/Fold1/train.txt",
        n_rows=5000,
        sha256="6d1721de961a35fbaef7085dc5b41e2940f0ddb04bab5f7a8566cf7db4158fa6",
        source=_MSLR_SOURCE,
    ),
    "test": DataFile(
        path="paper/MSLR-WEB10K/Fold1/test.txt",
        n_rows=5000,
        sha256="13d3c638edd23e482c38f4316c2680c938c2eaedbe096970ab30a48e364463d3",
        source=_MSLR_SOURCE,
    ),
}
