"""N-grams of free text, in a vocabulary and hashed."""

import numpy as np
import pytest

from ordinoise.columns import texts as texts_module
from ordinoise.columns.texts import HASHED, LENGTHS, Grams, rarity, weighted

TEXTS = ["good and solid", "good and good value", "weak and noisy", "weak, poor and noisy", "solid value"] * 2


@pytest.mark.parametrize("analyzer", LENGTHS)
def test_hashed_n_grams_count_what_a_vocabulary_counts(analyzer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hashes of so few n-grams do not meet, so only the places of the columns differ."""
    known, counted = Grams.of(0, analyzer, TEXTS)
    monkeypatch.setattr(texts_module, "MOST_CHARACTERS", 10)
    monkeypatch.setattr(texts_module, "TEXTS_AT_A_TIME", 3)
    hashed, packed = Grams.of(0, analyzer, TEXTS)
    assert (hashed.vocabulary, packed.shape) == (None, (len(TEXTS), HASHED))
    places = hashed.positions(known.vocabulary or ())
    assert len(set(places)) == known.n_columns
    np.testing.assert_array_equal(packed[:, places].toarray(), counted.toarray())
    weights = rarity(packed, analyzer)
    np.testing.assert_allclose(
        weighted(packed, weights)[:, places].toarray(),
        weighted(counted, rarity(counted, analyzer)).toarray(),
        rtol=1e-6,
    )
