"""An audit does nothing twice that takes long: each of these functions runs once per table, column or review."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli.command import few_models
from ordinoise.app.records import reviewers
from ordinoise.app.records.history import Repeat, Settled
from ordinoise.app.rounds.history import History
from ordinoise.app.tables import graded
from ordinoise.app.verbs.audit import audit_file
from ordinoise.app.verbs.request import Request
from ordinoise.columns.coding import Columns
from ordinoise.columns.texts import Grams
from ordinoise.noise import inverse_decay
from ordinoise.scoring import evaluation
from tools import golden

WATCHED: dict[str, tuple[Any, str]] = {
    "typed": (graded, "features_of"),
    "numbers": (Columns, "encoded"),
    "counts": (Grams, "counted"),
    "counts and learns": (Grams, "of"),
    "evaluates": (evaluation, "_evaluation"),
    "verifies": (History, "verified"),
    "estimates reviewers": (reviewers, "reviewers_from_repeats"),
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each watched function is called."""
    found: Counter[str] = Counter()

    def watched(name: str, real: Any) -> Any:
        def counting(*arguments: Any, **options: Any) -> Any:
            found[name] += 1
            return real(*arguments, **options)

        return counting

    for name, (owner, function) in WATCHED.items():
        real = vars(owner)[function]
        if isinstance(real, classmethod):
            monkeypatch.setattr(owner, function, classmethod(watched(name, real.__func__)))
        else:
            monkeypatch.setattr(owner, function, watched(name, real))
    with few_models():
        yield found


def _request(folder: Path, *, has_text: bool) -> Request:
    frame, true = golden.graded_table()
    if has_text:
        frame = golden.with_notes(frame, true)
    frame.write_csv(folder / "data.csv")
    np.savetxt(folder / "noise.csv", inverse_decay(3, 0.12), delimiter=",")
    return Request(folder / "data.csv", target="grade", noise=str(folder / "noise.csv"), jobs=1)


def test_an_audit_of_a_table(tmp_path: Path, calls: Counter[str]) -> None:
    _, record = audit_file(_request(tmp_path, has_text=False), tmp_path / "audit")
    assert record.suspects[0].contributions
    assert calls == {"typed": 1, "numbers": 1, "evaluates": 1}


def test_an_audit_of_texts(tmp_path: Path, calls: Counter[str]) -> None:
    _, record = audit_file(_request(tmp_path, has_text=True), tmp_path / "audit")
    assert any(suspect.words for suspect in record.suspects)
    assert calls == {"typed": 1, "numbers": 1, "evaluates": 1, "counts and learns": 2}  # words, and characters


def test_an_audit_that_continues_a_review(tmp_path: Path, calls: Counter[str]) -> None:
    grades = {row: str(golden.GRADES[rank]) for row, rank in enumerate(golden.graded_table()[1][:20].tolist())}
    repeats = tuple(Repeat(row, grades[row], grades[row], "Ann", "Ben") for row in range(10))
    reviewed = History(tuple(Settled(row, None, grade, "Ann") for row, grade in grades.items()), repeats=repeats)
    _, record = audit_file(_request(tmp_path, has_text=False), tmp_path / "audit", history=reviewed)
    assert len(record.settled) == 20
    assert calls == {"typed": 1, "numbers": 1, "evaluates": 1, "verifies": 1, "estimates reviewers": 1}
