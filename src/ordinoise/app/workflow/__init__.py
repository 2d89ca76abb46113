"""Jobs: a file in, files out. Every verb of the command line that reads a table is one call of these."""

from __future__ import annotations

from ordinoise.app.workflow.audit import audit_file
from ordinoise.app.workflow.corruption import corrupt_file
from ordinoise.app.workflow.evaluation import evaluate_file
from ordinoise.app.workflow.learning import Learned, Request, learn
from ordinoise.app.workflow.model import fit_file
from ordinoise.app.workflow.prediction import predict_file
from ordinoise.app.workflow.reviewed import refitting, settled_labels

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
