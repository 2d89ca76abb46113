"""What a notebook shows of a result: readable, escaped, with progress, and warned of once."""

import builtins
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.review.sample import sample_audit
from ordinoise import Noise, OrdinalMLPClassifier, adjacent, corrupt, evaluate, find_label_issues
from ordinoise.audit import issues_from_probabilities
from ordinoise.classifiers import _progress
from ordinoise.datasets import synthetic
from ordinoise.noise import Doubt

HOSTILE = "<script>alert(1)</script>\x1b[31m"
DATA = synthetic(60, random_state=0)
NOISE = adjacent(4, up=0.2, down=0.1)


def test_issues_print_the_worst_labels_and_how_many_are_wrong() -> None:
    probabilities = np.array([[0.05, 0.9, 0.05], [0.9, 0.05, 0.05]] * 6)
    issues = issues_from_probabilities(
        probabilities,
        ["low", "high"] * 6,
        adjacent(3, up=0.3, down=0.2),
        calibrate=False,
        classes=["low", "mid", "high"],
    )
    head, names, first, *rest = repr(issues).splitlines()
    assert head.startswith("LabelIssues: about 7 of 12 labels are wrong (95% interval")
    assert names.split() == ["row", "recorded", "suggested", "suspicion", "probability", "wrong"]
    assert first.split()[1:3] == ["low", "mid"]
    assert rest[-1] == "the first 10 of 12 by rank"
    assert issues._repr_html_().count("<tr>") == 11


def test_everything_from_a_user_is_escaped() -> None:
    grades = [HOSTILE, "fine"]
    issues = issues_from_probabilities([[0.5, 0.5]] * 2, grades, adjacent(2, up=0.2, down=0.1), classes=grades)
    doubtful = Noise(np.eye(2), source="estimated", method=HOSTILE, doubts=(Doubt("x", HOSTILE),))
    for shown in (issues._repr_html_(), doubtful._repr_html_()):
        assert "&lt;script&gt;" in shown
        assert "<script" not in shown
        assert "\x1b" not in shown
    assert "\x1b" not in repr(issues)


def test_an_audit_shows_its_first_suspects_escaped(tmp_path: Path) -> None:
    record = sample_audit(tmp_path)
    named = {name: HOSTILE if name == record.suspects[0].recorded else name for name in record.classes}
    suspects = tuple(
        replace(one, recorded=named[one.recorded], suggested=named[one.suggested], similar=())
        for one in record.suspects
    )
    whole = replace(record, source="/data/<script>.csv", classes=tuple(named.values()), suspects=suspects)
    shown = whole._repr_html_()
    assert shown.count("<tr>") == 11
    n_hostile = sum(HOSTILE in (one.recorded, one.suggested) for one in suspects[:10])
    assert shown.count("&lt;script&gt;") == 1 + n_hostile
    assert "<script" not in shown
    assert "\x1b" not in shown


def test_noise_and_evaluation_show_their_numbers_as_tables() -> None:
    recorded = corrupt(DATA.labels, NOISE, random_state=0)
    model = OrdinalMLPClassifier(noise=NOISE, hidden_layer_sizes=(), max_iter=10, random_state=0)
    found = evaluate(model.fit(DATA.features, recorded), DATA.features, recorded)
    assert repr(found) == str(found)
    for name, score in found.scores.items():
        assert f">{name}</td>" in found._repr_html_()
        assert f">{score.observed:.4f}</td>" in found._repr_html_()
    assert repr(model.noise_) == str(model.noise_)
    assert model.noise_._repr_html_().count(">70%</td>") == 2  # the inner two of the diagonal


def _where(seen: list[warnings.WarningMessage], category: type[Warning] = UserWarning) -> list[str]:
    return [one.filename for one in seen if issubclass(one.category, category)]


def test_a_warning_comes_once_and_points_at_the_line_of_the_caller() -> None:
    recorded = corrupt(DATA.labels, NOISE, random_state=0)
    unbiased = OrdinalMLPClassifier(correction="unbiased", hidden_layer_sizes=(), max_iter=2, random_state=0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        find_label_issues(DATA.features, recorded, noise=NOISE, estimator=unbiased, random_state=0)  # in threads
    assert _where(seen) == [__file__]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        unbiased.set_params(noise=NOISE).fit(DATA.features, recorded[:, None])  # a column vector, and few rows
    assert _where(seen) == [__file__] * 2


def test_a_notebook_gets_a_bar_that_moves_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Cell:
        update = staticmethod(shown.append)

    class Display:
        HTML = str

        @staticmethod
        def display(text: str, **_: bool) -> Cell:
            shown.append(text)
            return Cell()

    load = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lambda name, *rest: Display if name == "IPython.display" else load(name, *rest))  # fmt: skip
    monkeypatch.setattr(_progress, "in_notebook", lambda: True)
    monkeypatch.setattr(_progress, "EVERY_SECONDS", 0)
    model: Any = OrdinalMLPClassifier(hidden_layer_sizes=(), max_iter=3, early_stopping=False, verbose=True)
    model.fit(DATA.features, DATA.labels)
    assert [text[:9] for text in shown] == ["epoch 0/3", "epoch 1/3", "epoch 2/3", "epoch 3/3", ""]
    assert "loss " in shown[3]
