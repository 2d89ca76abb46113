"""The default noise estimator: the likelihood of recorded labels along one ordinal score."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordinoise._validation import Ints, as_count
from ordinoise.estimation._networks import recorded_probabilities
from ordinoise.estimation.base import Estimate, NoiseEstimator
from ordinoise.estimation.score.bootstrap import NoiseDraws, bootstrap
from ordinoise.estimation.score.likelihood import score_likelihood
from ordinoise.labels import trusted_ranks


class ScoreLikelihood(NoiseEstimator):
    """Noise matrix made for ordered labels: what must be noise, because no smooth model of a score explains it.

    Models that did not see a sample predict its recorded label; their expected label is a score. Along it a smooth
    clean model and a family of noise matrices are fitted together to the recorded labels. Slips to far classes leave a
    floor that no smooth model can imitate and are well identified. Slips to neighbours look like overlapping classes;
    where that leaves the answer open, `identifiability_` says so.

    Parameters
    ----------
    family : str or sequence of str, default="average"
        ``"average"`` weighs several families, and no noise at all, by their evidence. One name takes that family
        alone: ``"inverse_decay"`` (one rate, the paper's), ``"class_inverse_decay"`` (one a class), ``"power_decay"``
        (asymmetric, any decay), ``"adjacent"``, ``"unimodal"``, ``"free"``.
    prior_rate : float, optional
        The share of wrong labels you believe in.
    trusted : (indices, labels), optional
        Rows whose true label is known, and those labels. They may have been picked by suspicion: the estimate
        allows for it.
    base_estimator : classifier with `predict_proba`, optional
        Predicts the recorded label out of fold; the ordinal network by default.
    n_folds, n_rounds : int
        Folds, and how often they are drawn anew; probabilities are averaged over the rounds.
    hidden_layer_sizes, max_iter, learning_rate_init
        Of the default network.
    n_jobs : int, optional
        Folds at a time; all processors by default. The answer does not depend on it.
    n_bootstrap : int, default=100
        Resamples for the intervals; 0 for none. Their cost does not depend on the number of samples.
    confidence : float, default=0.95
        Level of the intervals.
    classes : sequence, optional
        The classes from lowest to highest, where `y` may lack some.
    random_state : int, Generator, RandomState or None
        Folds, networks, resamples.

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
    fit_ : LikelihoodFit
        Everything about the fit, the weight of every family among it.
    probabilities_ : array of shape (n_samples, n_classes)
        Out-of-fold P(recorded label | features).
    classes_ : array of shape (n_classes,)
        Labels in order.
    """

    def __init__(
        self,
        *,
        family: Any = "average",
        prior_rate: float | None = None,
        trusted: Any = None,
        base_estimator: Any = None,
        n_folds: int = 10,
        n_rounds: int = 1,
        hidden_layer_sizes: tuple[int, ...] = (10,),
        max_iter: int = 200,
        learning_rate_init: float = 0.001,
        n_jobs: int | None = None,
        n_bootstrap: int = 100,
        confidence: float = 0.95,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.prior_rate = prior_rate
        self.trusted = trusted
        self.base_estimator = base_estimator
        self.n_folds = n_folds
        self.n_rounds = n_rounds
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_iter = max_iter
        self.learning_rate_init = learning_rate_init
        self.n_jobs = n_jobs
        self.n_bootstrap = n_bootstrap
        self.confidence = confidence
        self.classes = classes
        self.random_state = random_state

    def _estimate(self, X: Any, ranks: Ints, rng: np.random.Generator) -> Estimate:
        n_classes = len(self.classes_)
        n_bootstrap = as_count("n_bootstrap", self.n_bootstrap, 0)
        settled = None if self.trusted is None else trusted_ranks(self.trusted, self.classes_, len(ranks))
        self.probabilities_ = recorded_probabilities(
            X, ranks, n_classes, self.base_estimator,
            n_folds=self.n_folds, n_rounds=as_count("n_rounds", self.n_rounds, 1), rng=rng, n_jobs=self.n_jobs,
            settings={
                "hidden_layer_sizes": self.hidden_layer_sizes,
                "max_epochs": self.max_iter,
                "learning_rate": self.learning_rate_init,
            },
        )  # fmt: skip
        self.fit_ = score_likelihood(
            self.probabilities_, ranks, family=self.family, prior_rate=self.prior_rate, settled=settled
        )
        none = NoiseDraws(np.empty((0, n_classes, n_classes)), np.empty(0))
        resamples = bootstrap(self.fit_, n_draws=n_bootstrap, random_state=rng) if n_bootstrap > 1 else none
        gain = self.fit_.log_likelihood - self.fit_.log_likelihood_without_noise
        return Estimate(
            noise_matrix=self.fit_.noise_matrix,
            class_prior=self.fit_.class_prior,
            matrices=resamples.noise_matrices,
            noise_rates=resamples.noise_rates,
            likelihood_ratio=2 * gain,
            doubts=self.fit_.doubts,
        )
