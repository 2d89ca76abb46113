"""Free text and sparse matrices in the classifiers, from frames to saved models."""

import json
import tracemalloc
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from ordinoise import (
    AnchorPoints,
    OrdinalBoostingClassifier,
    OrdinalClassifier,
    OrdinalMLPClassifier,
    ScoreLikelihood,
    _sparse,
    find_label_issues,
    load_model,
)
from ordinoise.classifiers.blend import candidates
from ordinoise.classifiers.blend.candidates import SparseCandidate
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.table import Filling, Reading, Table
from ordinoise.classifiers.words import word_contributions
from ordinoise.estimation import IdentifiabilityWarning
from ordinoise.learners.mlp import convex, network

SAYINGS = {
    1: ["awful and broken", "terrible waste of money", "awful, terrible"],
    2: ["weak and noisy", "rather poor quality", "poor and weak"],
    3: ["nice and solid", "good value for money", "good, solid"],
    4: ["superb in all respects", "excellent, superb", "excellent and beautiful"],
}
FILLER = ["the", "box", "came", "on", "a", "day", "when", "my", "neighbor", "read", "it", "in", "the", "garden"]


def reviews(n_samples: int, seed: int = 0) -> tuple[list[str], Any]:
    rng = np.random.default_rng(seed)
    stars = rng.integers(1, 5, n_samples)
    texts = [f"{rng.choice(SAYINGS[star])} {' '.join(rng.choice(FILLER, 6))} {i}" for i, star in enumerate(stars)]
    return texts, stars


TEXTS, STARS = reviews(160)
NEW_TEXTS, NEW_STARS = reviews(60, 1)
FAST: dict[str, Any] = {"noise": None, "n_folds": 2, "n_rounds": 1, "n_jobs": 1, "random_state": 0}


@pytest.fixture(scope="module")
def model() -> OrdinalClassifier:
    return OrdinalClassifier(**FAST).fit(pl.DataFrame({"text": TEXTS}), STARS)


def test_a_column_of_text_is_learned_from(model: OrdinalClassifier) -> None:
    assert (model.predict(pl.DataFrame({"text": NEW_TEXTS})) == NEW_STARS).mean() > 0.9
    assert set(model.weights_) == {"linear text", "softmax text"}


def test_n_grams_of_the_held_out_rows_alone_have_no_weight(model: OrdinalClassifier) -> None:
    texts = [*TEXTS[:-4], *(f"zebra {text}" for text in TEXTS[-4:])]
    marked = OrdinalClassifier(**FAST).fit(pl.DataFrame({"text": texts}), STARS)
    word = marked.blend_.coding.reading.grams[0].positions(["zebra"])[0]
    models: Any = marked.models_["linear text"]
    held = [one.coding[0][word] for one in models]
    assert word >= 0
    assert all((weight == 0) or weight > 1 for weight in held)
    alone = marked.blend_.coding.reading.grams[0].counted(["zebra"]).indices.tolist()
    assert alone == [word]
    assert model.blend_.coding.reading.grams[0].positions(["zebra"]) == [-1]


@pytest.mark.slow
def test_text_and_numbers_together_are_better_than_either() -> None:
    rng = np.random.default_rng(0)
    told = np.where(rng.random(160) < 0.5, TEXTS, ["it is what it is on a day"] * 160)
    size = np.where(told == TEXTS, 0.0, STARS) + rng.normal(size=160) * 0.05
    frame = pl.DataFrame({"size": size, "told": told, "text": [f"{a} {i} x y z" for i, a in enumerate(told)]}).drop(
        "told"
    )
    fitted = OrdinalClassifier("boosting", **FAST).fit(frame, STARS)
    assert fitted.out_of_fold_ is not None
    assert (fitted.out_of_fold_.argmax(axis=1) + 1 == STARS).mean() > 0.8


