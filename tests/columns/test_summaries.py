"""Texts as a few numbers."""

from typing import Any

import numpy as np
import pytest

from ordinoise.columns.summaries import SIZE, SUMMARY, Summaries

TEXTS = [
    "The cat sat on the mat",
    "A dog sat on the cat",
    "On 9 May 2019 the dog barked",
    "Epistemological considerations notwithstanding",
    "the cat , the dog and the mat",
    "a dog and a cat",
]


def raw(summaries: Summaries, counted: Any) -> Any:
    return np.asarray(counted.toarray() / SIZE * summaries.scale + summaries.center)


def test_a_training_text_is_read_as_if_it_were_new() -> None:
    """Also where it is there twice, as with several grades of one text."""
    texts = [*TEXTS, TEXTS[0]]
    known = raw(*Summaries.of(0, texts))
    for at, text in enumerate(TEXTS):
        others = Summaries.of(0, [one for one in texts if one != text])[0]
        wide = Summaries(0, others.n_texts, others.hashes, others.holding, np.zeros(6), np.full(6, 1e3))
        np.testing.assert_allclose(raw(wide, wide.counted([text])), known[[at]], rtol=1e-4, atol=1e-3)


def test_columns_are_what_they_are_called() -> None:
    summaries, _ = Summaries.of(0, TEXTS)
    wide = Summaries(0, summaries.n_texts, summaries.hashes, summaries.holding, np.zeros(6), np.full(6, 1e3))
    found = raw(wide, wide.counted(["The dog saw 9 zebras"]))
    held = {"the": 4, "dog": 4, "saw": 0, "zebras": 0}
    rarity = np.mean([np.log(7 / (1 + count)) for count in held.values()])
    np.testing.assert_allclose(found, [[np.log(5), 16 / 5, 6, rarity, 1 / 5, 1 / 5]], rtol=1e-4)
    assert len(SUMMARY) == 6


def test_columns_of_the_training_texts_have_one_size() -> None:
    counted = Summaries.of(0, TEXTS)[1].toarray()
    np.testing.assert_allclose(counted.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(counted.std(axis=0), SIZE, rtol=1e-5)


@pytest.mark.parametrize("texts", [[""], ["", "!"], ["same words here"] * 3])
def test_texts_without_words_or_differences_are_finite(texts: list[str]) -> None:
    summaries, counted = Summaries.of(0, texts)
    assert counted.shape == (len(texts), 6)
    assert np.isfinite(counted.toarray()).all()
    assert np.isfinite(summaries.counted(["", "x" * 10_000]).toarray()).all()
    assert summaries.counted([]).shape == (0, 6)
