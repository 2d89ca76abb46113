"""Tables of other libraries: Hugging Face datasets and Arrow streams are read as the frame they hold."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from ordinoise import (
    NoiseAwareClassifier,
    OrdinalBoostingClassifier,
    OrdinalClassifier,
    ScoreLikelihood,
    adjacent,
    find_label_issues,
    out_of_fold,
)
from ordinoise._frames import as_native, frame_of
from ordinoise.audit.issues import library_of

pa = pytest.importorskip("pyarrow")
RNG = np.random.default_rng(0)
GRADES = RNG.integers(3, size=90)
TABLE = pa.table({"size": GRADES + RNG.normal(0, 0.1, 90), "kind": RNG.choice(["a", "b"], 90)})


class Dataset:
    """What a Dataset of the library `datasets` can do, of which alone use is made."""

    def __init__(self, table: Any, form: str | None = None) -> None:
        self.table, self.form = table, form

    column_names: Any = TABLE.column_names
    shape = TABLE.shape

    def __len__(self) -> int:
        return len(self.table)

    def with_format(self, form: str) -> Any:
        return Dataset(self.table, form)

    def __getitem__(self, rows: slice) -> Any:
        assert self.form == "arrow"
        return self.table[rows]


class DatasetDict(dict[str, Any]):
    column_names, with_format = None, None


class IterableDataset:
    column_names, with_format = None, None


class Stream:
    """A table that streams Arrow and can do nothing else."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return TABLE.__arrow_c_stream__(requested_schema)


def test_a_dataset_learns_and_predicts_as_its_table_with_its_names() -> None:
    model = OrdinalBoostingClassifier(noise=None, n_estimators=5, random_state=0).fit(Dataset(TABLE), GRADES)
    same = OrdinalBoostingClassifier(noise=None, n_estimators=5, random_state=0).fit(TABLE, GRADES)
    assert model.feature_names_in_.tolist() == ["size", "kind"]
    np.testing.assert_array_equal(model.predict_proba(Dataset(TABLE)), same.predict_proba(TABLE))
    assert library_of(Dataset(TABLE)) == "pyarrow"


def test_an_arrow_stream_is_a_frame() -> None:
    assert frame_of(Stream()).to_native().equals(pl.DataFrame(TABLE))


@pytest.mark.parametrize("table", [TABLE, pl.DataFrame(TABLE), pl.Series([1]), np.eye(2), [[1]]])
def test_what_is_known_already_stays_as_it_is(table: Any) -> None:
    assert as_native(table) is table


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        (DatasetDict(train=1, test=2), r"X must be one split, got a DatasetDict of \['train', 'test'\]; pass X\['train'\]"),
        (IterableDataset(), "X must have a length, got IterableDataset; pass a Dataset of the rows to learn from"),
    ],
)  # fmt: skip
def test_a_dataset_that_is_no_table_is_refused(odd: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        as_native(odd)


def test_the_library_of_hugging_face_goes_in_and_its_columns_come_out() -> None:
    datasets = pytest.importorskip("datasets")
    if not hasattr(datasets, "Dataset"):
        pytest.skip("the library of Hugging Face is not installed: the name is that of a folder of tests")
    whole = datasets.Dataset(TABLE)
    model = OrdinalBoostingClassifier(noise=None, n_estimators=5, random_state=0).fit(whole, GRADES)
    same = OrdinalBoostingClassifier(noise=None, n_estimators=5, random_state=0).fit(TABLE, GRADES)
    some = whole.select(range(5, 40))  # a choice of rows, which the library keeps beside the table
    np.testing.assert_array_equal(model.predict_proba(some), same.predict_proba(TABLE)[5:40])
    issues = find_label_issues(whole, GRADES, noise=adjacent(3, up=0.1, down=0.1), estimator=model, n_folds=2)
    for name, column in issues.to_columns().items():
        whole = whole.add_column(name, column)
    assert whole.column_names == [
        "size",
        "kind",
        "suggested",
        "suspicion",
        "rank",
        "probability_wrong",
        "expected_distance",
    ]
    with pytest.raises(ValueError, match=r"^X must be one split, got a DatasetDict of \['train'\]"):
        as_native(datasets.DatasetDict(train=whole))
    with pytest.raises(ValueError, match=r"^X must have a length, got IterableDataset"):
        as_native(whole.to_iterable_dataset())


class Query(Stream):
    """A query without an order: every reading gives the rows in another one, and a second one may fail."""

    def __init__(self) -> None:
        self.readings = 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.readings += 1
        assert self.readings == 1
        return TABLE.__arrow_c_stream__(requested_schema)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "reads",
    [
        lambda X: find_label_issues(X, GRADES, noise=adjacent(3, 0.1, 0.1), random_state=0),
        lambda X: find_label_issues(X, GRADES, estimator=booster(), noise=adjacent(3, 0.1, 0.1), random_state=0),
        lambda X: out_of_fold(booster(), X, GRADES, cv=3),
        lambda X: OrdinalClassifier("mlp", noise=None, n_folds=2).fit(X, GRADES),
        lambda X: booster(noise=ScoreLikelihood(base_estimator=booster(), random_state=0)).fit(X, GRADES),
        lambda X: ScoreLikelihood(base_estimator=booster(), random_state=0).fit(X, GRADES),
        lambda X: NoiseAwareClassifier(booster(), noise=None).fit(X, GRADES),
    ],
)
def test_a_query_is_read_once(reads: Callable[[Any], Any]) -> None:
    reads(Query())


def booster(**options: Any) -> OrdinalBoostingClassifier:
    return OrdinalBoostingClassifier(n_estimators=3, n_jobs=1, random_state=0, **options)
