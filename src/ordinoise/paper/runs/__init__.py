"""Experiments of many trials: run on threads or a cluster, interrupted and resumed without loss."""

from ordinoise.paper.runs.cluster import executor
from ordinoise.paper.runs.records import Trial, trial_key, trial_record
from ordinoise.paper.runs.runner import Failure, Outcome, run_plan
from ordinoise.paper.runs.store import ResultStore, StoredResult, write_table

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
