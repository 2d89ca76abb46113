"""Detection of wrong labels: average precision of our ranking and of cleanlab's, from the same probabilities.

``python -m studies.audit [--data-dir DIR] [--seeds 5] [--rows 4000] [--noise uniform] [--estimator mlp]``

"same" rows use exactly the probabilities that cleanlab gets, those of a model that trusts the labels; "forward" rows
use those of a model that is given the noise. "known" is given the noise matrix, "estimated" estimates it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise import OrdinalMLPClassifier, adjacent, corrupt, inverse_decay
from ordinoise.audit import LabelIssues, find_label_issues, issues_from_probabilities
from ordinoise.audit.folds import out_of_fold_probabilities
from ordinoise.audit.posterior import Posterior
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.estimation import IdentifiabilityWarning, ScoreLikelihood

SETS = ("abalone", "computer", "california")
METHODS = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")
# Uniform is the paper's noise; the rates of the others are chosen by no run.
NOISES: dict[str, Callable[[int], NDArray[np.float64]]] = {
    "uniform": lambda n_classes: inverse_decay(n_classes, 0.15),
    "conditional": lambda n_classes: inverse_decay(n_classes, np.linspace(0.05, 0.2, n_classes)),
    "adjacent": lambda n_classes: adjacent(n_classes, up=0.25, down=0.08),
}
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "mlp": lambda: OrdinalMLPClassifier(max_iter=100),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    "forest": lambda: RandomForestClassifier(min_samples_leaf=10),
}
Numbers = dict[str, float]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a set with their true and their recorded labels."""

    features: NDArray[np.floating]
    true: NDArray[np.int64]
    recorded: NDArray[np.int64]
    noise_matrix: NDArray[np.float64]

    @property
    def is_wrong(self) -> NDArray[np.bool_]:
        """Which labels are wrong."""
        return self.true != self.recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--noise", choices=list(NOISES), default="uniform")
    parser.add_argument("--estimator", choices=list(ESTIMATORS), default="mlp")
    options = parser.parse_args()
    warnings.simplefilter("ignore", IdentifiabilityWarning)
    console = Console()
    if not has_cleanlab():
        console.print("cleanlab is not installed and is skipped; pip install cleanlab")
    results = {}
    for name in SETS:
        data = load(name, options.data_dir)
        assert isinstance(data, OrdinalDataset)
        samples = [drawn(data, NOISES[options.noise], options.rows, seed) for seed in range(options.seeds)]
        runs = [measured(sample, options.estimator, seed) for seed, sample in enumerate(samples)]
        results[name] = {key: np.array([run[key] for run in runs]) for key in runs[0]}
    setting = f"{options.noise} noise, {options.estimator}, {options.rows} rows at most, {options.seeds} seeds"
    console.print(table(f"Average precision for wrong labels ({setting})", results, "precision: "))
    console.print(table("Mean distance of labels from the true ones", results, "distance: "))
    console.print(table("Wrong labels", results, "count: "))


def drawn(data: OrdinalDataset, noise: Callable[[int], NDArray[np.float64]], n_rows: int, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    rows = rng.permutation(data.n_samples)[:n_rows]
    matrix = noise(data.n_classes)
    true = data.labels[rows]
    return Sample(data.features[rows], true, corrupt(true, matrix, rng), matrix)


def measured(sample: Sample, estimator: str, seed: int) -> Numbers:
    """Average precisions, distances and counts of one sample, by name."""
    model, is_wrong, recorded = ESTIMATORS[estimator](), sample.is_wrong, sample.recorded
    trusting = np.eye(len(sample.noise_matrix))
    same = out_of_fold_probabilities(model, sample.features, recorded, trusting, 5, np.random.default_rng(seed))
    numbers = {f"precision: {name}": value for name, value in cleanlab_precisions(same, recorded, is_wrong).items()}
    numbers["distance: as recorded"] = float(np.abs(recorded - sample.true).mean())
    numbers["count: true number"] = float(is_wrong.sum())
    fitted = ScoreLikelihood(random_state=seed).fit(sample.features, recorded)
    for knowledge, noise in (("known", sample.noise_matrix), ("estimated", fitted)):
        audits = {"same": issues_from_probabilities(same, recorded, noise, of="recorded")}
        if estimator == "mlp":
            audits["forward"] = find_label_issues(
                sample.features, recorded, noise=noise, estimator=model, random_state=seed
            )
        for way, issues in audits.items():
            numbers |= scores(f"{way}, {knowledge}", issues, sample)
    return numbers


def scores(name: str, issues: LabelIssues, sample: Sample) -> Numbers:
    count, n_wrong = issues.expected_wrong, sample.is_wrong.sum()
    after = Posterior(issues.posterior, np.searchsorted(issues.classes, issues.recorded))
    assert count is not None  # these samples have rows enough
    return {
        f"precision: {name}, by distance": average_precision_score(sample.is_wrong, after.expected_distance),
        f"precision: {name}, by probability": average_precision_score(sample.is_wrong, after.probability_wrong),
        f"distance: {name}, suggested": float(np.abs(issues.suggested - sample.true).mean()),
        f"count: {name}": count.value,
        f"count: {name}, half interval": (count.high - count.low) / 2,
        f"count: {name}, share covered": float(count.low <= n_wrong <= count.high),
    }


def cleanlab_precisions(same: NDArray[np.float64], recorded: NDArray[np.int64], is_wrong: NDArray[np.bool_]) -> Numbers:
    """Average precision of cleanlab's three label qualities, and of its issues ranked before all other labels."""
    if not has_cleanlab():
        return {}
    cleanlab_issues = import_module("cleanlab.filter").find_label_issues
    qualities = import_module("cleanlab.rank").get_label_quality_scores
    numbers = {}
    for method in METHODS:
        quality = qualities(recorded, same, method=method)
        numbers[f"cleanlab {method}"] = average_precision_score(is_wrong, -quality)
        found = cleanlab_issues(recorded, same, return_indices_ranked_by=method, n_jobs=1)
        # Qualities lie in [0, 1]: values below -1 rank the issues before all other labels, in their own order.
        order = quality.copy()
        order[found] = np.arange(len(found)) / max(len(found), 1) - 2
        numbers[f"cleanlab issues by {method}"] = average_precision_score(is_wrong, -order)
    return numbers


def has_cleanlab() -> bool:
    return find_spec("cleanlab") is not None


def table(title: str, results: dict[str, dict[str, NDArray[np.float64]]], prefix: str) -> Table:
    rows = [key for key in next(iter(results.values())) if key.startswith(prefix)]
    shown = Table("", *results, "mean", title=title)
    digits = 1 if prefix == "count: " else 4
    for key in rows:
        means = [values[key].mean() for values in results.values()]
        spreads = [values[key].std() for values in results.values()]
        cells = [f"{mean:.{digits}f} ± {spread:.{digits}f}" for mean, spread in zip(means, spreads, strict=True)]
        shown.add_row(key.removeprefix(prefix), *cells, f"{np.mean(means):.{digits}f}")
    return shown


if __name__ == "__main__":
    main()
