"""Gaps and categories as ONNX reads them: every column of the features is numbers, NaN where one is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.export.graph import Graph

Categories = Mapping[int, Sequence[Any]]


def category_values(graph: Graph, categories: Categories) -> dict[int, Floats]:
    """The number that stands for each category of each categorical column.

    A category that is a number is itself; text, which a table of numbers cannot hold, is its place in the list that
    the file's metadata gives.
    """
    if categories:
        graph.notes["categories"] = {column: list(known) for column, known in categories.items()}
    return {column: _values(graph, known) for column, known in categories.items()}


def dense_features(graph: Graph, medians: Floats, flagged: Ints, codes: Mapping[int, Ints], known: Categories) -> str:
    """Name of the features as a network must have them: gaps filled, then flags of gaps, then zeros and ones.

    Parameters
    ----------
    graph : Graph
    medians : array of shape (n_features,)
        What a missing number is taken for.
    flagged : array of int
        Columns of which one more column says whether a number is missing.
    codes : mapping of int to array
        Column number of each categorical column, and the codes that get a column of zeros and ones.
    known : mapping of int to sequence
        Column number, and the categories in the order of their codes.
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
    """Name of a column that is one where a column of the features holds one of the values, else zero."""
    return graph.add("MatMul", _equal(graph, column, values), graph.constant(np.ones((len(values), 1))))


def _equal(graph: Graph, column: int, values: Floats) -> str:
    """One column a value: one where a column of the features holds it, else zero."""
    return graph.cast(graph.add("Equal", _columns(graph, np.array([column])), graph.constant(values)), "float64")


def _values(graph: Graph, known: Sequence[Any]) -> Floats:
    """Numbers as they come through the type of the features."""
    has_text = any(isinstance(category, str) for category in known)
    return np.array(range(len(known)) if has_text else known, dtype=graph.dtype).astype(np.float64)


def _columns(graph: Graph, columns: Ints) -> str:
    return graph.add("Gather", graph.features(), graph.constant(columns), axis=1)
