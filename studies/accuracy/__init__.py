"""Accuracy under label noise, side by side: our learners and those of other libraries on the same splits."""

from studies.accuracy.contestants import CONTESTANTS, Contestant, missing
from studies.accuracy.contests import CUTS, PRESETS, Contest, Preset, plan
from studies.accuracy.problems import Problem, noise_matrix_for, problem_of
from studies.accuracy.ranks import Ranks, critical_difference, mean_ranks
from studies.accuracy.running import processes, run
from studies.accuracy.summary import METRICS, Line, summary
from studies.accuracy.writing import write_csv, write_markdown

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
