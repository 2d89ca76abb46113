"""Accuracy under label noise: our learners and those of other libraries on the same splits."""

from studies.accuracy.contestants import CONTESTANTS, Contestant, missing
from studies.accuracy.contests import CUTS, PRESETS, Contest, Preset, plan
from studies.accuracy.measurement import processes, run
from studies.accuracy.pages import write_csv, write_markdown
from studies.accuracy.problems import Problem, noise_matrix_for, problem_of
from studies.accuracy.ranks import Ranks, comparisons, critical_difference, mean_ranks
from studies.accuracy.summary import METRICS, Line, summary

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
    "comparisons",
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
