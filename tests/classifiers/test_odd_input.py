"""Whatever is passed as X and y, a classifier learns from it or answers with one sentence."""

from __future__ import annotations

import datetime
import decimal
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression

from ordinoise import OrdinalMLPClassifier, OrdinalTorchClassifier
from ordinoise.classifiers import NoiseAwareClassifier, OrdinalBoostingClassifier, OrdinalClassifier
from ordinoise.columns.refusals import KNOWN

N = 24
BLEND: dict[str, Any] = {"noise": None, "n_folds": 2, "n_rounds": 1, "n_jobs": 1, "random_state": 0}
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "mlp": lambda: OrdinalMLPClassifier(max_iter=1, random_state=0),
    "boosting": lambda: OrdinalBoostingClassifier(n_estimators=2, n_jobs=1, random_state=0),
    "blend of networks": lambda: OrdinalClassifier("mlp", **BLEND),
    "blend of trees": lambda: OrdinalClassifier("boosting", **BLEND),
    "torch": lambda: OrdinalTorchClassifier(max_iter=1, device="cpu", random_state=0),
    "noise-aware": lambda: NoiseAwareClassifier(LogisticRegression(), noise=np.eye(3)),
}
# Trees of the blend read a table as those alone do, thirty fits each.
WITHOUT_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
MARKS = {"blend of trees": [pytest.mark.slow], "torch": [WITHOUT_TORCH]}
NAMES = [pytest.param(name, marks=MARKS.get(name, ())) for name in CLASSIFIERS]
NUMBERS = np.random.default_rng(0).normal(size=(N, 2))
GRADES = np.arange(N) % 3
DAY = datetime.datetime(2020, 1, 1)
DAYS = [DAY + datetime.timedelta(days=day) for day in range(N)]
SPANS = [datetime.timedelta(days=day) for day in range(N)]


def _objects(*cells: Any) -> Any:
    table = NUMBERS.astype(object)
    for row in range(N):
        table[row, 1] = cells[row % len(cells)]
    return table


def _frames(name: str, cells: list[Any]) -> Iterator[tuple[str, Any]]:
    """The cells as a column of pandas, polars and pyarrow, where the library takes them."""
    makers = {
        "pandas": lambda: pd.DataFrame({"a": NUMBERS[:, 0], "b": pd.Series(cells)}),
        "polars": lambda: pl.DataFrame({"a": NUMBERS[:, 0], "b": cells}),
        "pyarrow": lambda: pa.table({"a": NUMBERS[:, 0], "b": pa.array(cells)}),
        "arrow in pandas": lambda: pd.DataFrame(
            {"a": NUMBERS[:, 0], "b": pd.Series(pd.arrays.ArrowExtensionArray(pa.array(cells)))}
        ),
    }
    for library, make in makers.items():
        try:
            yield f"{library} {name}", make()
        except (TypeError, ValueError, pl.exceptions.PolarsError, pa.ArrowException):
            continue


