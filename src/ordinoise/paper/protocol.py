"""The paper's experiments as data: sets, network settings, protocols, and the trials of Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ordinoise._validation import Floats, as_choice, as_count
from ordinoise.noise import inverse_decay

# From the paper's text.
RATE = 0.15
N_SPLITS = 20
TEST_SHARE = 0.2

# Hidden units and learning rate; the authors' released runs have 6 to 10 units and this rate.
UNTUNED = (10, 0.001)

# Hidden units and learning rate by set and loss.
Tuned = dict[tuple[str, str], tuple[int, float]]

LOSSES = {"cross_entropy": "cross-entropy", "hinge": "hinge"}
"""The two losses, and their names in tables."""

# The authors' second noise matrix, used on Abalone.
ASYMMETRIC = ((0.70, 0.15, 0.15, 0.0), (0.0, 0.80, 0.15, 0.05), (0.02, 0.20, 0.78, 0.0), (0.05, 0.10, 0.15, 0.70))

NOISES = ("none", "uniform", "asymmetric")


@dataclass(frozen=True)
class PaperSet:
    """One of the paper's data sets, and the activation of its network.

    Attributes
    ----------
    name, printed : str
        Its name in `ordinoise.datasets.load`, and in the paper's tables (empty where the paper does not have it).
    n_samples, n_features, n_classes : int
    cut : str
        How its target is cut into grades; only Abalone's cut was published.
    activation : str
        Of the hidden units; linear for the synthetic set, so that its decision regions can be drawn.
    note : str
        What to know before comparing with the printed numbers.
    """

    name: str
    printed: str
    n_samples: int
    n_features: int
    n_classes: int
    cut: str
    activation: str = "relu"
    note: str = ""

    @property
    def title(self) -> str:
        """Its name in our tables."""
        return self.printed or self.name


# The name of a set seeds its splits: "made" stays, since the published numbers depend on it.
SETS = {
    entry.name: entry
    for entry in (
        PaperSet("synthetic", "Synth", 8000, 2, 4, "true rule", "identity"),
        PaperSet("boston", "Boston", 506, 13, 5, "equal frequency", note="cut not published"),
        PaperSet("abalone", "Abalone", 4177, 8, 4, "rings 1-7, 8-9, 10-12, 13-29"),
        PaperSet("computer", "Computer", 8192, 21, 5, "equal frequency", note="cut not published"),
        PaperSet("california", "California", 20640, 8, 4, "equal width", note="cut not published"),
        PaperSet("mslr", "MSLR", 10_000, 136, 5, "grades", note="an excerpt of 10,000 of 1.2 million rows"),
        PaperSet("made", "", 1_200_000, 136, 5, "equal frequency", note="synthetic, of MSLR's full size"),
    )
}
PAPER_SETS = tuple(name for name, entry in SETS.items() if entry.printed)


@dataclass(frozen=True)
class NetworkSettings:
    """The paper's network and its optimizer, AdamW.

    Attributes
    ----------
    n_hidden : int
        Units of the one hidden layer.
    activation : str
    learning_rate, weight_decay : float
    batch_size, n_epochs : int
    restarts : bool
        Whether the optimizer's moments are reset after every epoch, as in the authors' released code.
    thresholds : {"free", "ordered"}
    """

    n_hidden: int = 10
    activation: str = "relu"
    learning_rate: float = 0.001
    weight_decay: float = 0.01
    batch_size: int = 16
    n_epochs: int = 200
    restarts: bool = False
    thresholds: str = "free"


@dataclass(frozen=True)
class Protocol:
    """Number of epochs of each variant, and whether the optimizer restarts every epoch.

    ``printed`` follows the paper's text. ``inferred`` follows the authors' released runs and the printed counts of
    updates. ``authors`` is ``inferred`` with their optimizer, which restarts every epoch. ``short`` is for the set of
    MSLR's full size, where ten epochs are 600,000 updates.
    """

    name: str
    n_epochs: int
    n_epochs_estimated: int
    restarts: bool = False

    def settings(self, data: PaperSet, variant: str, tuned: tuple[int, float] = UNTUNED) -> NetworkSettings:
        """Settings of the free-threshold network for one set and variant."""
        n_hidden, learning_rate = tuned
        return NetworkSettings(
            n_hidden=n_hidden,
            activation=data.activation,
            learning_rate=learning_rate,
            n_epochs=self.n_epochs_estimated if variant == "estimated" else self.n_epochs,
            restarts=self.restarts,
        )


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol("inferred", 200, 240),
        Protocol("printed", 300, 300),
        Protocol("authors", 200, 240, restarts=True),
        Protocol("short", 10, 10),
    )
}


@dataclass(frozen=True)
class PaperTrial:
    """One network to train and test: everything that its result depends on.

    Attributes
    ----------
    dataset, cut : str
    loss : {"cross_entropy", "hinge"}
    correction : {"none", "unbiased", "forward"}
    variant : {"plain", "known", "estimated"}
    noise : {"none", "uniform", "asymmetric"}
        Noise put into the training labels.
    split : int
        Seeds the split, the noise and the initial weights.
    settings : NetworkSettings
    estimator : {"", "anchor_points", "score_likelihood"}
        Estimator of the noise matrix; empty where the matrix is not estimated.
    """

    dataset: str
    cut: str
    loss: str
    correction: str
    variant: str
    noise: str
    split: int
    settings: NetworkSettings
    estimator: str = ""

    @property
    def cost(self) -> float:
        """Expected work in updates of a small network; only the estimate of the time left uses it."""
        # The network itself, and those behind the estimate: one, or ten folds.
        n_networks = {"": 1, "anchor_points": 2, "score_likelihood": 11}[self.estimator]
        return n_networks * training_cost(self.dataset, self.settings)


def training_cost(dataset: str, settings: NetworkSettings) -> float:
    """Updates of one training, weighted by the number of features; the 30 is a round number, chosen by no run."""
    data = SETS[dataset]
    return data.n_samples * settings.n_epochs / settings.batch_size * (1 + data.n_features / 30)


def noise_matrix(noise: str, n_classes: int) -> Floats:
    """The noise matrix of that name, shape (n_classes, n_classes)."""
    as_choice("noise", noise, NOISES)
    if noise == "asymmetric":
        return np.array(ASYMMETRIC)
    return inverse_decay(n_classes, RATE) if noise == "uniform" else np.eye(n_classes)


def plan(
    datasets: Sequence[str] = PAPER_SETS,
    *,
    n_splits: int = N_SPLITS,
    protocol: str = "inferred",
    tuned: Tuned | None = None,
) -> list[PaperTrial]:
    """All trials of Tables 1 and 2, and those with forward correction, which the paper does not have.

    Parameters
    ----------
    datasets : sequence of str
        Some of `SETS`.
    n_splits : int
        Random 80/20 splits per set.
    protocol : str
        One of `PROTOCOLS`.
    tuned : dict, optional
        Hidden units and learning rate by set and loss, from `best_settings`; 10 and 0.001 by default.
    """
    as_count("n_splits", n_splits, 1)
    chosen = PROTOCOLS[as_choice("protocol", protocol, PROTOCOLS)]
    sets = [SETS[as_choice("datasets", name, SETS)] for name in datasets]
    return [trial for data in sets for split in range(n_splits) for trial in _trials(data, split, chosen, tuned or {})]


def _trials(data: PaperSet, split: int, protocol: Protocol, tuned: Tuned) -> Iterator[PaperTrial]:
    def trial(loss: str, correction: str, variant: str, noise: str) -> PaperTrial:
        settings = protocol.settings(data, variant, tuned.get((data.name, loss), UNTUNED))
        estimator = "anchor_points" if variant == "estimated" else ""
        if correction == "forward":
            settings = replace(settings, thresholds="ordered", n_epochs=protocol.n_epochs)
            estimator = "score_likelihood" if variant == "estimated" else ""
        return PaperTrial(data.name, data.cut, loss, correction, variant, noise, split, settings, estimator)

    noises = ["uniform", "asymmetric"] if data.name == "abalone" else ["uniform"]
    for loss in LOSSES:
        yield trial(loss, "none", "plain", "none")
        yield trial(loss, "unbiased", "estimated", "none")
        for noise in noises:
            yield trial(loss, "none", "plain", noise)
            yield trial(loss, "unbiased", "known", noise)
            yield trial(loss, "unbiased", "estimated", noise)
    yield trial("cross_entropy", "forward", "estimated", "none")
    for noise in noises:
        yield trial("cross_entropy", "forward", "known", noise)
        yield trial("cross_entropy", "forward", "estimated", noise)