def test_a_saved_model_reads_text_as_before(model: OrdinalClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    frame = pl.DataFrame({"text": NEW_TEXTS})
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize("edit", ["fewer", "twice", "number", "column", "hashed", "summary", "texts"])
def test_an_edited_vocabulary_is_refused(model: OrdinalClassifier, tmp_path: Path, edit: str) -> None:
    model.save(tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    content = json.loads(path.read_text())
    pairs = dict(content["settings"]["grams"][0]["pairs"])
    words = pairs["vocabulary"]["tuple"]
    if edit == "column":
        pairs["column"] = 5
    elif edit == "hashed":
        pairs["vocabulary"] = None
    elif edit in ("fewer", "twice", "number"):
        words[0] = {"fewer": None, "twice": words[1], "number": 3}[edit]
        pairs["vocabulary"]["tuple"] = words[1:] if edit == "fewer" else words
    if edit in ("summary", "texts"):
        content["settings"]["n_texts"] = [] if edit == "summary" else [-1]
    content["settings"]["grams"][0]["pairs"] = [list(pair) for pair in pairs.items()]
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="path must hold a whole model"):
        load_model(tmp_path / "model")


def test_text_is_not_written_as_onnx(model: OrdinalClassifier, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="model must read dense columns only to be written as ONNX, got one that reads"
    ):
        model.to_onnx(tmp_path / "model.onnx")


def test_words_add_up_to_the_text_part_of_the_log_odds(model: OrdinalClassifier) -> None:
    frame = pl.DataFrame({"text": [*NEW_TEXTS[:5], "", "unseen!"]})
    words = word_contributions(model, frame, toward=[4] * 7, against=[1] * 7)
    table = model.table_of(frame)
    nothing = replace(table, counts=tuple(replace(some, matrix=0 * some.matrix) for some in table.counts))
    expected = np.zeros(7)
    for name, models in model.models_.items():
        for one in models:
            logits, base = (one.network.logits(some.sparse(one.coding)) for some in (table, nothing))  # type: ignore[attr-defined]
            change = logits - base
            gained = change[:, 0] if one.network.architecture.head == "ordered" else change[:, 3] - change[:, 0]  # type: ignore[attr-defined]
            expected += model.weights_[name] / len(models) * gained
    np.testing.assert_allclose([sum(word.contribution for word in row) for row in words], expected, atol=1e-6)
    assert [word.word for word in words[5]] == [""]
    assert all(word.word == frame["text"][i][word.start : word.end] for i, row in enumerate(words) for word in row)


def test_the_word_that_was_learned_speaks_loudest(model: OrdinalClassifier) -> None:
    frame = pl.DataFrame({"text": ["the garden was superb and I read"]})
    (words,) = word_contributions(model, frame, [4], [1])
    assert max(words, key=lambda word: word.contribution).word == "superb"
    (back,) = word_contributions(model, frame, [1], [4])
    assert min(back, key=lambda word: word.contribution).word == "superb"


COUNTS: Any = sparse.random(120, 50, density=0.2, random_state=0, format="csr")
SCORE = np.asarray(COUNTS[:, :10].sum(axis=1)).ravel()
GRADES = np.digitize(SCORE, np.quantile(SCORE, [0.3, 0.6]))


@pytest.mark.parametrize(
    "learner",
    [
        OrdinalMLPClassifier(max_iter=20, random_state=0, standardize=False),
        OrdinalBoostingClassifier(n_estimators=20, n_jobs=1, random_state=0),
    ],
)
def test_a_sparse_matrix_is_learned_from_as_its_dense_form(learner: Any) -> None:
    of_sparse = learner.fit(COUNTS, GRADES).predict_proba(COUNTS)
    of_dense = learner.fit(COUNTS.toarray(), GRADES).predict_proba(COUNTS.toarray())
    np.testing.assert_allclose(of_sparse, of_dense, atol=1e-4)
    np.testing.assert_allclose(learner.predict_proba(COUNTS), of_dense, atol=1e-4)


def test_the_front_door_and_the_audit_take_sparse_matrices(tmp_path: Path) -> None:
    model = OrdinalClassifier(**FAST).fit(COUNTS, GRADES)
    assert (model.predict(COUNTS) == GRADES).mean() > 0.6
    np.testing.assert_allclose(model.predict_proba(COUNTS.toarray()), model.predict_proba(COUNTS))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(COUNTS), model.predict_proba(COUNTS))
    estimator = OrdinalMLPClassifier(hidden_layer_sizes=(), max_iter=5, random_state=0)
    issues = find_label_issues(COUNTS, GRADES, noise=np.eye(3) * 0.8 + 0.2 / 3, estimator=estimator, n_folds=2)
    assert len(issues.probability_wrong) == 120


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_noise_is_estimated_from_sparse_matrices_and_from_text() -> None:
    anchors = AnchorPoints(n_bootstrap=0, random_state=0)
    scores = ScoreLikelihood(n_bootstrap=0, n_rounds=1, n_folds=2, random_state=0)
    for estimator in (anchors, scores):
        assert estimator.fit(COUNTS, GRADES).noise_.matrix.shape == (3, 3)
    reading = OrdinalClassifier(**{**FAST, "noise": AnchorPoints(n_bootstrap=0, random_state=0)}).fit(
        pl.DataFrame({"text": TEXTS}), STARS
    )
    assert reading.noise_.source == "estimated"


