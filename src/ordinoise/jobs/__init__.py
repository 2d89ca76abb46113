"""Jobs: a file in, files out. Every verb of the command line that reads a table is one call of these."""

from __future__ import annotations

from ordinoise.jobs.auditing import audit_file
from ordinoise.jobs.corrupting import corrupt_file
from ordinoise.jobs.evaluating import evaluate_file
from ordinoise.jobs.fitting import fit_file
from ordinoise.jobs.learning import Learned, Request, learn
from ordinoise.jobs.predicting import predict_file
from ordinoise.jobs.refitting import refitting, settled_labels

__all__ = [
    "Learned",
    "Request",
    "audit_file",
    "corrupt_file",
    "evaluate_file",
    "fit_file",
    "learn",
    "predict_file",
    "refitting",
    "settled_labels",
]
