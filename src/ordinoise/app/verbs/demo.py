"""The demo on synthetic data: labels with known noise, five ways to learn from them, and the error of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.app.verbs.doubt_warnings import without_doubt_warnings
from ordinoise.classifiers import OrdinalMLPClassifier
from ordinoise.datasets import OrdinalDataset, synthetic
from ordinoise.noise import Noise, corrupt, inverse_decay
from ordinoise.scoring.metrics import mean_absolute_error, zero_one_loss

# The noise of the paper's synthetic data: a label goes to each neighboring grade with probability 0.15.
MATRIX = inverse_decay(4, 0.15)
# A linear score, as in the paper's picture, with a larger learning rate than its 0.001 and so fewer epochs; no run is
# on record for these values.
NETWORK: dict[str, Any] = {
    "hidden_layer_sizes": (), "max_iter": 150, "learning_rate_init": 0.01, "batch_size": 16, "early_stopping": False,
}  # fmt: skip


@dataclass(frozen=True)
class Contestant:
    """A way to learn: the settings of its classifier, and whether its training labels are clean."""

    name: str
    settings: dict[str, Any]
    on_clean_labels: bool = False


@dataclass(frozen=True)
class Outcome:
    """Errors of a contestant on clean test labels, one per split."""

    name: str
    mean_absolute_errors: Floats
    zero_one_losses: Floats


@dataclass(frozen=True)
class DemoResult:
    """The result of the demo; the estimates of the noise are one per split."""

    noise_matrix: Floats
    estimates: list[Noise]
    share_wrong: float
    outcomes: list[Outcome]
    picture: Path


# No correction, the paper's correction, ours with the matrix known and estimated, and clean labels.
CONTESTANTS = (
    Contestant("noisy labels, trusted", {"noise": None}),
    Contestant("noise known, unbiased (the paper)", {"noise": MATRIX, "correction": "unbiased"}),
    Contestant("noise known, forward", {"noise": MATRIX}),
    Contestant("noise estimated, forward", {"noise": "estimate"}),
    Contestant("clean labels", {"noise": None}, on_clean_labels=True),
)


def run_demo(picture: Path, n_splits: int = 5, seed: int = 0, on_fit: Callable[[], None] = lambda: None) -> DemoResult:
    """Fit every contestant on every split, and draw the paper's four panels for the first split.

    Parameters
    ----------
    picture : Path
        PNG file to write.
    n_splits : int
        Number of fresh draws of data and noise.
    seed : int
        Random seed.
    on_fit : callable
        Called after every fit.
    """
    errors: dict[str, list[tuple[float, float]]] = {}
    first: dict[str, OrdinalMLPClassifier] = {}
    estimates: list[Noise] = []
    for split in range(n_splits):
        rng = np.random.default_rng([seed, split])
        training, test = synthetic(400, random_state=rng), synthetic(500, random_state=rng)
        noisy = corrupt(training.labels, MATRIX, rng)
        for contestant in CONTESTANTS:
            labels = training.labels if contestant.on_clean_labels else noisy
            model = OrdinalMLPClassifier(**NETWORK, **contestant.settings, random_state=split)
            with without_doubt_warnings():
                model.fit(training.features, labels)
            if model.noise_.source == "estimated":
                estimates.append(model.noise_)
            predicted = model.predict(test.features)
            scores = mean_absolute_error(test.labels, predicted), zero_one_loss(test.labels, predicted)
            errors.setdefault(contestant.name, []).append(scores)
            on_fit()
            if split == 0:
                first[contestant.name] = model
        if split == 0:
            _draw(picture, training, noisy, first)
            share_wrong = float((noisy != training.labels).mean())
    outcomes = [Outcome(name, *np.array(scores).T) for name, scores in errors.items()]
    return DemoResult(MATRIX, estimates, share_wrong, outcomes, picture)


def _draw(picture: Path, training: OrdinalDataset, noisy: Ints, models: dict[str, OrdinalMLPClassifier]) -> None:
    """The paper's picture: the true rule on clean and on noisy labels, then two rules learned from the noisy ones."""
    from ordinoise.paper.pictures import Panel, write_panels

    def truth(points: Floats) -> Ints:
        return np.digitize(points[:, 0], [0, 10, 20])

    trusted, corrected = (models[name].predict for name in ("noisy labels, trusted", "noise known, forward"))
    rows = np.random.default_rng(0).permutation(len(noisy))[:700]
    panels = [
        Panel("a  clean labels, true rule", training.features[rows], training.labels[rows], truth),
        Panel("b  recorded labels, true rule", training.features[rows], noisy[rows], truth),
        Panel("c  learned from recorded labels, trusted", training.features[rows], noisy[rows], trusted),
        Panel("d  learned from recorded labels, noise matrix known", training.features[rows], noisy[rows], corrected),
    ]
    write_panels(picture, panels, [f"grade {k}" for k in range(4)])
