"""The paper's noise estimator: read each row of the matrix off a sample that surely belongs to the class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array

from ordinoise._validation import Floats, as_generator, as_number, as_same_length, complain
from ordinoise.grades import ordered_classes, ranks_of
from ordinoise.mlp import Architecture, Objective, Optimiser, initial_network, train


class AnchorPoints(BaseEstimator):
    """Noise matrix by anchor points: a softmax network on the noisy labels, read at its surest samples.

    The row of a class is the predicted distribution at the sample whose probability of that class lies at `quantile`
    among all samples (Patrini et al., 2017; the paper's estimator). It is right if some samples surely belong to each
    class, which ordered classes often lack.

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
    classes : sequence, optional
        The classes from lowest to highest, where `y` may lack some.
    random_state : int, Generator, RandomState or None
        Start of the network and order of its samples.

    Attributes
    ----------
    noise_matrix_ : array of shape (n_classes, n_classes)
        Estimated ``[true, recorded]``.
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
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.quantile = quantile
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_iter = max_iter
        self.learning_rate_init = learning_rate_init
        self.classes = classes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate the noise matrix of the recorded labels `y`."""
        features: NDArray[np.floating] = check_array(X, dtype=[np.float64, np.float32])
        self.classes_ = ordered_classes(y, self.classes)
        ranks = ranks_of("y", y, self.classes_)
        as_same_length("y", len(ranks), "X", len(features))
        if len(self.classes_) < 2:
            raise complain("y", "hold at least 2 classes", self.classes_.tolist())
        quantile = as_number("quantile", self.quantile, 0.0, 1.0, open_low=True)
        self.noise_matrix_ = anchored_matrix(self._probabilities(features, ranks), quantile)
        return self

    def _probabilities(self, features: NDArray[np.floating], ranks: NDArray[np.int64]) -> Floats:
        """Class probabilities of a softmax network that took the labels at their word."""
        rng = as_generator(self.random_state)
        n_classes = len(self.classes_)
        scale = features.std(axis=0, dtype=np.float64)
        network = initial_network(
            Architecture(features.shape[1], n_classes, tuple(self.hidden_layer_sizes), head="softmax"),
            rng,
            center=features.mean(axis=0, dtype=np.float64),
            scale=np.where(scale > 0, scale, 1.0),
        )
        optimiser = Optimiser(learning_rate=self.learning_rate_init, batch_size=min(256, max(16, len(ranks) // 1000)))
        objective = Objective("forward", np.eye(n_classes)[None])
        trained = train(network, features, ranks, objective, optimiser, max_epochs=self.max_iter, rng=rng).network
        logits = trained.logits(features)
        likelihood = np.exp(logits - logits.max(axis=1, keepdims=True))
        return likelihood / likelihood.sum(axis=1, keepdims=True)


def anchored_matrix(probabilities: Floats, quantile: float) -> Floats:
    """Rows of predicted probabilities, each at its class's surest sample but for the share above `quantile`."""
    order = np.argsort(probabilities, axis=0, kind="stable")
    anchors = order[int(np.ceil(quantile * len(order))) - 1]
    matrix = probabilities[anchors]
    return matrix / matrix.sum(axis=1, keepdims=True)
