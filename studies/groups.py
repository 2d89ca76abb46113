"""What rows that belong together do to the estimated noise if folds tear them apart.

Each row of a set stands for a patient with several jittered pictures, and the patient's grade was recorded once, for
all of them. Folds that ignore the patients let a model see the recorded grade of the very row that it judges. LIDC and
MSLR have groups of their own, nodules and queries; their grades are not noised further, and no rate is known.

    python -m studies.groups --data-dir DIR [--seeds 3]
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from ordinoise import OrdinalClassifier, corrupt, inverse_decay
from ordinoise._validation import Floats, Ints
from ordinoise.datasets import lidc, synthetic
from ordinoise.datasets.paper import abalone, computer, mslr

N_PATIENTS, N_PICTURES, JITTER = 500, 4, 0.1
RATE = 0.12


@dataclass(frozen=True, eq=False)
class Grouped:
    """Rows with recorded labels and groups, and the share of wrong labels if it is known."""

    features: Floats
    recorded: Ints
    groups: Ints
    wrong: float = np.nan


def pictures(features: Floats, labels: Ints, seed: int) -> Grouped:
    """Some rows as patients with jittered pictures each, all with the one grade that was recorded."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(labels))[:N_PATIENTS]
    scaled, true = (features[chosen] - features.mean(axis=0)) / features.std(axis=0), labels[chosen]
    recorded = corrupt(true, inverse_decay(int(labels.max()) + 1, RATE), rng)
    patients = np.repeat(np.arange(N_PATIENTS), N_PICTURES)
    jittered = scaled[patients] + JITTER * rng.normal(size=(len(patients), features.shape[1]))
    return Grouped(jittered, recorded[patients], patients, float((recorded != true).mean()))


def synthetic_pictures(_: str | None, seed: int) -> Grouped:
    data = synthetic(N_PATIENTS, random_state=seed)
    return pictures(data.features, data.labels, seed)


def computer_pictures(data_dir: str | None, seed: int) -> Grouped:
    data = computer(data_dir)
    return pictures(data.features, data.labels, seed)


def abalone_pictures(data_dir: str | None, seed: int) -> Grouped:
    data = abalone(data_dir)
    return pictures(data.features, data.labels, seed)


def readings(data_dir: str | None, _: int) -> Grouped:
    """Every reading of a nodule as a row; the nodule is the group."""
    data = lidc(data_dir)
    assert data.features is not None
    return Grouped(np.asarray(data.features[data.items]), data.labels, data.items)


def pages(data_dir: str | None, _: int) -> Grouped:
    """Search results; the query is the group."""
    data = mslr(data_dir, subset="train")
    assert data.groups is not None
    return Grouped(data.features.astype(np.float64), data.labels, data.groups)


SETS: dict[str, tuple[Callable[[str | None, int], Grouped], bool]] = {
    "synthetic, 4 pictures each": (synthetic_pictures, True),
    "Computer, 4 pictures each": (computer_pictures, True),
    "Abalone, 4 pictures each": (abalone_pictures, True),
    "LIDC, readings of a nodule": (readings, False),
    "MSLR, pages of a query": (pages, False),
}
"""What each row of the table is made of, and whether the seed changes it."""


def estimates(data: Grouped, seed: int) -> list[float]:
    """Estimated share of wrong labels, and out-of-fold share of predicted recorded labels, without and with groups."""
    found = []
    for groups in (None, data.groups):
        model = OrdinalClassifier("boosting", answer="trusting", n_rounds=1, n_jobs=1, random_state=seed)
        model.fit(data.features, data.recorded, groups=groups)
        assert model.out_of_fold_ is not None
        found += [model.noise_.rate, float((model.out_of_fold_.argmax(axis=1) == data.recorded).mean())]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table(
        "rows", "wrong", "estimated, torn", "estimated, by group", "label predicted, torn", "by group",
        title=f"Share of wrong labels as estimated, mean of {options.seeds} draws",
    )  # fmt: skip
    for name, (make, varies) in SETS.items():
        runs = []
        for seed in range(options.seeds if varies else 1):
            data = make(options.data_dir, seed)
            torn, known_torn, apart, known_apart = estimates(data, seed)
            runs.append([data.wrong, torn, apart, known_torn, known_apart])
        table.add_row(name, *(f"{value:.3f}" for value in np.mean(runs, axis=0)))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
