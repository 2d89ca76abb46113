"""Frames of any library: those that narwhals knows, Hugging Face datasets, and whatever else streams Arrow."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal

import narwhals as nw

from ordinoise._validation import complain


def as_native(X: Any) -> Any:
    """A Dataset of Hugging Face as an Arrow table, another table that streams Arrow as a frame of polars.

    Anything else is returned as it is. Neither library is imported: what counts is what the object can do.
    """
    kind = type(X).__name__
    if hasattr(X, "with_format") and hasattr(X, "column_names"):
        if isinstance(X, dict):
            raise complain("X", "be one split", f"a {kind} of {list(X)}", f"pass X[{next(iter(X), '')!r}]")
        if not hasattr(X, "__len__"):
            raise complain("X", "have a length", kind, "pass a Dataset of the rows to learn from")
        return X.with_format("arrow")[:]
    if hasattr(X, "__arrow_c_stream__") and not _is_known(X):
        return nw.from_arrow(X, backend="polars").to_native()
    return X


def _is_known(X: Any) -> bool:
    return nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_into_series(X)


def frame_of(X: Any) -> Any:
    """A frame of narwhals, or `X` itself if it is no frame."""
    return nw.from_native(as_native(X), eager_only=True, pass_through=True)


Library = Literal["pandas", "polars", "pyarrow"]
LIBRARIES: tuple[Library, ...] = ("pandas", "polars", "pyarrow")


def installed_library() -> Library:
    """The first library that can make a frame, of pandas, polars and pyarrow."""
    name = next((library for library in LIBRARIES if find_spec(library)), None)
    if name is None:
        advice = "install one of them, or read the columns of the record"
        raise ImportError(str(complain("to_frame", f"find one of {list(LIBRARIES)}", "none of them installed", advice)))
    return name
