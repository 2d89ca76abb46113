"""LightGBM's parameters: those with a name here, those in `params`, and those that training sets itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ordinoise._validation import as_choice, as_count, as_number, complain

# What the objective, the number of rounds, reproducibility and trees with constant leaves need to set, by LightGBM's
# first name of each.
FIXED = (
    "objective", "num_class", "boosting", "metric", "num_iterations", "early_stopping_round", "seed", "num_threads",
    "deterministic", "categorical_feature", "boost_from_average", "verbosity", "feature_pre_filter",
    "linear_tree",
)  # fmt: skip
# Our names, which are those of LightGBM's scikit-learn interface, and LightGBM's first name of each.
NAMES = {
    "learning_rate": "learning_rate",
    "num_leaves": "num_leaves",
    "max_depth": "max_depth",
    "min_child_samples": "min_data_in_leaf",
    "min_child_weight": "min_sum_hessian_in_leaf",
    "subsample": "bagging_fraction",
    "colsample_bytree": "feature_fraction",
    "reg_alpha": "lambda_l1",
    "reg_lambda": "lambda_l2",
    "max_bin": "max_bin",
    "monotone_constraints": "monotone_constraints",
}
# OpenMP's threads do not survive a fork, and GNU's library waits for them forever; with one thread it needs none.
IMPORTED_IN = os.getpid()


@dataclass(frozen=True)
class BoosterSettings:
    """How trees are grown, by the names and with the defaults of LightGBM's scikit-learn interface.

    Parameters
    ----------
    learning_rate, num_leaves, max_depth, min_child_samples, min_child_weight, subsample, colsample_bytree
        LightGBM's own. Every round draws its rows if `subsample` is below one.
    reg_alpha, reg_lambda, max_bin
        LightGBM's own.
    monotone_constraints : tuple of int
        -1, 0 or 1 for every feature; empty for none.
    categorical : tuple of int
        Features that hold codes of categories.
    n_jobs : int or None
        Threads; None takes OpenMP's number.
    params : mapping
        Any other parameters of LightGBM.
    """

    learning_rate: float = 0.1
    num_leaves: int = 31
    max_depth: int = -1
    min_child_samples: int = 20
    min_child_weight: float = 1e-3
    subsample: float = 1.0
    colsample_bytree: float = 1.0
    reg_alpha: float = 0.0
    reg_lambda: float = 0.0
    max_bin: int = 255
    monotone_constraints: tuple[int, ...] = ()
    categorical: tuple[int, ...] = ()
    n_jobs: int | None = None
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        as_number("learning_rate", self.learning_rate, 0.0, float("inf"), open_low=True)
        as_count("num_leaves", self.num_leaves, 2)
        as_count("min_child_samples", self.min_child_samples, 0)
        as_count("max_bin", self.max_bin, 2)
        for name in ("subsample", "colsample_bytree"):
            as_number(name, getattr(self, name), 0.0, 1.0, open_low=True)
        for name in ("min_child_weight", "reg_alpha", "reg_lambda"):
            as_number(name, getattr(self, name), 0.0, float("inf"))
        if self.params:
            _check_params(self.params)

    def for_lightgbm(self, n_scores: int, seed: int) -> dict[str, Any]:
        """LightGBM's parameters, without objective and rounds."""
        ours = {theirs: getattr(self, name) for name, theirs in NAMES.items()}
        if not self.monotone_constraints:
            del ours["monotone_constraints"]
        if not {"force_row_wise", "force_col_wise"} & set(self.params):
            ours["force_row_wise"] = True
        return ours | {
            "num_class": n_scores,
            "metric": "None",
            "bagging_freq": int(self.subsample < 1),
            "seed": seed,
            "deterministic": True,
            "num_threads": 1 if _is_forked() else threads(self.n_jobs),
            "verbosity": -1,
            "feature_pre_filter": False,  # LightGBM fails where it filters out every column
            **self.params,
        }


def _is_forked() -> bool:
    """Whether this process was forked after the import of this module."""
    return os.getpid() != IMPORTED_IN


def threads(n_jobs: int | None) -> int:
    """Number of threads, where zero is OpenMP's choice."""
    return 0 if n_jobs is None or n_jobs == -1 else as_count("n_jobs", n_jobs, 1)


def _check_params(params: Mapping[str, Any]) -> None:
    """Raise an error for names that LightGBM does not know, that are parameters here, or that are in `FIXED`."""
    import lightgbm

    aliases = lightgbm.basic._ConfigAliases._get_all_param_aliases()
    known = {name: {name, *others} for name, others in aliases.items()}
    first_name = {alias: first for first, aliases in known.items() for alias in aliases}
    own_name = {theirs: name for name, theirs in NAMES.items()}
    for name in params:
        first = first_name[as_choice("name in params", name, first_name)]
        if first in own_name:
            raise complain("params", "leave out what has a parameter of its own", repr(name), f"set {own_name[first]}=")
        if first in FIXED:
            raise complain("params", "leave out what training sets itself", repr(name))
