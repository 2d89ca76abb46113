"""Free text as a few numbers: how long it is, and what kind of words it has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._sparse import as_csr
from ordinoise._validation import Floats, Ints, as_count, complain
from ordinoise.columns.texts import FEWEST_TEXTS, TINY

RARITIES = ("mean rarity", "upper quartile of rarity", "rarest three", "rarest")
SUMMARY = ("words", "letters per word", "longest word", "rarity", "capitals", "digits", *RARITIES)
"""The columns: the logarithm of the number of words, letters of a mean and of the longest word, the mean rarity of a
word among the other texts, and the shares of words that begin with a capital and that hold a digit. Then the rarities
of the different words without capital and digit alone: names are rare and yet no difficult words."""
N_RAREST = 3  # a round number, chosen by no run
SIZE = 0.2
"""Standard deviation of each column; rows of n-grams have length one. 0.1 and 0.3 did as well (decision 0020)."""
MOST_DEVIATIONS = 5.0  # a round number: one odd text must not decide
HASHES = 2**30  # so many that two words hardly ever share one
TOKEN = re.compile(r"(?u)\b\w\w+\b")  # scikit-learn's words


@dataclass(frozen=True, eq=False)
class Summaries:
    """The summary columns of one text column, by the texts that they were learned from; no grade is looked at.

    Attributes
    ----------
    column : int
        Position among the text columns.
    n_texts : int
        Different texts that were learned from.
    hashes, holding : int arrays of shape (n_words,)
        The words that enough of these texts hold, ascending, and how many do.
    center, scale : arrays of shape (n_columns,)
        Mean and standard deviation of each column.
    """

    column: int
    n_texts: int
    hashes: Ints
    holding: Ints
    center: Floats
    scale: Floats

    def __post_init__(self) -> None:
        as_count("column", self.column, 0)
        as_count("n_texts", self.n_texts, 0)
        words = (self.hashes, self.holding)
        if not all(some.dtype == np.int64 and some.shape == self.hashes.shape[:1] for some in words) or (
            (np.diff(self.hashes) <= 0).any()
        ):
            raise complain("hashes", "ascend, with one number of texts each", [some.shape for some in words])
        moments = (self.center, self.scale)
        if not all(some.shape == (len(SUMMARY),) and np.isfinite(some).all() for some in moments) or (
            (self.scale <= 0).any()
        ):
            raise complain("center and scale", f"be {len(SUMMARY)} numbers, scale positive", "others")

    @classmethod
    def of(cls, column: int, texts: Sequence[str]) -> tuple[Summaries, Any]:
        """The columns of these texts, and their `counted`, in which the rarity of a word leaves the own text out.

        So a training text is read as a new one is, whose words the others may not have.
        """
        different = list(dict.fromkeys(texts))
        counts = _counted_words(different)
        hashes, holding = np.unique(counts.indices, return_counts=True)
        hashes, holding = hashes.astype(np.int64), holding.astype(np.int64)
        raw = _numbers(different, counts, hashes, holding - 1, len(different) - 1)
        place = {text: at for at, text in enumerate(different)}
        raw = raw[[place[text] for text in texts]]
        spread = raw.std(axis=0)
        kept = holding >= FEWEST_TEXTS["word"]
        found = cls(
            column, len(different), hashes[kept], holding[kept], raw.mean(axis=0), np.where(spread > TINY, spread, 1.0)
        )
        return found, found._standardized(raw)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(SUMMARY)

    def counted(self, texts: Sequence[str]) -> Any:
        """The summary columns of new texts: a CSR matrix of float32, shape (n_texts, n_columns)."""
        return self._standardized(_numbers(texts, _counted_words(texts), self.hashes, self.holding, self.n_texts))

    def _standardized(self, raw: Floats) -> Any:
        deviations = np.clip((raw - self.center) / self.scale, -MOST_DEVIATIONS, MOST_DEVIATIONS)
        return as_csr((SIZE * deviations).astype(np.float32))


def _counted_words(texts: Sequence[str], analyzer: Any = "word") -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    counter = HashingVectorizer(n_features=HASHES, analyzer=analyzer, alternate_sign=False, norm=None, dtype=np.float32)
    return counter.transform(texts) if len(texts) else as_csr((0, HASHES), dtype=np.float32)


def _plain_words(text: str) -> list[str]:
    """Words of letters that do not begin with a capital."""
    return [word for word in TOKEN.findall(text) if word.isalpha() and not word[0].isupper()]


def _numbers(texts: Sequence[str], counts: Any, hashes: Ints, holding: Ints, n_texts: int) -> Floats:
    """The columns of each text, not standardized; `holding` of `n_texts` other texts have each word."""
    means = _row_means(counts, _rarities(counts, hashes, holding, n_texts))
    plain = _counted_words(texts, _plain_words)
    rarities = np.split(_rarities(plain, hashes, holding, n_texts), plain.indptr[1:-1])
    return np.array(
        [
            (*_of_words(text.split(), mean), *_of_rarities(np.sort(some)))
            for text, mean, some in zip(texts, means.tolist(), rarities[: len(texts)], strict=True)
        ],
        dtype=np.float64,
    ).reshape(len(texts), len(SUMMARY))


def _of_words(words: list[str], rarity: float) -> tuple[float, ...]:
    """The columns of one text."""
    lengths = [len(word) for word in words if word[0].isalnum() or len(word) > 1] or [0]
    n_words = max(len(words), 1)
    capitals = sum(word[0].isupper() for word in words) / n_words
    digits = sum(not word.isalpha() and any(map(str.isdigit, word)) for word in words) / n_words
    longest = max(lengths)
    return np.log(n_words), sum(lengths) / len(lengths), longest, rarity, capitals, digits


def _of_rarities(ascending: Floats) -> tuple[float, ...]:
    """`RARITIES`; zeros for a text without such words."""
    if not len(ascending):
        return (0.0,) * len(RARITIES)
    quartile = ascending[3 * (len(ascending) - 1) // 4]
    return float(ascending.mean()), float(quartile), float(ascending[-N_RAREST:].mean()), float(ascending[-1])


def _rarities(counts: Any, hashes: Ints, holding: Ints, n_texts: int) -> Floats:
    """``log((1 + n_texts) / (1 + texts that hold it))`` of every word of `counts`; too few count as none."""
    known = np.zeros(len(counts.indices))
    if len(hashes):
        at = np.minimum(np.searchsorted(hashes, counts.indices), len(hashes) - 1)
        known = np.where(hashes[at] == counts.indices, holding[at], 0)
    return np.asarray(np.log((1 + n_texts) / (1 + np.where(known >= FEWEST_TEXTS["word"], known, 0))))


def _row_means(counts: Any, values: Floats) -> NDArray[np.float64]:
    """Mean over the words of each text of their values."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    totals = np.bincount(rows, counts.data, minlength=counts.shape[0])
    return np.bincount(rows, counts.data * values, minlength=counts.shape[0]) / np.maximum(totals, 1)
