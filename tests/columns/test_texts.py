"""N-grams of free text, in a vocabulary and hashed."""

import numpy as np
import pytest

from ordinoise.columns import texts as texts_module
from ordinoise.columns.texts import HASHED, LENGTHS, Grams, association, components, rarity, weighted

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


def test_n_grams_that_go_with_the_grade_weigh_more() -> None:
    """Every weight by its definition, one n-gram at a time."""
    grams, counted = Grams.of(0, "word", TEXTS)
    rng = np.random.default_rng(0)
    grades, weights = rng.integers(1, 6, size=len(TEXTS)).astype(float), rng.uniform(0.5, 2, size=len(TEXTS))
    mean = np.average(grades, weights=weights)
    spread = np.sqrt(np.average((grades - mean) ** 2, weights=weights))
    found = association(counted, grades, weights)
    for at in range(grams.n_columns):
        held = counted[:, at].toarray().ravel() > 0
        z = (weights * (grades - mean) / spread)[held].sum() / np.sqrt((weights[held] ** 2).sum())
        assert found[at] == pytest.approx(np.sqrt(1 + z**2), rel=1e-5)
    assert association(counted, np.full(len(TEXTS), 3.0), weights) == pytest.approx(1, abs=1e-5)


def test_components_tell_texts_apart_and_are_never_too_many() -> None:
    found = components(TEXTS, 3)
    assert found.shape == (len(TEXTS), 3)
    np.testing.assert_allclose(found[:5], found[5:], atol=1e-8)  # the texts come twice
    near, far = found[0] @ found[1], found[0] @ found[2]
    assert near > far  # "good and solid" is nearer to "good value" than to "weak and noisy"
    assert components(["", ""], 3).shape == (2, 0)
