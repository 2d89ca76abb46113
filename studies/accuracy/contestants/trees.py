"""Gradient boosting of other libraries, on one thread, with their defaults."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ordinoise._validation import Ints
from studies.accuracy.contestants.base import Contestant
from studies.accuracy.problems import Problem

BOTH = ("mode", "median")
CATBOOST_ROUNDS = 300
"""Instead of CatBoost's default of 1000, to save time: a round number, chosen by no run."""


def _lightgbm(problem: Problem) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbosity=-1, random_state=problem.seed)


def _xgboost(problem: Problem) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=problem.seed)


def _catboost(problem: Problem) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=CATBOOST_ROUNDS, thread_count=1, random_seed=problem.seed, verbose=False, allow_writing_files=False
    )


def _histogram(problem: Problem) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=problem.seed)


def _cleanlab(problem: Problem) -> Any:
    from cleanlab.classification import CleanLearning

    return CleanLearning(
        _lightgbm(problem), seed=problem.seed % 2**31, verbose=False, find_label_issues_kwargs={"n_jobs": 1}
    )


def _rounded(problem: Problem) -> Any:
    from lightgbm import LGBMRegressor

    return RoundedRegression(LGBMRegressor(n_jobs=1, verbosity=-1, random_state=problem.seed), problem.n_classes)


class RoundedRegression:
    """A regression on the number of the grade, rounded to the nearest grade.

    Parameters
    ----------
    regressor : object
        With `fit` and `predict`.
    n_classes : int
        Predictions are clipped to 0..n_classes-1.
    """

    def __init__(self, regressor: Any, n_classes: int) -> None:
        self.regressor, self.n_classes = regressor, n_classes

    def fit(self, X: Any, y: Ints) -> Self:
        """Fit the regressor to the grades as numbers."""
        self.regressor.fit(X, y.astype(np.float64))
        return self

    def predict(self, X: Any) -> Ints:
        """The grade nearest to the predicted number."""
        nearest = np.floor(self.regressor.predict(X) + 0.5)
        return np.clip(nearest, 0, self.n_classes - 1).astype(np.int64)


TREES = (
    Contestant("lightgbm", _lightgbm, "LGBMClassifier(): 100 rounds, 31 leaves", ("lightgbm",), BOTH, seconds=0.3),
    Contestant("xgboost", _xgboost, "XGBClassifier(): 100 rounds, depth 6", ("xgboost",), BOTH, seconds=0.4),
    Contestant(
        "catboost",
        _catboost,
        f"CatBoostClassifier(iterations={CATBOOST_ROUNDS}) instead of 1000, which takes three times as long; "
        "the learning rate that it chooses for them",
        ("catboost",),
        BOTH,
        seconds=2.5,
        is_slow=True,
    ),
    Contestant(
        "histogram", _histogram, "HistGradientBoostingClassifier(): 100 rounds, 31 leaves", (), BOTH, seconds=0.8
    ),
    Contestant(
        "cleanlab",
        _cleanlab,
        "CleanLearning(LGBMClassifier()): five folds, drop the labels found wrong, fit again",
        ("cleanlab", "lightgbm"),
        BOTH,
        seconds=1.5,
    ),
    Contestant(
        "rounded regression",
        _rounded,
        "LGBMRegressor(), rounded to the nearest grade",
        ("lightgbm",),
        seconds=0.05,
    ),
)
