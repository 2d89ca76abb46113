"""JSON with one entry deleted or replaced: a reader answers or complains with one sentence, never with anything else."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.ratings import write_long
from ordinoise import OrdinalMLPClassifier, load_model
from ordinoise.app.records.audit import AuditRecord, Suspect, read_record, write_record
from ordinoise.app.records.ratings import read_ratings_record, write_ratings_record
from ordinoise.app.review.reasons import item_reasons
from ordinoise.app.verbs.raters import find_consensus
from ordinoise.app.verbs.ratings_files import ratings_record
from ordinoise.app.verbs.request import RatingsRequest
from ordinoise.classifiers import OrdinalClassifier
from ordinoise.columns.findings import ColumnFindings
from ordinoise.noise import Doubt, Noise

EDITS = 400
NESTED: Any = []
for _ in range(500):
    NESTED = [NESTED]
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**400, 2**63, 1e308, float("nan"), float("inf"), "", "a\nb", "7", [], {}, [[]], [None],
    [1, 1, 1], [[1, 2], [3]], [[[0.5]]], {"a": 1}, {"array": [1], "shape": [10**15], "dtype": "<f8"},
    {"array": [1], "shape": [1], "dtype": "O"}, {"array": [1, 1, 1], "shape": [3], "dtype": "<i8"}, {"tuple": 3},
    {"pairs": [[{"list": []}, 1]]}, {"estimator": "Noise", "parameters": {}}, {"noise": {}}, "\ud800", NESTED,
)  # fmt: skip


def _places(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every entry, at any depth."""
    entries = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from _places(value, (*path, key))


def _edited(whole: Any, rng: np.random.Generator) -> tuple[Any, str]:
    """The JSON with one random entry deleted or replaced, and what was done."""
    changed, places = copy.deepcopy(whole), list(_places(whole))
    depth = rng.integers(1, 1 + max(len(path) for path in places))
    near = [path for path in places if len(path) == depth]
    *path, key = near[rng.integers(len(near))]
    holder = changed
    for step in path:
        holder = holder[step]
    if rng.random() < 0.2:
        del holder[key]
        return changed, f"del {[*path, key]}"
    value = ODD[rng.integers(len(ODD))]
    holder[key] = value
    return changed, f"{[*path, key]} = {str(value)[:60]}"


def _complaint(read: Callable[[], Any]) -> str:
    """What is wrong with the answer of a reader; empty if it answers or complains with one sentence."""
    try:
        read()
    except ValueError as error:
        words = str(error)
        is_plain = type(error) is ValueError and " must " in words and ", got " in words and "\n" not in words
        return "" if is_plain else f"{type(error).__name__}: {words[:200]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


def _failures(file: Path, read: Callable[[], Any], seed: int) -> dict[str, str]:
    whole, rng = json.loads(file.read_text()), np.random.default_rng(seed)
    said = {}
    for _ in range(EDITS):
        changed, words = _edited(whole, rng)
        file.write_text(json.dumps(changed))
        said[words] = _complaint(read)
    file.write_text(json.dumps(whole))
    return {words: complaint for words, complaint in said.items() if complaint}


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    matrix = [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.2, 0.8]]
    noise = Noise(
        np.array(matrix), source="estimated", class_shares=np.array([0.2, 0.3, 0.5]), method="score",
        interval=np.array([matrix, matrix]), rate_interval=(0.1, 0.3), doubts=(Doubt("code", "a sentence"),),
    )  # fmt: skip
    columns = (ColumnFindings("a", "number", "feature", 0, 9), ColumnFindings("g", "number", "target", 0, 3))
    suspect = Suspect(4, 1, "1", "2", ("0.5", None), 0.9, (0.1, 0.8, 0.1))
    record = AuditRecord(
        source="/a.csv", digest="0" * 64, target="g", classes=("1", "2", "3"), columns=columns, n_rows=9, n_graded=9,
        noise=noise, wrong=2.0, wrong_low=1.0, wrong_high=3.0, confidence=0.95, learner="mlp", settings={"seed": 0},
        suspects=(suspect,), cautions=(), ordinoise="0.0.0",
    )  # fmt: skip
    write_record(tmp_path, record)
    return tmp_path


