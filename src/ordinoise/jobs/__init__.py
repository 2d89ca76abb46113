"""Experiments of many trials: run on threads or a cluster, interrupted and resumed without loss."""

from ordinoise.jobs.cluster import executor
from ordinoise.jobs.records import Trial, trial_key, trial_record
from ordinoise.jobs.runner import Failure, Outcome, run_plan
from ordinoise.jobs.store import ResultStore, StoredResult, write_table

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
