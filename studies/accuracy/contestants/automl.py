"""AutoGluon: an ensemble of the boosters above, forests and linear models, chosen by held-out rows."""

from __future__ import annotations

import tempfile
from typing import Any, Self

from ordinoise._validation import Floats, Ints
from studies.accuracy.contestants.base import Contestant
from studies.accuracy.problems import Problem

TIME_LIMIT = 60
"""Seconds of one fit, after which AutoGluon starts no other model: a round number, chosen by no run."""


class AutoGluon:
    """AutoGluon's tabular predictor with scikit-learn's interface; its models live in a folder that goes with it."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def fit(self, X: Floats, y: Ints) -> Self:
        """Fit within the time limit, on one processor."""
        import pandas as pd
        from autogluon.tabular import TabularPredictor

        self._folder = tempfile.TemporaryDirectory()
        predictor = TabularPredictor(
            "grade", problem_type="multiclass", eval_metric="log_loss", path=self._folder.name, verbosity=0
        )
        frame = pd.DataFrame(X).add_prefix("x").assign(grade=y)
        self.model_ = predictor.fit(frame, presets="medium_quality", time_limit=TIME_LIMIT, num_cpus=1)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Those of the best ensemble, one column per grade in order; a grade of few rows, which it drops, has zeros."""
        import pandas as pd

        found = self.model_.predict_proba(pd.DataFrame(X).add_prefix("x"))
        return found.reindex(columns=range(self.n_classes), fill_value=0.0).to_numpy()


def _autogluon(problem: Problem) -> Any:
    return AutoGluon(problem.n_classes)


AUTOML = (
    Contestant(
        "autogluon",
        _autogluon,
        f"TabularPredictor(eval_metric='log_loss'), medium_quality, {TIME_LIMIT} seconds on one processor",
        ("autogluon",),
        ("mode", "median"),
        seconds=TIME_LIMIT,
        is_slow=True,
        group="autogluon",
    ),
)
