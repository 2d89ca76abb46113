"""Free text as counts of n-grams, and the weight of each n-gram among the texts that a model learns from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ordinoise._sparse import as_csr, holding, slices
from ordinoise._validation import Floats, as_choice, as_count, complain

# The usual n-grams of text classification, those of the comparisons in `studies.text`; chosen by no run of ours.
LENGTHS = {"word": (1, 2), "char_wb": (2, 5)}
FEWEST_TEXTS = {"word": 2, "char_wb": 3}
"""Texts that must hold an n-gram for a model to read it."""
MOST_CHARACTERS = 10_000_000
"""Above this many characters in a column n-grams are hashed: their dictionary would take gigabytes."""
HASHED = 2**20
TINY = 1e-12  # instead of zero below a fraction line
TEXTS_AT_A_TIME = 10_000  # bounds the memory of counting: a round number, chosen by no run

Weights = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Grams:
    """The n-grams of one text column that are counted.

    Attributes
    ----------
    column : int
        Position among the text columns.
    analyzer : {"word", "char_wb"}
        Words and pairs of words, or 2 to 5 characters inside a word with its edges.
    vocabulary : tuple of str or None
        The n-grams, in the order of the columns; None if they are hashed.
    """

    column: int
    analyzer: str
    vocabulary: tuple[str, ...] | None

    def __post_init__(self) -> None:
        as_count("column", self.column, 0)
        as_choice("analyzer", self.analyzer, LENGTHS)
        known = self.vocabulary
        if known is not None and (
            not isinstance(known, tuple)
            or not all(isinstance(gram, str) for gram in known)
            or len(set(known)) < len(known)
        ):
            raise complain("vocabulary", "hold different n-grams", type(known).__name__)

    @classmethod
    def of(cls, column: int, analyzer: str, texts: Sequence[str]) -> tuple[Grams, Any]:
        """The n-grams that enough of the texts hold, hashed if the texts are long and many, and their `counted`."""
        if sum(map(len, texts)) > MOST_CHARACTERS:
            hashed = cls(column, analyzer, None)
            return hashed, hashed.counted(texts)
        from sklearn.feature_extraction.text import CountVectorizer

        fewest = min(FEWEST_TEXTS[analyzer], len(texts))
        counter = CountVectorizer(analyzer=analyzer, ngram_range=LENGTHS[analyzer], min_df=fewest, dtype=np.float32)
        try:
            counts = counter.fit_transform(texts)
        except ValueError:  # scikit-learn's word for an empty vocabulary
            return cls(column, analyzer, ()), as_csr((len(texts), 0), dtype=np.float32)
        return cls(column, analyzer, tuple(counter.get_feature_names_out().tolist())), _dampened(counts)

    @property
    def n_columns(self) -> int:
        """Number of n-grams, or of hashes."""
        return HASHED if self.vocabulary is None else len(self.vocabulary)

    def counted(self, texts: Sequence[str]) -> Any:
        """``1 + log(count)`` of each n-gram in each text: a CSR matrix of float32, shape (n_texts, n_columns)."""
        if not self.n_columns:
            return as_csr((len(texts), 0), dtype=np.float32)
        counter = self._counter()
        parts = [
            as_csr(counter.transform(texts[start : start + TEXTS_AT_A_TIME]), dtype=np.float32)
            for start in range(0, len(texts), TEXTS_AT_A_TIME)
        ]
        return _dampened(parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr"))

    def analyzer_function(self) -> Callable[[str], list[str]]:
        """The function that lists the n-grams of a text, one entry per occurrence."""
        function: Callable[[str], list[str]] = self._counter().build_analyzer()
        return function

    def positions(self, grams: Sequence[str]) -> list[int]:
        """Column of each n-gram; -1 if it has none."""
        from sklearn.feature_extraction import FeatureHasher

        if self.vocabulary is None:
            hasher = FeatureHasher(HASHED, input_type="string", alternate_sign=False)
            return hasher.transform([[gram] for gram in grams]).indices.tolist() if grams else []
        return [self._places.get(gram, -1) for gram in grams]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {gram: at for at, gram in enumerate(self.vocabulary or ())}

    def _counter(self) -> Any:
        from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

        options: dict[str, Any] = {"analyzer": self.analyzer, "ngram_range": LENGTHS[self.analyzer]}
        if self.vocabulary is not None:
            return CountVectorizer(**options, vocabulary=self._places, dtype=np.float32)
        return HashingVectorizer(**options, n_features=HASHED, alternate_sign=False, norm=None, dtype=np.float32)


def _dampened(counts: Any) -> Any:
    counts.data = 1 + np.log(counts.data)
    return counts


def rarity(counted: Any, analyzer: str) -> Weights:
    """The weight of each n-gram among these texts: ``1 + log((1 + n) / (1 + texts that hold it))``, 0 if too few do.

    What scikit-learn's `TfidfTransformer` gives for the n-grams that are kept.
    """
    n_holding = holding(counted)
    weights = 1 + np.log((1 + counted.shape[0]) / (1 + n_holding))
    return np.where(n_holding >= FEWEST_TEXTS[analyzer], weights, 0).astype(np.float32)


def association(counted: Any, grades: Floats, weights: Floats) -> Weights:
    """How far the grades of the texts that hold an n-gram differ from those of all: ``sqrt(1 + z^2)``.

    z is the weighted sum of their standardized grades, in units of its standard deviation. An n-gram that says nothing
    has about sqrt(2), whether it is rare or frequent; under a penalty, those that say more are read more easily.
    """
    shares = weights / weights.sum()
    surplus = grades - shares @ grades
    surplus = surplus / max(np.sqrt(shares @ surplus**2), TINY)
    total, variance = np.zeros(counted.shape[1]), np.zeros(counted.shape[1])
    for rows in slices(counted.shape[0], counted.nnz):
        some = counted[rows]
        held = as_csr((np.ones(some.nnz), some.indices, some.indptr), shape=some.shape)
        total += held.T @ (weights * surplus)[rows]
        variance += held.T @ weights[rows] ** 2
    return np.sqrt(1 + total**2 / np.maximum(variance, TINY)).astype(np.float32)


def components(texts: Sequence[str], n_components: int) -> Floats:
    """The directions in which the n-grams of the texts differ most, shape (n_texts, at most n_components).

    For learners of dense columns: no grade is looked at, so that the texts of held-out rows may take part.
    """
    from sklearn.decomposition import TruncatedSVD

    counts = [Grams.of(0, kind, texts)[1] for kind in LENGTHS]
    parts = [weighted(some, rarity(some, kind)) for some, kind in zip(counts, LENGTHS, strict=True)]
    columns = sparse.hstack(parts, format="csr")
    n_components = min(n_components, columns.shape[1] - 1)
    if n_components < 1:
        return np.empty((len(texts), 0))
    return np.asarray(TruncatedSVD(n_components, random_state=0).fit_transform(columns), dtype=np.float64)


def weighted(counted: Any, weights: Weights) -> Any:
    """TF-IDF: counts times weights, rows of length one (or zero); shares the positions of `counted`."""
    from sklearn.preprocessing import normalize

    values = counted.data.astype(np.float64) * weights[counted.indices]
    rows = as_csr((values, counted.indices, counted.indptr), shape=counted.shape)
    return normalize(rows, copy=False) if rows.shape[1] else rows  # a text may have no n-gram that counts
