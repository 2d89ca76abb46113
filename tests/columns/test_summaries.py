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
        wide = Summaries(0, others.n_texts, others.hashes, others.holding, np.zeros(10), np.full(10, 1e3))
        np.testing.assert_allclose(raw(wide, wide.counted([text])), known[[at]], rtol=1e-4, atol=1e-3)


def test_columns_are_what_they_are_called() -> None:
    summaries, _ = Summaries.of(0, TEXTS)
    wide = Summaries(0, summaries.n_texts, summaries.hashes, summaries.holding, np.zeros(10), np.full(10, 1e3))
    found = raw(wide, wide.counted(["The dog sat , saw 9 zebras near Kyoto"]))
    held = {"the": 4, "dog": 4, "sat": 2, "saw": 0, "zebras": 0, "near": 0, "kyoto": 0}
    rarity = {word: np.log(7 / (1 + count)) for word, count in held.items()}
    lengths = [3, 3, 3, 3, 1, 6, 4, 5]  # a comma has no letters
    plain = [rarity[word] for word in ("dog", "sat", "saw", "zebras", "near")]
    style = [np.log(9), np.mean(lengths), 6, np.mean(list(rarity.values())), 2 / 9, 1 / 9]
    np.testing.assert_allclose(found, [[*style, np.mean(plain), *[np.log(7)] * 3]], rtol=1e-4)
    assert len(SUMMARY) == 10


def test_a_rare_name_is_no_rare_word() -> None:
    summaries, _ = Summaries.of(0, TEXTS)
    named, plain = summaries.counted(["the dog and Xanthippe", "the dog and xanthippe"]).toarray()
    at = SUMMARY.index("rarest")
    assert named[at] < plain[at]
    assert named[SUMMARY.index("rarity")] == plain[SUMMARY.index("rarity")]


def test_columns_of_the_training_texts_have_one_size() -> None:
    counted = Summaries.of(0, TEXTS)[1].toarray()
    np.testing.assert_allclose(counted.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(counted[:, :-1].std(axis=0), SIZE, rtol=1e-5)
    np.testing.assert_allclose(counted[:, -1], 0, atol=1e-6)  # each of these texts has a word that no two others have


@pytest.mark.parametrize("texts", [[""], ["", "!"], ["same words here"] * 3])
def test_texts_without_words_or_differences_are_finite(texts: list[str]) -> None:
    summaries, counted = Summaries.of(0, texts)
    assert counted.shape == (len(texts), 10)
    assert np.isfinite(counted.toarray()).all()
    assert np.isfinite(summaries.counted(["", "x" * 10_000]).toarray()).all()
    assert summaries.counted([]).shape == (0, 10)
