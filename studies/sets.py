"""Coverage of prediction sets and calibration of probabilities on clean labels, after calibration on noisy ones.

``python -m studies.sets [--data-dir DIR] [--sets NAME ...] [--learners NAME ...] [--splits 5] [--rows 6000]``

A quarter of the rows is the test set, the rest has noise of rate .15. `OrdinalClassifier` calibrates itself out of
fold; the single learners are fitted to two thirds of the noisy rows and calibrated on the others. All of them estimate
the noise matrix. The first table has the coverage of clean test labels, its standard deviation over splits, and the
mean size of the sets:

- "as recorded" trusts the recorded labels of the calibration rows;
- "estimated" corrects by the estimated matrix, as the models do;
- "known" corrects by the true matrix;
- "clean" calibrates on the clean labels of the same rows.

The second table has the expected calibration error of P(y > j) on clean test labels, without and with a scale and shift
fitted to the same noisy rows, by the estimated and by the true matrix.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ordinoise import OrdinalBoostingClassifier, OrdinalClassifier, OrdinalMLPClassifier, corrupt, inverse_decay
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.scoring.calibration import fit_scaling
from ordinoise.scoring.reliability import reliability_curve
from ordinoise.scoring.sets import SetCalibration, calibrate_sets, prediction_sets

RATE = 0.15  # the paper's
FRONT = ("front", "front, networks")
LEARNERS: dict[str, Callable[[int], Any]] = {
    FRONT[0]: lambda seed: OrdinalClassifier(n_jobs=1, random_state=seed),
    FRONT[1]: lambda seed: OrdinalClassifier("mlp", n_jobs=1, random_state=seed),
    "network": lambda seed: OrdinalMLPClassifier(
        noise="estimate", max_iter=100, learning_rate_init=0.003, random_state=seed
    ),
    "trees": lambda seed: OrdinalBoostingClassifier(noise="estimate", n_jobs=1, random_state=seed),
}
WAYS = ("as recorded", "estimated", "known", "clean")
SCALINGS = ("as it is", "scaled, estimated", "scaled, known")
console = Console()


@dataclass(frozen=True, eq=False)
class Split:
    """A fitted model, and its probabilities of the calibration rows and of the test rows."""

    model: Any
    held_out: NDArray[np.float64]
    recorded: NDArray[np.int64]
    true: NDArray[np.int64]
    test: NDArray[np.float64]
    test_labels: NDArray[np.int64]
    noise_matrix: NDArray[np.float64]

    def coverage(self, calibration: SetCalibration, confidence: float) -> tuple[float, float]:
        """Share of clean test labels in their set, and mean size of the sets."""
        sets = prediction_sets(self.test, calibration, confidence)
        return float(sets.mask[np.arange(len(sets)), self.test_labels].mean()), float(sets.sizes.mean())

    def coverages(self, confidence: float) -> dict[str, tuple[float, float]]:
        """Coverage and mean size for every calibration."""
        identity = np.eye(len(self.noise_matrix))
        ways = {
            "as recorded": calibrate_sets(self.held_out, self.recorded, identity),
            "estimated": self.model.set_calibration_,
            "known": calibrate_sets(self.held_out, self.recorded, self.noise_matrix),
            "clean": calibrate_sets(self.held_out, self.true, identity),
        }
        return {way: self.coverage(calibration, confidence) for way, calibration in ways.items()}

    def calibration_errors(self) -> dict[str, float]:
        """Expected calibration error on clean test labels, by scaling."""
        matrices = {SCALINGS[1]: self.model.noise_matrix_, SCALINGS[2]: self.noise_matrix}
        tables = {SCALINGS[0]: self.test}
        tables |= {name: fit_scaling(self.held_out, self.recorded, m)(self.test) for name, m in matrices.items()}
        identity = np.eye(len(self.noise_matrix))
        return {
            n: reliability_curve(t, self.test_labels, identity).expected_calibration_error for n, t in tables.items()
        }


def fitted(data: OrdinalDataset, learner: str, seed: int, most_rows: int) -> Split:
    rng = np.random.default_rng(seed)
    rows = rng.permutation(data.n_samples)[:most_rows]
    test, training = np.split(rows, [len(rows) // 4])
    matrix = inverse_decay(data.n_classes, RATE)
    recorded = corrupt(data.labels, matrix, rng)
    model = LEARNERS[learner](seed)
    if learner in FRONT:
        kept = training
        model.fit(data.features[training], recorded[training])
        held_out = model.out_of_fold_
    else:
        used, kept = np.split(training, [2 * len(training) // 3])
        model.fit(data.features[used], recorded[used]).calibrate_sets(data.features[kept], recorded[kept])
        held_out = model.predict_proba(data.features[kept])
    answers = model.predict_proba(data.features[test])
    return Split(model, held_out, recorded[kept], data.labels[kept], answers, data.labels[test], matrix)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--sets", nargs="+", default=["abalone", "computer", "california"])
    parser.add_argument("--learners", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--confidence", type=float, default=0.9)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    title = f"Coverage of clean labels by sets of confidence {options.confidence:g}, {options.splits} splits"
    sets = Table("set", "learner", *WAYS, title=title)
    errors = Table("set", "learner", *SCALINGS, title="Expected calibration error of P(y > j) on clean labels")
    for name in options.sets:
        data = load(name, options.data_dir)
        assert isinstance(data, OrdinalDataset)
        for learner in options.learners:
            found, off = [], []
            for seed in range(options.first_seed, options.first_seed + options.splits):
                start = time.process_time()
                split = fitted(data, learner, seed, options.rows)
                found.append(split.coverages(options.confidence))
                off.append(split.calibration_errors())
                shown = [f"{way} {covered:.3f} ({size:.2f})" for way, (covered, size) in found[-1].items()]
                print(name, learner, seed, *shown, f"{time.process_time() - start:.0f} s", sep=" | ", flush=True)
            sets.add_row(name, learner, *(summary([one[way] for one in found]) for way in WAYS))
            errors.add_row(name, learner, *(f"{np.mean([one[way] for one in off]):.4f}" for way in SCALINGS))
    console.print(sets)
    console.print(errors)


def summary(found: list[tuple[float, float]]) -> str:
    coverages, sizes = np.array(found).T
    return f"{coverages.mean():.3f} ± {coverages.std(ddof=1) if len(found) > 1 else 0:.3f}, size {sizes.mean():.2f}"


if __name__ == "__main__":
    main()
