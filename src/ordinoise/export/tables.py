"""Missing values and categories in ONNX: every column of the features is numeric, NaN where a value is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.export.graph import Graph

Categories = Mapping[int, Sequence[Any]]


def category_values(graph: Graph, categories: Categories) -> dict[int, Floats]:
    """The number of each category of each categorical column.

    A numeric category is passed as it is; a text category is passed as its position in the list of categories, which
    is written to the metadata of the file.
    """
    if categories:
        graph.notes["categories"] = {column: list(known) for column, known in categories.items()}
    return {column: _values(graph, known) for column, known in categories.items()}


def dense_features(graph: Graph, medians: Floats, flagged: Ints, codes: Mapping[int, Ints], known: Categories) -> str:
    """Name of the input of a network: numbers with missing values filled, flags of missing values, one-hot columns.

    Parameters
    ----------
    graph : Graph
    medians : array of shape (n_features,)
        Replacement of missing numbers.
    flagged : array of int
        Columns with an additional column that flags missing numbers.
    codes : mapping of int to array
        By number of the categorical column: the codes that get a one-hot column.
    known : mapping of int to sequence
        By number of the categorical column: its categories in the order of their codes.
    """
    values = category_values(graph, known)
    numbers = np.array([column for column in range(len(medians)) if column not in codes], dtype=np.int64)
    found = _columns(graph, numbers)
    parts = [graph.add("Where", graph.add("IsNaN", found), graph.constant(medians[numbers]), found)]
    if len(flagged):
        parts.append(graph.cast(graph.add("IsNaN", _columns(graph, flagged)), "float64"))
    parts += [_equal(graph, column, values[column][chosen]) for column, chosen in codes.items()]
    return graph.add("Concat", *parts, axis=1)


def is_among(graph: Graph, column: int, values: Floats) -> str:
    """Name of a column that is 1 where a column of the features equals one of the values, else 0."""
    return graph.add("MatMul", _equal(graph, column, values), graph.constant(np.ones((len(values), 1))))


def _equal(graph: Graph, column: int, values: Floats) -> str:
    """Name of one column per value: 1 where a column of the features equals it, else 0."""
    return graph.cast(graph.add("Equal", _columns(graph, np.array([column])), graph.constant(values)), "float64")


def _values(graph: Graph, known: Sequence[Any]) -> Floats:
    """Numbers of the categories, rounded to the type of the features."""
    has_text = any(isinstance(category, str) for category in known)
    return np.array(range(len(known)) if has_text else known, dtype=graph.dtype).astype(np.float64)


def _columns(graph: Graph, columns: Ints) -> str:
    return graph.add("Gather", graph.features(), graph.constant(columns), axis=1)