@pytest.mark.parametrize("texts", [TEXTS, pl.Series(TEXTS), [None, *TEXTS[1:]]])
def test_texts_without_a_frame_are_refused_with_what_to_do(texts: Any) -> None:
    with pytest.raises(ValueError, match=r"got (list|Series); OrdinalClassifier reads texts as a column of a frame"):
        OrdinalClassifier(**FAST).fit(texts, STARS)


def test_texts_that_say_nothing_leave_the_class_shares(tmp_path: Path) -> None:
    shuffled = np.random.default_rng(4).permutation(STARS)
    fitted = OrdinalClassifier(n_folds=2, n_rounds=1, n_jobs=1, random_state=0)
    with pytest.warns(IdentifiabilityWarning, match="say next to nothing"):
        fitted.fit(pl.DataFrame({"text": TEXTS}), shuffled)
    assert "no-signal" in fitted.noise_.doubt_codes
    assert fitted.learner_ == "class shares"
    frame = pl.DataFrame({"text": NEW_TEXTS})
    np.testing.assert_allclose(np.ptp(fitted.predict_proba(frame), axis=0), 0, atol=1e-9)
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(frame), fitted.predict_proba(frame))


def test_texts_without_a_word_of_two_letters_are_read_by_their_characters() -> None:
    rng = np.random.default_rng(0)
    grades = rng.integers(1, 4, size=90)
    texts = pl.DataFrame({"codes": [" ".join(rng.choice(list("abc"[:grade] + "xyz"), size=8)) for grade in grades]})
    model = OrdinalClassifier(noise=None, text_features=["codes"], random_state=0).fit(texts, grades)
    assert model.learner_ == "mlp"
    assert [grams.n_columns > 0 for grams in model.blend_.coding.reading.grams] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("head", ["ordered", "softmax"])
def test_many_texts_are_learned_from_and_predicted_in_little_memory(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In units of the counted n-grams: a fit holds all rows once more and parts of them, a prediction parts alone."""
    texts, stars = reviews(4000)
    _, counts = Reading.of([texts])
    table = Table(np.empty((len(texts), 0)), Filling.of(np.empty((len(texts), 0)), ()), counts)
    data = Recorded(table, stars - 1, np.ones(len(texts)), np.eye(4)[None])
    rows, held_out = np.arange(3000), np.arange(3000, 4000)
    whole = SparseCandidate(head).fit(data, rows, held_out, 0).model.probabilities(table)
    for module, name, value in [
        (convex, "MANY_ROWS", 900), (candidates, "MANY_TEXTS", 900), (convex, "SAMPLE", 300),
        (network, "ROWS_AT_A_TIME", 100), (_sparse, "STORED_AT_A_TIME", 30_000),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, value)
    unit = sum(some.matrix.data.nbytes + some.matrix.indices.nbytes for some in counts)
    tracemalloc.start()
    model = SparseCandidate(head).fit(data, rows, held_out, 0).model
    assert tracemalloc.get_traced_memory()[1] < 2 * unit
    tracemalloc.reset_peak()
    probabilities = model.probabilities(table)
    assert tracemalloc.get_traced_memory()[1] < unit
    tracemalloc.stop()
    assert np.abs(probabilities - whole).mean() < 0.02


def test_words_of_a_training_row_are_judged_by_models_that_did_not_see_it(model: OrdinalClassifier) -> None:
    rows = np.array([3, 8, 50])
    frame = pl.DataFrame({"text": [TEXTS[row] for row in rows]})
    found = word_contributions(model, frame, [4] * 3, [1] * 3, rows=rows)
    assert model.folds_ is not None
    for row, words in enumerate(found):
        alone = copy(model)
        alone.models_ = {name: (models[model.folds_[0, rows[row]]],) for name, models in model.models_.items()}
        assert words == word_contributions(alone, frame, [4] * 3, [1] * 3)[row]
    assert found != word_contributions(model, frame, [4] * 3, [1] * 3)
    with pytest.raises(ValueError, match="rows must be as long as X"):
        word_contributions(model, frame, [4] * 3, [1] * 3, rows=rows[:2])
