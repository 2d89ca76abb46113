"""The paper's picture of its synthetic set, and a picture of its first table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.datasets.embedded import SYNTHETIC_EDGES
from ordinoise.learners.mlp import Network, Objective
from ordinoise.levels import corrected_levels, labels_from_logits, level_table
from ordinoise.paper import PROTOCOLS, SETS, Summary, compare
from ordinoise.paper.dots import DotRow, write_dots
from ordinoise.paper.pictures import Panel, write_panels
from ordinoise.paper.protocol import noise_matrix
from ordinoise.paper.trials import generator, load_set, recorded_labels, split_rows, train_network

N_DRAWN = 700
SUFFIXES = (".png", ".svg")


def write_figure_of_rules(folder: Path, protocol: str = "inferred") -> list[Path]:
    """The four panels: the true rule, and what cross-entropy learns from noisy labels without and with correction."""
    data = load_set("synthetic", None)
    rows, _ = split_rows(data, 0)
    noisy = recorded_labels(data, rows, "uniform", 0)
    drawn = generator("synthetic", 0, "drawn").permutation(len(rows))[:N_DRAWN]
    settings = PROTOCOLS[protocol].settings(SETS["synthetic"], "plain")

    def learned(levels: Floats) -> Network:
        objective, rng = Objective("cross_entropy", levels[None]), generator("synthetic", 0, "training")
        return train_network(data.features[rows], noisy, objective, settings, rng).network

    plain = learned(level_table(4))
    corrected = learned(corrected_levels(noise_matrix("uniform", 4)))

    def true_rule(points: Floats) -> Ints:
        return np.digitize(points[:, 0], SYNTHETIC_EDGES)

    points, clean, recorded = data.features[rows][drawn], data.labels[rows][drawn], noisy[drawn]
    panels = [
        Panel("a  clean labels, true rule", points, clean, true_rule),
        Panel("b  noisy labels, true rule", points, recorded, true_rule),
        Panel("c  learned from b by the plain loss", points, recorded, lambda at: labels_from_logits(plain.logits(at))),
        Panel("d  learned from b, known rates", points, recorded, lambda at: labels_from_logits(corrected.logits(at))),
    ]
    paths = [folder / f"figure{suffix}" for suffix in SUFFIXES]
    for path in paths:
        write_panels(path, panels, [f"grade {grade}" for grade in range(4)])
    return paths


def write_picture_of_errors(folder: Path, summary: Summary) -> list[Path]:
    """Table 1's mean absolute errors on noisy labels, the paper's and ours, a panel for each set."""
    panels: dict[str, list[DotRow]] = {}
    for found in compare(summary):
        cell = found.printed
        if cell.metric == "mae" and cell.train_on == "noisy":
            label = f"{cell.loss.replace('_', '-')}, {cell.variant}"
            row = DotRow(label, cell.mean, cell.sd, found.mean, found.sd)
            panels.setdefault(SETS[cell.dataset].printed, []).append(row)
    for group, measured in summary.items():
        if group.correction == "forward" and group.noise == "uniform" and SETS[group.dataset].printed in panels:
            errors = measured.mean_absolute_errors
            row = DotRow(f"forward, {group.variant}", None, 0.0, float(errors.mean()), float(errors.std()))
            panels[SETS[group.dataset].printed].append(row)
    if not panels:
        return []
    paths = [folder / f"errors{suffix}" for suffix in SUFFIXES]
    for path in paths:
        write_dots(path, panels, "mean absolute error")
    return paths
