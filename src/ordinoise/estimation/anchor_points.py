"""The paper's noise estimator: a row of the matrix is the prediction at a sample that surely belongs to the class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_array

from ordinoise._validation import Floats, Ints, as_count, as_number
from ordinoise.estimation._likelihood_ratio import likelihood_ratio
from ordinoise.estimation._networks import trained_network
from ordinoise.estimation.base import NoiseEstimator
from ordinoise.noise import Doubt, Noise
from ordinoise.noise.record import estimated_noise, implied_shares

SURE = 0.5  # below it the anchor of a class is more likely of another class
FEW_SAMPLES = 100  # a 99th percentile is then a single sample


@dataclass(eq=False, repr=False)
class AnchorPoints(NoiseEstimator):
    """Noise matrix by anchor points: predictions of a softmax network on the noisy labels at its surest samples.

    The row of a class is the predicted distribution at the sample whose probability of that class lies at `quantile`
    among all samples (Patrini et al., 2017; the paper's estimator). It is right if some samples surely belong to each
    class. Ordered classes often lack such samples, and then more data does not help.

    Parameters
    ----------
    quantile : float, default=0.99
        1 takes the surest sample of each class.
    hidden_layer_sizes : tuple of int, default=(10,)
        Hidden units of the softmax network.
    max_iter : int, default=200
        Epochs of the network.
    learning_rate_init : float, default=0.001
        Learning rate of the network.
    n_bootstrap : int, default=100
        Resamples of the predictions for the intervals; 0 for none. The network is not refitted.
    confidence : float, default=0.95
        Level of the intervals.
    classes : sequence, optional
        The classes from lowest to highest, if `y` may lack some.
    random_state : int, Generator, RandomState or None
        Initial weights of the network, order of its samples, resamples.

    Attributes
    ----------
    noise_ : Noise
        The estimated matrix with its intervals, replicates, true-class shares, noise rate and doubts;
        `noise_matrix_` is its matrix.
    likelihood_ratio_ : float
        Twice the gain in log-likelihood of the recorded labels over no noise.
    classes_ : array of shape (n_classes,)
        Labels in order.
    """

    _: KW_ONLY
    quantile: float = 0.99
    # Size, epochs and learning rate are the paper's.
    hidden_layer_sizes: tuple[int, ...] = (10,)
    max_iter: int = 200
    learning_rate_init: float = 0.001
    n_bootstrap: int = 100
    confidence: float = 0.95
    classes: Any = None
    random_state: Any = None

    def _estimate(self, X: Any, ranks: Ints, groups: Ints | None, confidence: float, rng: np.random.Generator) -> Noise:
        features = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        quantile = as_number("quantile", self.quantile, 0.0, 1.0, open_low=True)
        n_classes, n_samples = len(self.classes_), len(ranks)
        network = trained_network(
            features, ranks, np.arange(n_samples), n_classes, head="softmax", max_epochs=self.max_iter, rng=rng,
            hidden_layer_sizes=self.hidden_layer_sizes, learning_rate=self.learning_rate_init,
        )  # fmt: skip
        probabilities = softmax(network.logits(features), axis=1)
        self.likelihood_ratio_ = likelihood_ratio(probabilities, ranks, anchored_matrix(probabilities, quantile))
        return resampled_noise(
            lambda rows: anchored_matrix(probabilities[rows], quantile), ranks, n_classes,
            as_count("n_bootstrap", self.n_bootstrap, 0), rng, confidence=confidence, method=type(self).__name__,
            doubts=_doubts(probabilities, quantile), groups=groups,
        )  # fmt: skip


def anchored_matrix(probabilities: Floats, quantile: float) -> Floats:
    """Row k: the predicted probabilities at the sample whose probability of class k lies at `quantile`."""
    order = np.argsort(probabilities, axis=0, kind="stable")
    matrix = probabilities[order[int(np.ceil(quantile * len(order))) - 1]]
    return matrix / matrix.sum(axis=1, keepdims=True)


def resampled_noise(
    statistic: Callable[[Ints], Floats],
    ranks: Ints,
    n_classes: int,
    n_bootstrap: int,
    rng: np.random.Generator,
    *,
    confidence: float,
    method: str,
    doubts: Sequence[Doubt] = (),
    groups: Ints | None = None,
) -> Noise:
    """The matrix that `statistic` gives for all rows, with replicates for rows, or groups, drawn with replacement."""
    n_samples = len(ranks)
    members = None if groups is None else np.split(np.argsort(groups, kind="stable"), np.bincount(groups).cumsum()[:-1])

    def shares_of(matrix: Floats, rows: Ints) -> Floats:
        return implied_shares(matrix, np.bincount(ranks[rows], minlength=n_classes) / len(rows))

    def drawn_rows() -> Ints:
        if members is None:
            return rng.integers(n_samples, size=n_samples)
        return np.concatenate([members[group] for group in rng.integers(len(members), size=len(members))])

    everything = np.arange(n_samples)
    matrix = statistic(everything)
    replicates, rates = np.empty((n_bootstrap, n_classes, n_classes)), np.empty(n_bootstrap)
    for draw in range(n_bootstrap):
        rows = drawn_rows()
        replicates[draw] = statistic(rows)
        rates[draw] = 1 - shares_of(replicates[draw], rows) @ replicates[draw].diagonal()
    if n_samples < FEW_SAMPLES:
        doubts = [*doubts, Doubt("few-samples", f"only {n_samples} samples")]
    return estimated_noise(
        matrix, shares_of(matrix, everything), replicates=replicates, rates=rates, confidence=confidence,
        method=method, doubts=doubts,
    )  # fmt: skip


def _doubts(probabilities: Floats, quantile: float) -> list[Doubt]:
    surest = np.quantile(probabilities, quantile, axis=0)
    unsure = np.flatnonzero(surest < SURE)
    if len(unsure) == 0:
        return []
    names = ", ".join(map(str, unsure))
    return [Doubt("no-anchors", f"no sample surely belongs to class {names} (counted from 0)")]
