"""Gradient boosting of other libraries, on one thread: with their defaults, and stopped early; and a forest."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from ordinoise._validation import Ints
from studies.accuracy.contestants.base import Contestant
from studies.accuracy.problems import Problem

BOTH = ("mode", "median")
CATBOOST_ROUNDS = 300
"""Instead of CatBoost's default of 1000, to save time: a round number, chosen by no run."""


MOST_ROUNDS, PATIENCE = 1000, 20
"""Of boosting that stops early: round numbers, chosen by no run."""


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


def _stopped(library: str, problem: Problem) -> Any:
    """Up to `MOST_ROUNDS` rounds, as many as a held-out tenth of the noisy labels asks for."""
    return StoppedEarly(library, problem.seed)


class StoppedEarly:
    """LightGBM, XGBoost, CatBoost or histogram boosting, stopped by the loss of a tenth of the training rows.

    Parameters
    ----------
    library : {"lightgbm", "xgboost", "catboost", "histogram"}
    seed : int
        Of the held-out rows and of the booster.
    """

    def __init__(self, library: str, seed: int) -> None:
        self.library, self.seed = library, seed

    def fit(self, X: Any, y: Ints) -> Self:
        """Fit to nine tenths of the rows; a grade with a single row stays among them."""
        from sklearn.model_selection import train_test_split

        is_common = np.bincount(y)[y] > 1
        rows, held_out = train_test_split(
            np.flatnonzero(is_common), test_size=0.1, random_state=self.seed, shuffle=True
        )
        rows = np.union1d(rows, np.flatnonzero(~is_common))
        lost = np.setdiff1d(y, y[rows])  # a grade all of whose rows were drawn is learned from, too
        rows = np.union1d(rows, np.flatnonzero(np.isin(y, lost)))
        self.model = self._fitted(X[rows], y[rows], X[held_out], y[held_out])
        return self

    def _fitted(self, X: Any, y: Ints, held_out: Any, labels: Ints) -> Any:
        if self.library == "lightgbm":
            from lightgbm import LGBMClassifier, early_stopping

            model = LGBMClassifier(n_estimators=MOST_ROUNDS, n_jobs=1, verbosity=-1, random_state=self.seed)
            return model.fit(X, y, eval_set=[(held_out, labels)], callbacks=[early_stopping(PATIENCE, verbose=False)])
        if self.library == "xgboost":
            from xgboost import XGBClassifier

            booster = XGBClassifier(
                n_estimators=MOST_ROUNDS, early_stopping_rounds=PATIENCE, n_jobs=1, random_state=self.seed
            )
            return booster.fit(X, y, eval_set=[(held_out, labels)], verbose=False)
        if self.library == "histogram":  # its own draw of held-out rows refuses a grade with a single row
            from sklearn.ensemble import HistGradientBoostingClassifier

            trees = HistGradientBoostingClassifier(
                max_iter=MOST_ROUNDS, early_stopping=True, n_iter_no_change=PATIENCE, random_state=self.seed
            )
            return trees.fit(X, y, X_val=held_out, y_val=labels)
        from catboost import CatBoostClassifier

        forest = CatBoostClassifier(
            iterations=MOST_ROUNDS, thread_count=1, random_seed=self.seed, verbose=False, allow_writing_files=False
        )
        return forest.fit(X, y, eval_set=(held_out, labels), early_stopping_rounds=PATIENCE)

    def predict_proba(self, X: Any) -> Any:
        """Those of the best round."""
        return self.model.predict_proba(X)


def _forest(problem: Problem) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_jobs=1, random_state=problem.seed)


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
    *(
        Contestant(
            f"{library}, stopped",
            partial(_stopped, library),
            f"{library} with up to {MOST_ROUNDS} rounds, stopped by a held-out tenth of the noisy labels after "
            f"{PATIENCE} rounds without gain",
            () if library == "histogram" else (library,),
            ("median",),
            seconds=seconds,
            is_slow=library == "catboost",
        )
        for library, seconds in (("lightgbm", 0.3), ("xgboost", 0.4), ("catboost", 2.0), ("histogram", 0.8))
    ),
    Contestant("forest", _forest, "RandomForestClassifier(): 100 trees", (), BOTH, seconds=0.6),
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
