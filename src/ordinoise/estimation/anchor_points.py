"""The paper's noise estimator: read each row of the matrix off a sample that surely belongs to the class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from ordinoise._validation import Floats, Ints, as_count, as_number
from ordinoise.estimation._likelihood_ratio import likelihood_ratio
from ordinoise.estimation._networks import softmax_probabilities, trained_network
from ordinoise.estimation.base import Estimate, NoiseEstimator, implied_prior

SURE = 0.5
FEW_SAMPLES = 100


class AnchorPoints(NoiseEstimator):
    """Noise matrix by anchor points: a softmax network on the noisy labels, read at its surest samples.

    The row of a class is the predicted distribution at the sample whose probability of that class lies at `quantile`
    among all samples (Patrini et al., 2017; the paper's estimator). It is right if some samples surely belong to each
    class, which ordered classes often lack, and it does not improve with more samples where they do.

    Parameters
    ----------
    quantile : float, default=0.99
        1 takes the very surest sample of each class.
    hidden_layer_sizes : tuple of int, default=(10,)
        Of the softmax network.
    max_iter : int, default=200
        Its epochs.
    learning_rate_init : float, default=0.001
        Its step.
    n_bootstrap : int, default=100
        Resamples of the predictions for the intervals; 0 for none. The network stays as it is in them.
    confidence : float, default=0.95
        Level of the intervals.
    classes : sequence, optional
        The classes from lowest to highest, where `y` may lack some.
    random_state : int, Generator, RandomState or None
        Start of the network, order of its samples, resamples.

    Attributes
    ----------
    noise_matrix_, noise_matrix_interval_ : arrays of shape (n_classes, n_classes) and (2, n_classes, n_classes)
        Estimated ``[true, recorded]``, and the ends of the interval of every entry.
    noise_rate_, noise_rate_interval_ : float and array of shape (2,)
        Share of wrong labels.
    class_prior_ : array of shape (n_classes,)
        How common each true class is.
    likelihood_ratio_ : float
        Twice the gain in log-likelihood of the recorded labels over no noise.
    is_identifiable_, identifiability_ : bool and str
        Whether anything speaks against the estimate, and what.
    bootstrap_matrices_ : array of shape (n_bootstrap, n_classes, n_classes)
        The estimate on resampled data.
    classes_ : array of shape (n_classes,)
        Labels in order.
    """

    def __init__(
        self,
        *,
        quantile: float = 0.99,
        hidden_layer_sizes: tuple[int, ...] = (10,),
        max_iter: int = 200,
        learning_rate_init: float = 0.001,
        n_bootstrap: int = 100,
        confidence: float = 0.95,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.quantile = quantile
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_iter = max_iter
        self.learning_rate_init = learning_rate_init
        self.n_bootstrap = n_bootstrap
        self.confidence = confidence
        self.classes = classes
        self.random_state = random_state

    def _estimate(self, X: Any, ranks: Ints, rng: np.random.Generator) -> Estimate:
        features = check_array(X, dtype=[np.float64, np.float32])
        quantile = as_number("quantile", self.quantile, 0.0, 1.0, open_low=True)
        n_classes, n_samples = len(self.classes_), len(ranks)
        network = trained_network(
            features, ranks, np.arange(n_samples), n_classes, head="softmax", max_epochs=self.max_iter, rng=rng,
            hidden_layer_sizes=self.hidden_layer_sizes, learning_rate=self.learning_rate_init,
        )  # fmt: skip
        probabilities = softmax_probabilities(network.logits(features))
        return resampled(
            lambda rows: anchored_matrix(probabilities[rows], quantile),
            probabilities, ranks, as_count("n_bootstrap", self.n_bootstrap, 0), rng, _doubts(probabilities, quantile),
        )  # fmt: skip


def anchored_matrix(probabilities: Floats, quantile: float) -> Floats:
    """Rows of predicted probabilities, each at its class's surest sample but for the share above `quantile`."""
    order = np.argsort(probabilities, axis=0, kind="stable")
    matrix = probabilities[order[int(np.ceil(quantile * len(order))) - 1]]
    return matrix / matrix.sum(axis=1, keepdims=True)


def resampled(
    statistic: Any, probabilities: Floats, ranks: Ints, n_bootstrap: int, rng: np.random.Generator, doubts: list[str]
) -> Estimate:
    """The estimate from all rows, and from as many drawn with replacement."""
    n_samples, n_classes = probabilities.shape
    frequencies = np.bincount(ranks, minlength=n_classes) / n_samples
    matrix = statistic(np.arange(n_samples))
    matrices, rates = np.empty((n_bootstrap, n_classes, n_classes)), np.empty(n_bootstrap)
    for draw in range(n_bootstrap):
        rows = rng.integers(n_samples, size=n_samples)
        matrices[draw] = statistic(rows)
        drawn = np.bincount(ranks[rows], minlength=n_classes) / n_samples
        rates[draw] = 1 - implied_prior(matrices[draw], drawn) @ matrices[draw].diagonal()
    ratio = likelihood_ratio(probabilities, ranks, matrix)
    if n_samples < FEW_SAMPLES:
        doubts = [*doubts, f"only {n_samples} samples"]
    return Estimate(matrix, implied_prior(matrix, frequencies), matrices, rates, ratio, tuple(doubts))


def _doubts(probabilities: Floats, quantile: float) -> list[str]:
    surest = np.quantile(probabilities, quantile, axis=0)
    unsure = np.flatnonzero(surest < SURE)
    if len(unsure) == 0:
        return []
    return [f"no sample surely belongs to class {', '.join(map(str, unsure))} (counted from 0)"]
