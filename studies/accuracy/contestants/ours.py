"""Our learners with their defaults."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.accuracy.contestants.base import Contestant
from studies.accuracy.problems import Problem


def _network(problem: Problem, noise: Any) -> Any:
    from ordinoise.classifiers.mlp import OrdinalMLPClassifier

    return OrdinalMLPClassifier(noise=noise, classes=np.arange(problem.n_classes), random_state=problem.seed)


def _boosting(problem: Problem, noise: Any) -> Any:
    from ordinoise.classifiers.boosting import OrdinalBoostingClassifier

    return OrdinalBoostingClassifier(
        noise=noise, classes=np.arange(problem.n_classes), n_jobs=1, random_state=problem.seed
    )


def _front_door(problem: Problem) -> Any:
    from ordinoise.classifiers.ordinal import OrdinalClassifier

    return OrdinalClassifier(classes=np.arange(problem.n_classes), n_jobs=1, random_state=problem.seed)


_BOOSTING = ("lightgbm",)

OURS = (
    Contestant("ordinoise", _front_door, "OrdinalClassifier(): all defaults", _BOOSTING, seconds=4.5, is_ours=True),
    Contestant(
        "network, estimated",
        lambda problem: _network(problem, "estimate"),
        "OrdinalMLPClassifier(noise='estimate')",
        seconds=2.0,
        is_ours=True,
    ),
    Contestant(
        "network, known",
        lambda problem: _network(problem, problem.noise_matrix),
        "OrdinalMLPClassifier, given the noise matrix",
        seconds=0.05,
        is_ours=True,
        is_oracle=True,
    ),
    Contestant(
        "network, trusting",
        lambda problem: _network(problem, None),
        "OrdinalMLPClassifier(): trusts the labels",
        seconds=0.05,
        is_ours=True,
    ),
    Contestant(
        "boosting, estimated",
        lambda problem: _boosting(problem, "estimate"),
        "OrdinalBoostingClassifier(noise='estimate')",
        _BOOSTING,
        seconds=2.3,
        is_ours=True,
    ),
    Contestant(
        "boosting, known",
        lambda problem: _boosting(problem, problem.noise_matrix),
        "OrdinalBoostingClassifier, given the noise matrix",
        _BOOSTING,
        seconds=0.2,
        is_ours=True,
        is_oracle=True,
    ),
    Contestant(
        "boosting, trusting",
        lambda problem: _boosting(problem, None),
        "OrdinalBoostingClassifier(): trusts the labels",
        _BOOSTING,
        seconds=0.2,
        is_ours=True,
    ),
)