def test_an_edited_record_of_raters_is_read_or_refused_with_one_sentence(tmp_path: Path) -> None:
    write_long(tmp_path / "long.csv", 20)
    request = RatingsRequest(tmp_path / "long.csv", item="id", rater="who", grade="stars")
    write_ratings_record(tmp_path, ratings_record(find_consensus(request), 4, "0" * 64))

    def used() -> str:
        record = read_ratings_record(tmp_path)
        return json.dumps([record.to_dict(), [item_reasons(record, item) for item in record.suspects]])

    assert not _failures(tmp_path / "raters.json", used, 1)


def test_an_edited_audit_is_read_or_refused_with_one_sentence(audit: Path) -> None:
    assert not _failures(audit / "audit.json", lambda: json.dumps(read_record(audit).to_dict()), 1)


@pytest.mark.parametrize(
    "name", ["wrong", "n_rows", "source", "classes", "settings", "columns", "suspects", "confidence"]
)
@pytest.mark.parametrize("value", [True, -1.5, "a", ["a", 1], [[]], {"a": 1}, float("nan"), 10**30])
def test_a_field_of_another_type_is_refused(name: str, value: Any, audit: Path) -> None:
    if (name, type(value)) in {("wrong", float), ("source", str), ("settings", dict)} and value == value:
        pytest.skip("a value of that type")
    found = json.loads((audit / "audit.json").read_text())
    (audit / "audit.json").write_text(json.dumps(found | {name: value}))
    with pytest.raises(ValueError, match=r"folder must hold a (complete|readable) audit.json, got "):
        read_record(audit)


X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.arange(60) % 3
MODELS: dict[str, Callable[[], Any]] = {
    "mlp": lambda: OrdinalMLPClassifier(noise=[[0.9, 0.1, 0], [0, 1, 0], [0, 0, 1]], max_iter=1, random_state=0),
    "blend": lambda: OrdinalClassifier("mlp", noise=None, n_folds=2, n_rounds=1, n_jobs=1, random_state=0),
}


def _used(model: Any) -> None:
    model.predict(X)
    model.predict_proba(X)
    str(model.describe())


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for name, make in MODELS.items():
        make().fit(X, Y).save(folder / name)
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_an_edited_model_predicts_or_is_refused_with_one_sentence(name: str, folders: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(folders / name, tmp_path / "model")
    assert not _failures(folder / "model.json", lambda: _used(load_model(folder)), 2)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "labels", [[1, 1, 1], [1, float("nan"), 3], [1, 2], [[1, 2, 3]], [None, 1, 2]], ids=["twice", "nan", "few", "2d", "none"]
)  # fmt: skip
def test_classes_that_are_no_grades_are_refused(name: str, labels: Any, folders: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(folders / name, tmp_path / "model")
    header = json.loads((folder / "model.json").read_text())
    kind = "O" if None in labels else "<f8"
    header["settings"]["classes"] = {"array": labels, "shape": list(np.shape(labels)), "dtype": kind}
    (folder / "model.json").write_text(json.dumps(header))
    with pytest.raises(ValueError, match=r" must .*, got ") as caught:
        load_model(folder)
    assert "\n" not in str(caught.value)


def test_an_edited_noise_record_is_read_or_refused_with_one_sentence(audit: Path) -> None:
    whole, rng = json.loads((audit / "audit.json").read_text())["noise"], np.random.default_rng(3)
    said = {}
    for _ in range(EDITS):
        changed, words = _edited(whole, rng)
        said[words] = _complaint(lambda changed=changed: str(Noise.from_dict(changed)))  # type: ignore[misc]
    assert not {words: complaint for words, complaint in said.items() if complaint}


@pytest.mark.parametrize("record", [None, 3, [], {}, "noise", {"source": "given"}, {"matrices": 1, "source": "given"}])
def test_what_is_no_noise_record_is_refused_with_one_sentence(record: Any) -> None:
    with pytest.raises(ValueError, match=r" must .*, got "):
        Noise.from_dict(record)
