"""Experiments of many trials: run on threads or a cluster, stopped and taken up again without loss."""

from ordinoise.experiments.cluster import executor
from ordinoise.experiments.runner import Failure, Outcome, run_plan
from ordinoise.experiments.store import ResultStore, StoredResult, write_table
from ordinoise.experiments.trials import Trial, trial_key, trial_record

__all__ = [
    "Failure",
    "Outcome",
    "ResultStore",
    "StoredResult",
    "Trial",
    "executor",
    "run_plan",
    "trial_key",
    "trial_record",
    "write_table",
]
