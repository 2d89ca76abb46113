"""Threshold models and kernel machines for ordered grades, on standardized features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ordinoise._validation import Floats, Ints
from studies.accuracy.contestants.base import Contestant
from studies.accuracy.problems import Problem


def _standardized(model: Any) -> Any:
    from sklearn.feature_selection import VarianceThreshold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Some of these learners refuse constant columns.
    return make_pipeline(VarianceThreshold(), StandardScaler(), model)


def _mord(_: Problem) -> Any:
    from mord import LogisticAT

    return _standardized(LogisticAT())


def _support_vectors(_: Problem) -> Any:
    from skordinal.classifiers import SVOR

    return _standardized(SVOR())


def _ordered_partitions(problem: Problem) -> Any:
    from skordinal.classifiers import NNOP

    return _standardized(NNOP(random_state=problem.seed))


def _statsmodels(_: Problem) -> Any:
    return _standardized(OrderedLogit())


class OrderedLogit(ClassifierMixin, BaseEstimator):
    """The proportional-odds model of statsmodels with scikit-learn's interface."""

    def fit(self, X: Floats, y: Ints) -> Self:
        """Maximize the likelihood; the Hessian, which only standard errors need, is skipped."""
        from statsmodels.miscmodels.ordinal_model import OrderedModel

        self.classes_ = np.unique(y)
        model = OrderedModel(y, X, distr="logit")
        self.result_ = model.fit(method="bfgs", maxiter=100, disp=False, skip_hessian=True)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Probability of each class."""
        return np.asarray(self.result_.model.predict(self.result_.params, exog=X, which="prob"))


CLASSICAL = (
    Contestant("mord", _mord, "LogisticAT(): alpha 1", ("mord",), seconds=0.05),
    Contestant(
        "statsmodels",
        _statsmodels,
        "OrderedModel(distr='logit'), BFGS of at most 100 steps (35 by default, which is too few)",
        ("statsmodels",),
        ("median",),
        seconds=1.0,
        is_slow=True,
    ),
    Contestant(
        "skordinal SVOR",
        _support_vectors,
        "SVOR(): implicit constraints, radial kernel, C 1",
        ("skordinal",),
        seconds=0.5,
    ),
    Contestant(
        "skordinal NNOP", _ordered_partitions, "NNOP(): 50 hidden units, alpha 0.01", ("skordinal",), seconds=0.6
    ),
)
