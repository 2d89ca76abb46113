"""Which words of a text speak for one grade and against another, under the linear models of a fitted classifier."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ordinoise._sparse import as_csr
from ordinoise._validation import Floats, Ints, as_same_length, complain
from ordinoise.classifiers.blend.models import SparseModel
from ordinoise.classifiers.blend.scored import ScoredModel
from ordinoise.classifiers.blend.table import Table
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.columns.texts import Grams
from ordinoise.crossfit import kept_apart
from ordinoise.labels import ranks_of

WORD = re.compile(r"\S+")  # what n-grams of characters stay inside of, as scikit-learn splits them
TOKEN = re.compile(r"(?u)\b\w\w+\b")  # scikit-learn's words


class Word(NamedTuple):
    """One word of a text, with what it says.

    Attributes
    ----------
    column : str
        Name of the text column; its number if the columns have no names.
    word : str
        As it stands in the text, between `start` and `end`; empty for the summary of the text.
    start, end : int
    contribution : float
        Change of the log-odds of the one grade against the other; positive speaks for the one.
    """

    column: str
    word: str
    start: int
    end: int
    contribution: float


def word_contributions(
    model: OrdinalClassifier, X: Any, toward: Any, against: Any, *, rows: Any = None, table: Table | None = None
) -> list[list[Word]]:
    """The words of every row in the order of the text, with what each adds to the log-odds of two grades.

    The log-odds are those of the linear models of all folds, averaged with their weights in the blend; in a model of
    parts, which reads text by a score only, those of the models of that score. N-grams of characters are credited to
    the word they lie in, pairs of words half to each. What the summary of a text adds (its length, the kind of its
    words) comes last, as an empty word. The rest of the log-odds are the other columns and the class shares.

    Parameters
    ----------
    model : OrdinalClassifier
        Fitted.
    X : frame
        Rows as for `predict`.
    toward, against : column of shape (n_samples,)
        Two grades per row, such as the suggested and the recorded one. Where they are the same, the next higher grade
        stands against it, or the next lower one for the highest.
    rows : int array of shape (n_samples,), optional
        Numbers of the rows of X in the table that the model was fitted to, in this process. Each is then judged by the
        models that did not see it: the others may have learned the words of a wrong label by heart.
    table : Table, optional
        What `model.table_of` makes of X, where it is at hand: counting n-grams takes long.

    Returns
    -------
    words : list of list of Word
        Empty lists if the model reads no text.
    """
    check_is_fitted(model, "models_")
    ranks = [ranks_of(name, grades, model.classes_) for name, grades in (("toward", toward), ("against", against))]
    table = model.table_of(X) if table is None else table
    cells = model.columns_.cells(X)
    for name, some in zip(("toward", "against"), ranks, strict=True):
        as_same_length(name, len(some), "X", len(table.features))
    if not model.blend_.coding.reading.grams:
        return [[] for _ in ranks[0]]
    pairs = _different(ranks[0], ranks[1], len(model.classes_))
    values = _contributions(model, table, pairs, _shares(model, len(ranks[0]), rows))
    n_kinds = len(model.blend_.coding.reading.grams)
    names = [str(name) for name in getattr(model, "feature_names_in_", range(model.n_features_in_))]
    columns = [names[j] for j in model.columns_.texts]
    return [
        [
            word
            for at, column in enumerate(columns)
            for word in (
                *_words(column, cells[at][row], _of_row(model.blend_.coding.reading.grams, values[:n_kinds], at, row)),
                Word(column, "", 0, 0, float(values[n_kinds + at][row].sum())),
            )
        ]
        for row in range(len(ranks[0]))
    ]


def _different(toward: Ints, against: Ints, n_classes: int) -> tuple[Ints, Ints]:
    is_same = toward == against
    is_top = is_same & (against == n_classes - 1)
    return np.where(is_same & ~is_top, against + 1, toward), np.where(is_top, against - 1, against)


def _shares(model: OrdinalClassifier, n_samples: int, rows: Any) -> Floats:
    """The share of each of a candidate's models in the average for each row, shape (n_models, n_samples)."""
    n_models = len(next(iter(model.models_.values())))
    if rows is None:
        return np.full((n_models, n_samples), 1 / n_models)
    if model.folds_ is None:
        raise complain("model", "be fitted in this process if rows are given", "a loaded one", "fit it again")
    rows = np.asarray(rows, dtype=np.int64)
    as_same_length("rows", len(rows), "X", n_samples)
    apart = kept_apart(model.folds_, rows)
    return np.asarray(apart / apart.sum(axis=0))


