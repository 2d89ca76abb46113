"""Accuracy under label noise, side by side: our learners and those of other libraries on the same splits."""

from ordinoise.experiments.accuracy.contestants import CONTESTANTS, Contestant, missing
from ordinoise.experiments.accuracy.contests import CUTS, PRESETS, Contest, Preset, plan
from ordinoise.experiments.accuracy.problems import Problem, noise_matrix_for, problem_of
from ordinoise.experiments.accuracy.ranks import Ranks, critical_difference, mean_ranks
from ordinoise.experiments.accuracy.running import processes, run
from ordinoise.experiments.accuracy.summary import METRICS, Line, summary
from ordinoise.experiments.accuracy.writing import write_csv, write_markdown

__all__ = [
    "CONTESTANTS",
    "CUTS",
    "METRICS",
    "PRESETS",
    "Contest",
    "Contestant",
    "Line",
    "Preset",
    "Problem",
    "Ranks",
    "critical_difference",
    "mean_ranks",
    "missing",
    "noise_matrix_for",
    "plan",
    "problem_of",
    "processes",
    "run",
    "summary",
    "write_csv",
    "write_markdown",
]
