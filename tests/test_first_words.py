"""What a newcomer reads or installs first says what the product does, and does it without an extra."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from app.cli.command import run
from ordinoise import NoiseAwareClassifier, OrdinalBoostingClassifier, OrdinalClassifier, OrdinalMLPClassifier

ROOT = Path(__file__).parents[1]
MISREAD = "as if they were right"


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name
)
def test_no_page_says_that_wrong_labels_are_taken_for_right(page: Path) -> None:
    assert MISREAD not in " ".join(page.read_text().split())


@pytest.mark.parametrize("words", [("--help",), ("fit", "--help"), ("demo", "--help")], ids=" ".join)
def test_no_help_says_that_wrong_labels_are_taken_for_right(words: tuple[str, ...]) -> None:
    shown = run(*words)
    assert shown.code == 0
    assert MISREAD not in " ".join(shown.out.split())


def test_trees_need_no_extra() -> None:
    """Without LightGBM the same command would give another answer."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(wanted.startswith("lightgbm") for wanted in project["dependencies"])
    assert "boosting" not in project["optional-dependencies"]


def test_every_classifier_has_log_probabilities_and_one_score() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    for model in (
        OrdinalClassifier("mlp", noise=None, n_folds=2, n_rounds=1, n_jobs=1, random_state=0),
        OrdinalMLPClassifier(max_iter=20, random_state=0),
        OrdinalBoostingClassifier(n_estimators=10, n_jobs=1, random_state=0),
        NoiseAwareClassifier(LogisticRegression(), noise=None),
    ):
        fitted = model.fit(X, y)
        np.testing.assert_allclose(np.exp(fitted.decision_function(X)), fitted.predict_proba(X), atol=1e-6)
        score = fitted.predict_score(X)
        assert score.shape == (200,)
        assert np.corrcoef(score, X[:, 0])[0, 1] > 0.7
