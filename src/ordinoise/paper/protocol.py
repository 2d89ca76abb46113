"""The paper's experiments as data: sets, settings, variants, and the trials that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ordinoise._validation import Floats, as_choice, as_count
from ordinoise.noise import inverse_decay

RATE = 0.15
N_SPLITS = 20
TEST_SHARE = 0.2
UNTUNED = (10, 0.001)

# Hidden units and learning rate for each set and loss.
Tuned = dict[tuple[str, str], tuple[int, float]]

# The authors' second matrix, tried on Abalone.
ASYMMETRIC = ((0.70, 0.15, 0.15, 0.0), (0.0, 0.80, 0.15, 0.05), (0.02, 0.20, 0.78, 0.0), (0.05, 0.10, 0.15, 0.70))

NOISES = ("none", "uniform", "asymmetric")
ESTIMATORS = ("anchor_points", "score_likelihood")


@dataclass(frozen=True)
class PaperSet:
    """One of the paper's data sets, and how it is learned.

    Attributes
    ----------
    name, printed : str
        What `ordinoise.datasets.load` calls it, and what the paper's tables do.
    n_samples, n_features, n_classes : int
    cut : str
        How its target became grades; only Abalone's cut was published.
    activation : str
        The synthetic set has a linear score, so that its rule can be drawn.
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


SETS = {
    entry.name: entry
    for entry in (
        PaperSet("synthetic", "Synth", 8000, 2, 4, "true rule", "identity"),
        PaperSet("boston", "Boston", 506, 13, 5, "equal frequency", note="cut not published"),
        PaperSet("abalone", "Abalone", 4177, 8, 4, "rings 1-7, 8-9, 10-12, 13-29"),
        PaperSet("computer", "Computer", 8192, 21, 5, "equal frequency", note="cut not published"),
        PaperSet("california", "California", 20640, 8, 4, "equal width", note="cut not published"),
        PaperSet("mslr", "MSLR", 10_000, 136, 5, "grades", note="an excerpt of 10,000 of 1.2 million rows"),
        PaperSet("made", "", 1_200_000, 136, 5, "equal frequency", note="made, of MSLR's full size"),
    )
}
PAPER_SETS = tuple(name for name, entry in SETS.items() if entry.printed)


@dataclass(frozen=True)
class NetworkSettings:
    """The paper's network and its optimiser, AdamW.

    Attributes
    ----------
    n_hidden : int
        Units of the one hidden layer; linear ones for the synthetic set, so that its rule can be drawn.
    activation : str
    learning_rate, weight_decay : float
    batch_size, n_epochs : int
    restarts : bool
        Whether the optimiser forgets its moments after every epoch, as the authors' released code did.
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
    """How long each variant is trained, and by which optimiser.

    ``printed`` follows the text. ``inferred`` follows the authors' released runs and the printed counts of updates.
    ``authors`` adds their optimiser, made anew every epoch. ``short`` is for the set of MSLR's full size, where ten
    passes are 600,000 updates.
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
    """One network, trained and tested: everything that decides its outcome.

    Attributes
    ----------
    dataset, cut : str
    loss : {"cross_entropy", "hinge"}
    correction : {"none", "unbiased", "forward"}
    variant : {"plain", "known", "estimated"}
    noise : {"none", "uniform", "asymmetric"}
        What was done to the training labels.
    split : int
        Seeds the split, the noise and the start of the network.
    settings : NetworkSettings
    estimator : str
        Where an estimated matrix comes from.
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
        """Expected work, in updates of a small network."""
        data = SETS[self.dataset]
        updates = data.n_samples * self.settings.n_epochs / self.settings.batch_size
        networks = {"": 1, "anchor_points": 2, "score_likelihood": 11}[self.estimator]
        return updates * networks * (1 + data.n_features / 30)


def noise_matrix(noise: str, n_classes: int) -> Floats:
    """The matrix behind the name of a noise."""
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
    """All trials of Tables 1 and 2 and of the columns that the paper does not have.

    Parameters
    ----------
    datasets : sequence of str
        Some of `SETS`.
    n_splits : int
        Random 80/20 splits.
    protocol : str
        One of `PROTOCOLS`.
    tuned : dict, optional
        Hidden units and learning rate for each set and loss, from `tuning`; 10 and 0.001 by default.
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
    for loss in ("cross_entropy", "hinge"):
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