def _contributions(model: OrdinalClassifier, table: Any, pairs: tuple[Ints, Ints], shares: Floats) -> list[Any]:
    """One CSR matrix for each of the `counts`: what each number of each row adds to the log-odds."""
    totals = [np.zeros(some.matrix.nnz) for some in table.counts]
    parts = _linear_models(model, shares)
    whole = np.sum([share for share, _ in parts], axis=0)
    whole = np.where(whole > 0, whole, 1.0)
    for share, one in parts:
        start = one.network.architecture.n_features - sum(map(len, one.coding))  # after the dense columns
        for some, weights, total in zip(table.counts, one.coding, totals, strict=True):
            coded = some.weighted(weights)
            of_row = np.repeat(share / whole, np.diff(coded.indptr))
            total += of_row * coded.data * _coefficients(one, start, coded, pairs)
            start += coded.shape[1]
    return [
        as_csr((total, some.matrix.indices, some.matrix.indptr), shape=some.matrix.shape)
        for some, total in zip(table.counts, totals, strict=True)
    ]


def _linear_models(model: OrdinalClassifier, shares: Floats) -> list[tuple[Floats, SparseModel]]:
    """The linear models of the text with their shares in each row; those whose score others read, if there are none."""
    members = [
        (model.weights_[name] * share, one)
        for name, some in model.models_.items()
        for share, one in zip(shares, some, strict=True)
    ]
    found = [(share, one) for share, one in members if isinstance(one, SparseModel)]
    scored = [(share, one.readers) for share, one in members if isinstance(one, ScoredModel)]
    return found or [(share / len(readers), reader) for share, readers in scored for reader in readers]


def _coefficients(model: SparseModel, start: int, coded: Any, pairs: tuple[Ints, Ints]) -> Floats:
    """The weight of every stored number of `coded` in the log-odds of its row."""
    lines = model.network.weights[-1].astype(np.float64)[:, start : start + coded.shape[1]]
    lengths = np.diff(coded.indptr)
    toward, against = (np.repeat(some, lengths) for some in pairs)
    if len(lines) == 1:  # one score: the log-odds of the higher of the two grades or above
        return np.asarray(np.sign(toward - against) * lines[0, coded.indices])
    return np.asarray(lines[toward, coded.indices] - lines[against, coded.indices])


def _of_row(grams: Sequence[Grams], values: Sequence[Any], column: int, row: int) -> dict[str, tuple[Grams, Any]]:
    """The n-grams of one text column by their kind, with their contributions in one row."""
    return {one.analyzer: (one, block[row]) for one, block in zip(grams, values, strict=True) if one.column == column}


def _words(column: str, text: str, found: dict[str, tuple[Grams, Any]]) -> Iterator[Word]:
    matches = list(WORD.finditer(text))
    totals = np.zeros(len(matches))
    for analyzer, (grams, line) in found.items():
        occurrences = list((_pieces if analyzer == "char_wb" else _tokens)(grams, [one.group() for one in matches]))
        spoken = dict(zip(line.indices.tolist(), line.data.tolist(), strict=True))
        positions = grams.positions([gram for gram, _ in occurrences])
        counts = Counter(positions)
        for position, (_, words) in zip(positions, occurrences, strict=True):
            for word in words:
                totals[word] += spoken.get(position, 0.0) / counts[position] / len(words)
    for match, total in zip(matches, totals.tolist(), strict=True):
        yield Word(column, match.group(), match.start(), match.end(), total)


def _pieces(grams: Grams, words: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every n-gram of characters, and the word that it lies in."""
    analyze = grams.analyzer_function()
    for at, word in enumerate(words):
        yield from ((gram, (at,)) for gram in analyze(word))


def _tokens(grams: Grams, words: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...]]]:  # noqa: ARG001
    """Every word and pair of words of the vocabulary's kind, and the words of the text that they come from."""
    tokens = [(token, at) for at, word in enumerate(words) for token in TOKEN.findall(word.lower())]
    yield from ((token, (at,)) for token, at in tokens)
    yield from ((f"{first} {second}", (i, j)) for (first, i), (second, j) in pairwise(tokens))
