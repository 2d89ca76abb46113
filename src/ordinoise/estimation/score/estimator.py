"""The default noise estimator: the likelihood of recorded labels along one ordinal score."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints, as_count, as_generator
from ordinoise.clusters import effect_on_records
from ordinoise.estimation._networks import recorded_probabilities
from ordinoise.estimation.base import NoiseEstimator
from ordinoise.estimation.score.bootstrap import bootstrap, posterior_draws
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.estimation.score.doubts import doubts_about_columns
from ordinoise.estimation.score.likelihood import LikelihoodFit, binned_likelihood, score_likelihood
from ordinoise.estimation.score.predictive import contradicts
from ordinoise.labels import Verified, verified_among
from ordinoise.noise import Doubt, Noise
from ordinoise.noise.deconvolution import FLOOR, deconvolved

FEWEST_ROWS = 50
"""Below this the noise is not estimated: the result would be the priors. A round number, chosen by no run."""
SMALLEST_SPREAD = 1e-6
"""Range of the scores below which they count as constant: far above rounding, far below any signal."""
N_DRAWS = 500
"""Draws of the posterior: the ends of a 95 % interval are then known to 3 % of its width."""


@dataclass(eq=False, repr=False)
class ScoreLikelihood(NoiseEstimator):
    """Noise matrix for ordered labels: what no smooth model of an ordinal score explains must be noise.

    Models that did not see a sample predict its recorded label; their expected label is the score. A smooth clean model
    of the score and a family of noise matrices are fitted together to the recorded labels. Slips to far classes leave a
    floor that no smooth model can imitate and are well identified. Slips to neighbors look like overlapping classes;
    if that leaves the noise in doubt, `noise_.doubts` says so.

    Parameters
    ----------
    family : str or sequence of str, default="average"
        ``"average"`` weights several families, and no noise at all, by their evidence. One name takes that family
        alone: ``"uniform"`` (one rate for all wrong labels), ``"inverse_decay"`` (one rate, the paper's),
        ``"class_inverse_decay"`` (one per class), ``"power_decay"`` (asymmetric, any decay), ``"adjacent"``,
        ``"unimodal"``, ``"free"``.
    prior_rate : float or (float, float), optional
        The share of wrong labels that you expect, alone or with its standard deviation: alone .15 means about .10 to
        .22. A standard deviation of .02 or less settles the doubt that noise between neighbors may be overlap.
    trusted : (indices, labels) or Verified, optional
        Rows whose true label is known, and those labels. They may have been chosen by suspicion: the estimate
        accounts for it. ``ordinoise.labels.Verified`` says how often the verifier errs.
    base_estimator : classifier with `predict_proba`, optional
        Predicts the recorded label out of fold; the ordinal network by default.
    n_folds, n_rounds : int
        Number of folds, and of rounds with new folds; probabilities are averaged over the rounds.
    hidden_layer_sizes, max_iter, learning_rate_init
        Settings of the default network; the paper's.
    n_jobs : int, optional
        Number of folds at a time; one per processor by default. The result does not depend on it.
    n_bootstrap : int, default=100
        Resamples for the intervals; 0 for none. Their cost does not depend on the number of samples.
    confidence : float, default=0.95
        Level of the intervals.
    classes : sequence, optional
        The classes from lowest to highest, if `y` may lack some.
    random_state : int, Generator, RandomState or None
        Randomness of folds, networks and resamples.

    Attributes
    ----------
    noise_ : Noise
        The estimated matrix with its intervals, replicates, true-class shares, noise rate and doubts;
        `noise_matrix_` is its matrix.
    likelihood_ratio_ : float
        Twice the gain in log-likelihood of the recorded labels over no noise.
    fit_ : LikelihoodFit
        Everything about the fit, such as the weight of every family; missing where all rows have the same score.
    probabilities_ : array of shape (n_samples, n_classes)
        Out-of-fold P(recorded label | features).
    classes_ : array of shape (n_classes,)
        Labels in order.
    """

    _: KW_ONLY
    family: Any = "average"
    prior_rate: float | tuple[float, float] | None = None
    trusted: Any = None
    base_estimator: Any = None
    n_folds: int = 10  # a convention, chosen by no run
    n_rounds: int = 1
    # Size, epochs and learning rate are the paper's.
    hidden_layer_sizes: tuple[int, ...] = (10,)
    max_iter: int = 200
    learning_rate_init: float = 0.001
    n_jobs: int | None = None
    n_bootstrap: int = 100
    confidence: float = 0.95
    classes: Any = None
    random_state: Any = None

    def _estimate(self, X: Any, ranks: Ints, groups: Ints | None, confidence: float, rng: np.random.Generator) -> Noise:
        n_bootstrap = as_count("n_bootstrap", self.n_bootstrap, 0)
        trusted = verified_among(self.trusted, self.classes_, len(ranks))
        self.probabilities_ = recorded_probabilities(
            X, ranks, len(self.classes_), self.base_estimator,
            n_folds=self.n_folds, n_rounds=as_count("n_rounds", self.n_rounds, 1), rng=rng, n_jobs=self.n_jobs,
            groups=groups, settings={
                "hidden_layer_sizes": self.hidden_layer_sizes,
                "max_epochs": self.max_iter,
                "learning_rate": self.learning_rate_init,
            },
        )  # fmt: skip
        if _says_nothing(self.probabilities_):
            self.likelihood_ratio_ = 0.0
            return _too_few(self.probabilities_, ranks)
        self.fit_: LikelihoodFit = score_likelihood(
            self.probabilities_, ranks, family=self.family, prior_rate=self.prior_rate, trusted=trusted, groups=groups
        )
        self.likelihood_ratio_ = self.fit_.likelihood_ratio
        n_classes = len(self.classes_)
        draws = np.empty((0, n_classes, n_classes)), np.empty(0)
        if n_bootstrap > 1:
            draws = bootstrap(self.fit_, n_draws=n_bootstrap, random_state=rng)
        seed = int(rng.integers(2**31))
        doubts = doubts_about_columns(X, self.fit_, self.probabilities_, ranks, seed, groups)
        return self.fit_.noise(draws, confidence, doubts)


def noise_from_probabilities(
    probabilities: Floats,
    ranks: Ints,
    sample_weight: Floats | None = None,
    *,
    features: Any = None,
    trusted: Verified | None = None,
    prior_rate: float | tuple[float, float] | None = None,
    random_state: Any = None,
    groups: Ints | None = None,
) -> Noise:
    """The default noise estimate, from existing out-of-fold probabilities of the recorded labels.

    Its intervals come from the normal approximation of the posterior, without refits. With fewer than 50 rows, or with
    constant scores, nothing is estimated: the matrix is the identity, and `source` is "too few rows".

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of the recorded label, by models that did not see the sample.
    ranks : array of shape (n_samples,)
        Recorded labels, 0..n_classes-1.
    sample_weight : array of shape (n_samples,), optional
    features : array of shape (n_samples, n_features) or function, optional
        Columns that might predict where the fit is surprised; if they do, it is doubted. A function returns those of
        the rows that it is called with.
    trusted : Verified, optional
        Verified samples.
    prior_rate : float or (float, float), optional
        The share of wrong labels that is expected, alone or with its standard deviation.
    random_state : int, Generator, RandomState or None
        Draws of the replicates.
    groups : array of shape (n_samples,), optional
        Numbers from 0; rows of one group are not independent, which widens the intervals and settles fewer doubts, and
        they are held out together when the columns are asked for surprises.
    """
    if len(probabilities) < FEWEST_ROWS or _says_nothing(probabilities):
        return _too_few(probabilities, ranks)
    rng = as_generator(random_state)
    fit = score_likelihood(
        probabilities, ranks, sample_weight=sample_weight, trusted=trusted, prior_rate=prior_rate, groups=groups
    )
    found = _noise_of(fit, probabilities, ranks, features, groups, rng)
    return found if trusted is None else _checked_by(trusted, found, probabilities, ranks)


def _checked_by(trusted: Verified, noise: Noise, probabilities: Floats, ranks: Ints) -> Noise:
    """The estimate with a doubt if the verified rows contradict it, at both ends of its interval."""
    recorded = trusted.is_recorded
    rows, is_wrong = trusted.rows[recorded], trusted.labels[recorded] != ranks[trusted.rows[recorded]]
    if noise.rate is None or not len(rows):
        return noise
    joint = deconvolved(probabilities, noise.matrix) * noise.matrix[:, ranks].T
    wrong = 1 - joint[np.arange(len(ranks)), ranks] / np.maximum(joint.sum(axis=1), FLOOR)
    low, high = noise.rate_interval or (noise.rate, noise.rate)
    if not contradicts(wrong, (low * len(ranks), high * len(ranks)), rows, is_wrong):
        return noise
    words = f"{int(is_wrong.sum())} of {len(rows)} verified labels are wrong, where it expects {wrong[rows].sum():.0f}"
    return replace(noise, doubts=(*noise.doubts, Doubt("verified-disagree", words)))


def noise_from_counts(
    cells: ScoreCells,
    counts: Ints,
    probabilities: Floats,
    ranks: Ints,
    *,
    features: Any = None,
    prior_rate: float | tuple[float, float] | None = None,
    random_state: Any = None,
    groups: Ints | None = None,
) -> Noise:
    """Label noise estimated from counts of recorded labels by cells of the score, which parts of a table add up to.

    Parameters
    ----------
    cells : ScoreCells
    counts : int array of shape (n_cells, n_classes)
        Of all samples.
    probabilities, ranks, features, groups
        Of a random sample of them, among which signs against the estimate are looked for.
    prior_rate, random_state
        As in `noise_from_probabilities`.
    """
    if counts.sum() < FEWEST_ROWS or _says_nothing(probabilities):
        return _too_few(probabilities, ranks)
    rng = as_generator(random_state)
    bins, at = cells.binned(counts)
    bins = bins.with_counts(bins.counts / effect_on_records(probabilities, ranks, groups, int(counts.sum())))
    fit = binned_likelihood(bins, at[cells.of(probabilities)], prior_rate=prior_rate)
    return _noise_of(fit, probabilities, ranks, features, groups, rng)


def _noise_of(
    fit: LikelihoodFit,
    probabilities: Floats,
    ranks: Ints,
    features: Any,
    groups: Ints | None,
    rng: np.random.Generator,
) -> Noise:
    draws = posterior_draws(fit, n_draws=N_DRAWS, random_state=rng)
    seed = int(rng.integers(2**31))
    return fit.noise(draws, more_doubts=doubts_about_columns(features, fit, probabilities, ranks, seed, groups))


def _says_nothing(probabilities: Floats) -> bool:
    """Whether all rows have the same score."""
    return not np.ptp(probabilities @ np.arange(probabilities.shape[1])) > SMALLEST_SPREAD


def _too_few(probabilities: Floats, ranks: Ints) -> Noise:
    """The record where nothing can be estimated: the labels are trusted."""
    got = f"it takes {FEWEST_ROWS} rows and features that tell them apart, got {len(ranks)} rows"
    doubt = Doubt("too-few-rows", f"too few rows to tell how many labels are wrong: {got}")
    return Noise(np.eye(probabilities.shape[1]), source="too few rows", doubts=(doubt,)).seen_in(ranks)
