"""How many labels are wrong, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.audit.graders.floor import fewest_by_graders
from ordinoise.audit.posterior import posterior
from ordinoise.audit.prevalence.count import Count, count_wrong
from ordinoise.audit.prevalence.verdicts import Verdicts
from ordinoise.clusters import effect_on_records
from ordinoise.estimate import Estimate, normal_reach
from ordinoise.estimation.score.likelihood import MODEL_ERROR
from ordinoise.finding import Finding
from ordinoise.labels import Verified
from ordinoise.noise import Noise
from ordinoise.noise.deconvolution import FLOOR, deconvolved

MOST_ROWS, MOST_REPLICATES = 1000, 200
"""Rows and replicates that the variance over replicates is computed from, to bound its cost (decision 0024)."""


@dataclass(frozen=True)
class WrongCount:
    """An estimated number of wrong labels, or what is known of it.

    Attributes
    ----------
    estimate : Estimate
        The number with its interval, or its range.
    n_samples : int
        Number of labels.
    standard_error : float or None
        Standard error of the number; None if only a range is known.
    count : Count or None
        What the verified rows tell, and how far the columns bound the number; None for a noise matrix that is given.
    by_matrix : Estimate or None
        The number if one matrix, fitted to the columns, describes the noise of all rows, which no row verifies.
    design_effect : float
        Rows per independent row, where rows come in groups.
    """

    estimate: Estimate
    n_samples: int
    standard_error: float | None = None
    count: Count | None = None
    by_matrix: Estimate | None = None
    design_effect: float = 1.0

    @property
    def value(self) -> float | None:
        """Expected number; None if only a range is known."""
        return None if self.estimate.is_range else self.estimate.value

    @property
    def low(self) -> float:
        """Lower end of the interval; without `value` that of the range, whatever part of the overlap is slips."""
        return self.estimate.low

    @property
    def high(self) -> float:
        """Upper end, as `low`; within `n_samples`."""
        return self.estimate.high

    @property
    def confidence(self) -> float:
        """Level of the interval."""
        return self.estimate.confidence

    @property
    def share(self) -> float | None:
        """Expected share of wrong labels; None if only a range is known."""
        return None if self.value is None else self.value / max(self.n_samples, 1)

    def __str__(self) -> str:
        return Finding("range" if self.estimate.is_range else "count", self.estimate, self.n_samples).phrase


def wrong_by_rate(noise: Noise, n_samples: int) -> WrongCount | None:
    """The number by the rate of the fitted matrix; None if it has none."""
    if noise.rate is None:
        return None
    ends = noise.rate_interval or (np.nan, np.nan)
    return WrongCount(Estimate(noise.rate, *ends, noise.confidence).times(n_samples), n_samples)


def verified_count(
    table: Floats, recorded: Ints, suspicion: Floats, verified: Verified | None, by_matrix: Estimate | None,
    confidence: float, groups: Ints | None = None, graders: Ints | None = None,
) -> tuple[WrongCount, Floats]:  # fmt: skip
    """The count that only verified rows can narrow down, and the chance that each record is wrong, or NaN.

    Parameters
    ----------
    table : array of shape (n_samples, n_classes)
        Probabilities of the recorded labels by models that trust them and did not see the row.
    recorded : int array of shape (n_samples,)
        Recorded labels, as ranks.
    suspicion : array of shape (n_samples,)
    verified : Verified or None
        Checked.
    by_matrix : Estimate or None
        The number by the fitted matrix.
    groups : int array of shape (n_samples,), optional
        Rows of one group count as fewer independent ones.
    graders : int array of shape (n_samples,), optional
        Who graded each row, and -1 for nobody, if rows were given out at random: the floor by graders who differ.
    """
    kept = np.arange(len(recorded))
    if verified is not None:  # rows that hold a verdict and no record are not among the labels
        kept = np.setdiff1d(kept, verified.rows[~verified.is_recorded])
        verified = verified.among(kept)
    together = None if groups is None else groups[kept]
    effect = effect_on_records(table[kept], recorded[kept], together, len(kept))
    by_lot = None
    if graders is not None:
        by_lot = fewest_by_graders(table[kept], recorded[kept], graders[kept], effect)
    found, chances = count_wrong(
        table[kept], recorded[kept], suspicion[kept], Verdicts.of(verified, recorded[kept]), confidence=confidence,
        design_effect=effect, by_lot=by_lot,
    )  # fmt: skip
    every = np.full(len(recorded), np.nan)
    every[kept] = chances
    return WrongCount(found.left, found.n_left, count=found, by_matrix=by_matrix, design_effect=effect), every


def wrong_count(
    probabilities: Floats, recorded: Ints, noise: Noise, confidence: float = 0.95, groups: Ints | None = None
) -> WrongCount:
    """Expected number of wrong labels, with an interval.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Of the true label, given the features.
    recorded : int array of shape (n_samples,)
        Recorded labels as ranks.
    noise : Noise
        The matrix, with replicates that carry its uncertainty if it was estimated.
    confidence : float, default=0.95
        Level of the interval.
    groups : int array of shape (n_samples,), optional
        Numbers from 0; rows of one group are not independent, which widens the interval.

    Notes
    -----
    Three variances are added: that of labels, each wrong with its own probability (Poisson-binomial), times the design
    effect of groups; with replicates, that of the estimated matrix, under each of which the probabilities change so
    that they predict the same recorded labels; and where noise was told from overlap by a model of both, that of an
    error of this model, which more rows do not mend. The error of the probabilities themselves is not included.
    """
    if len(recorded) == 0:
        return counted(0.0, 0.0, 0, confidence)
    wrong = _probability_wrong(probabilities, recorded, noise.matrix)
    effect = effect_on_records(probabilities @ noise.matrix, recorded, groups, len(recorded))
    variance = float((wrong * (1 - wrong)).sum()) * effect
    variance += matrix_variance(probabilities, recorded, noise)
    return counted(float(wrong.sum()), variance, len(recorded), confidence)


def counted(value: float, variance: float, n_samples: int, confidence: float) -> WrongCount:
    """The count with its normal interval, within 0 and `n_samples`."""
    error = float(np.sqrt(variance))
    return WrongCount(Estimate.normal(value, error, confidence, 0.0, n_samples), n_samples, error)


def _probability_wrong(probabilities: Floats, recorded: Ints, noise_matrix: Floats) -> Floats:
    return 1 - posterior(probabilities, recorded, noise_matrix)[np.arange(len(recorded)), recorded]


def matrix_variance(probabilities: Floats, recorded: Ints, noise: Noise) -> float:
    """Variance of the number of wrong labels as the noise may be otherwise: over the replicates, and for an error of
    the model that the noise was estimated by; infinite if fewer than two replicates allow every label.

    Relative to the number it is at least that of the rate which class shares and replicates imply: probabilities that
    are sure of every label hide how little is known about the matrix, and no learner is that sure with reason.
    """
    found, noise_matrix = np.unique(recorded), noise.matrix
    usable = [replicate for replicate in noise.replicates if (replicate[:, found] > 0).any(axis=0).all()]
    if len(usable) < 2:
        return 0.0 if len(noise.replicates) == 0 else np.inf
    wrong = _probability_wrong(probabilities, recorded, noise_matrix)
    rows = _spread_rows(wrong)
    chosen, labels = probabilities[rows], recorded[rows]
    explained = chosen @ noise_matrix
    counts = [
        _probability_wrong(deconvolved(explained, replicate, start=chosen), labels, replicate).sum()
        for replicate in usable[:MOST_REPLICATES]
    ]
    shares = probabilities.mean(axis=0)
    rate = max(1 - float(shares @ noise_matrix.diagonal()), FLOOR)
    relative = np.std([shares @ replicate.diagonal() for replicate in usable], ddof=1) / rate
    scale = len(recorded) / len(rows)
    over_replicates = max(float(np.std(counts, ddof=1)) * scale, float(relative * wrong.sum()))
    return over_replicates**2 + (_model_error(noise) * float(wrong.sum())) ** 2


def _model_error(noise: Noise) -> float:
    """Relative standard error by which the model of noise and overlap may be wrong, if there was one: 95 % of such
    errors are below `MODEL_ERROR`.
    """
    return 0.0 if noise.rate_range is None else MODEL_ERROR / normal_reach(1.0, 0.95)


def _spread_rows(wrong: Floats) -> Ints:
    """Rows that represent all: evenly spaced from the least to the most suspicious."""
    if len(wrong) <= MOST_ROWS:
        return np.arange(len(wrong))
    places = ((np.arange(MOST_ROWS) + 0.5) * len(wrong) / MOST_ROWS).astype(np.int64)
    return np.argsort(wrong, kind="stable")[places]