def _tables() -> Iterator[tuple[str, Any]]:
    times = np.array([DAYS, DAYS], dtype="M8[us]").T
    yield from {
        "numbers near 1e-300": NUMBERS * 1e-300,
        "subnormal numbers": NUMBERS * 1e-310,
        "numbers near 1e300": NUMBERS * 1e300,
        "complex numbers": NUMBERS + 0j,
        "a sparse matrix": scipy.sparse.csr_matrix(NUMBERS),
        "a sparse array": scipy.sparse.csr_array(NUMBERS),
        "objects: whole numbers beyond 64 bits": _objects(2**70),
        "objects: numbers": _objects(1.5, 2),
        "objects: text": _objects("u", "v"),
        "objects: lists": _objects([1, 2]),
        "objects: dates": _objects(DAY),
        "objects: None": _objects(1.0, None),
        "objects: decimals": _objects(decimal.Decimal(1)),
        "objects: mappings": _objects({"a": 1}),
        "an array of text": np.full((N, 2), "u"),
        "an array of bytes": np.full((N, 2), b"u"),
        "an array of dates": times,
        "an array of durations": times - times[0],
        "a structured array": np.array([(1, 2)] * N, dtype=[("a", int), ("b", int)]),
        "one dimension": NUMBERS[:, 0],
        "three dimensions": NUMBERS[:, :, None],
        "a number": 3,
        "None": None,
        "a word": "abc",
        "a mapping": {"a": NUMBERS[:, 0]},
        "a set": {1, 2},
        "a generator": (row for row in NUMBERS),
        "rows of unequal length": [[1], [1, 2]] * (N // 2),
        "no columns": NUMBERS[:, :0],
        "a lazy frame": pl.DataFrame({"a": NUMBERS[:, 0]}).lazy(),
        "a pandas column": pd.Series(NUMBERS[:, 0]),
        "infinity": np.where(NUMBERS > 2, np.inf, NUMBERS),
        "complex column": pd.DataFrame({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1] + 0j}),
        "names twice": pd.DataFrame(NUMBERS, columns=["a", "a"]),
        "names of two kinds": pd.DataFrame(NUMBERS, columns=[0, "b"]),
        "periods": pd.DataFrame({"a": NUMBERS[:, 0], "b": pd.period_range("2020", periods=N, freq="D")}),
        "intervals": pd.DataFrame({"a": NUMBERS[:, 0], "b": pd.interval_range(0, N)}),
        "dates with a zone": pd.DataFrame({"a": NUMBERS[:, 0], "b": pd.date_range("2020", periods=N, tz="UTC")}),
        "polars objects": pl.DataFrame({"a": NUMBERS[:, 0], "b": pl.Series([object()] * N, dtype=pl.Object)}),
        "polars categories": pl.DataFrame(
            {"a": NUMBERS[:, 0], "b": pl.Series(["u", "v"] * (N // 2), dtype=pl.Categorical)}
        ),
    }.items()
    for kind in ("Int64", "Float64", "string", "int64[pyarrow]", "double[pyarrow]", "string[pyarrow]", "category"):
        cells = ["u", None] if "string" in kind else [1, None]
        yield f"pandas {kind}", pd.DataFrame({"a": NUMBERS[:, 0], "b": pd.Series(cells * (N // 2), dtype=kind)})
    columns: dict[str, list[Any]] = {
        "lists": [[1, 2]] * N,
        "datetimes": DAYS,
        "dates": [day.date() for day in DAYS],
        "durations": SPANS,
        "times": [datetime.time(row % 24) for row in range(N)],
        "categories": ["u", "v"] * (N // 2),
        "free text": [f"text {row}" for row in range(N)],
        "structs": [{"a": 1}] * N,
        "decimals": [decimal.Decimal("1.5")] * N,
        "bytes": [b"u"] * N,
        "nothing": [None] * N,
        "flags": [True, None] * (N // 2),
        "numbers and text": [1, "u"] * (N // 2),
    }
    for name, cells in columns.items():
        yield from _frames(name, cells)


def _labels() -> Iterator[tuple[str, Any]]:
    yield from {
        "numbers and text": np.array([0, "a", 2] * (N // 3), dtype=object),
        "numbers and None": np.array([0, None, 2] * (N // 3), dtype=object),
        "dates": np.array(DAYS, dtype="M8[us]"),
        "durations": pl.Series(SPANS),
        "complex numbers": GRADES + 0j,
        "lists": pd.Series([[1], [1, 2], [3]] * (N // 3)),
        "parts of unequal length": [[1], [1, 2], [3]] * (N // 3),
        "extension": pd.Series(GRADES, dtype="Int64"),
        "extension with a gap": pd.Series([0, None, 2] * (N // 3), dtype="Int64"),
        "arrow": pd.Series(GRADES, dtype="int64[pyarrow]"),
        "text without an order": pl.Series(["a", "b", "c"] * (N // 3)),
        "bytes": np.array([b"a", b"b", b"c"] * (N // 3)),
        "a gap": pl.Series([0, None, 2] * (N // 3)),
        "decimals": [decimal.Decimal(int(grade)) for grade in GRADES],
        "a mapping": {"a": 1},
        "a word": "abc",
        "a number": 3,
        "two columns": pd.DataFrame({"a": GRADES, "b": GRADES}),
        "a sparse row": scipy.sparse.csr_matrix(GRADES),
        "a structured array": np.array([(1, 2)] * N, dtype=[("a", int), ("b", int)]),
    }.items()


def _refusal(classifier: str, X: Any, y: Any) -> str | None:
    """What a classifier says to these features and labels; None if it learns and predicts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            CLASSIFIERS[classifier]().fit(X, y).predict(X)
        except (ValueError, TypeError, ArithmeticError) as error:
            return str(error)
    return None


def _is_plain(words: str | None) -> bool:
    is_ours = words is not None and " must " in words and ", got " in words and "\n" not in words
    return words is None or is_ours or words.startswith(KNOWN)


@pytest.mark.parametrize(
    ("classifier", "step"),
    [
        ("mlp", 1),
        ("boosting", 1),
        ("blend of networks", 9),  # a ninth of the tables: every one is twelve fits
        ("noise-aware", 9),
        pytest.param("torch", 1, marks=WITHOUT_TORCH),
        *(
            pytest.param(name, 1, marks=pytest.mark.slow)
            for name in ("blend of networks", "blend of trees", "noise-aware")
        ),
    ],
)
def test_any_features_are_learned_from_or_refused_with_one_sentence(classifier: str, step: int) -> None:
    said = {name: _refusal(classifier, X, GRADES) for name, X in islice(_tables(), 0, None, step)}
    assert not {name: words for name, words in said.items() if not _is_plain(words)}


@pytest.mark.parametrize("classifier", NAMES)
def test_any_labels_are_learned_from_or_refused_with_one_sentence(classifier: str) -> None:
    said = {name: _refusal(classifier, NUMBERS, y) for name, y in _labels()}
    assert not {name: words for name, words in said.items() if not _is_plain(words)}


@pytest.mark.parametrize("classifier", ["mlp", pytest.param("torch", marks=WITHOUT_TORCH)])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_for_a_network_names_the_column_and_who_takes_categories(classifier: str, make: Any) -> None:
    X = make({"age": NUMBERS[:, 0].tolist(), "color": ["1", "red"] * (N // 2)})
    words = _refusal(classifier, X, GRADES)
    assert words is not None
    assert words.startswith("column 'color' must hold numbers, got 'red' in row 1; OrdinalClassifier and")


def test_missing_text_of_pandas_is_a_missing_category() -> None:
    texts = pd.Series(["u", None, "v"] * (N // 3), dtype="string")
    X = pd.DataFrame({"a": NUMBERS[:, 0], "b": texts})
    model = CLASSIFIERS["boosting"]().fit(X, GRADES)
    assert model.columns_.categories == {1: ("u", "v")}


def test_numbers_too_small_for_trees_are_named_as_such(capfd: pytest.CaptureFixture[str]) -> None:
    words = _refusal("boosting", NUMBERS * 1e-300, GRADES)
    assert words is not None
    assert "1e-35" in words
    assert capfd.readouterr() == ("", "")  # no line of LightGBM's own


def test_labels_beyond_64_bits_are_one_sentence() -> None:
    assert "64 bits" in str(_refusal("boosting", NUMBERS, np.array([1, 2, 2**70] * (N // 3), dtype=object)))


@pytest.mark.parametrize("classifier", NAMES)
def test_a_dask_collection_is_refused_with_the_name_of_the_command_for_it(classifier: str) -> None:
    array = pytest.importorskip("dask.array")
    words = _refusal(classifier, array.from_array(NUMBERS), GRADES)
    assert words is not None
    assert "X must be in memory, got a Dask collection; ordinoise fit FOLDER --scheduler ADDRESS" in words
