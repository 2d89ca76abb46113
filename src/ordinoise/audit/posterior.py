"""The posterior of the audit: the true label given the recorded label and the features.

Arrays in, arrays out; arguments are checked by the callers in this package.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax

from ordinoise._validation import Floats, Ints
from ordinoise.audit.order import explained_by_order
from ordinoise.decisions import combined, decide
from ordinoise.labels import Verified
from ordinoise.noise import Noise
from ordinoise.noise.deconvolution import FLOOR, deconvolved

RANKINGS = ("auto", "expected_distance", "probability_wrong", "large_error")
LARGE = 2
"""Grades from which an error counts as large: the least that is not a slip to a neighbor."""
FOR_LARGE = 0.15
"""Weight of the surprise beside the distance in "large_error". Chosen on splits 100 and 101 of `studies.text`
(decision 0020)."""
LEAST = 0.01
"""Smaller probabilities count as this one in the surprise: a sure slip to a neighbor then is no large error."""
# Deconvolution steps, chosen by `studies.audit`: few before calibration, which sharpens too, more without it.
STEPS_BEFORE_CALIBRATION, STEPS_ALONE = 3, 30

CALIBRATION_FLOOR, CALIBRATION_SPREAD = 1e-3, 0.7
"""Added to probabilities before the logarithm, as those far below are arbitrary; prior standard deviation of the
calibration weights. Chosen together on the three sets of `python -m studies.audit`."""
HALF_WAY = 0.5
"""How far probabilities of the recorded label are calibrated where the noise is not believed, and the logarithm of the
odds between such a suspicion and a corrected one. What calibration finds between models that are too sure and records
is wrong in some other cases, and is fitted to the labels that are judged. Chosen on draw 0 of `studies.given`, where
the whole way lost up to .15 of average precision and gained as much elsewhere."""
MOST_CALIBRATION_STEPS = 200  # of L-BFGS; a round number, chosen by no run
MOST_CALIBRATION_ROWS = 10_000  # drawn at random where there are more; a round number, chosen by no run


@dataclass(frozen=True, eq=False)
class Posterior:
    """Probability of each true label given the features and the record, and what follows from it for the record.

    Attributes
    ----------
    probabilities : array of shape (n_samples, n_classes)
    ranks : int array of shape (n_samples,)
        Recorded labels.
    """

    probabilities: Floats
    ranks: Ints

    @cached_property
    def probability_wrong(self) -> Floats:
        """Probability that each record is wrong."""
        return np.asarray(1 - self.probabilities[np.arange(len(self.ranks)), self.ranks])

    @cached_property
    def expected_distance(self) -> Floats:
        """Expected number of grades between the recorded and the true label."""
        return np.asarray((self.probabilities * self._distances).sum(axis=1))

    @cached_property
    def distance_if_wrong(self) -> Floats:
        """Expected number of grades between the recorded and the true label of a record that is wrong."""
        return np.asarray(self.expected_distance / np.maximum(self.probability_wrong, FLOOR))

    @cached_property
    def suggested(self) -> Ints:
        """Median, as ranks: the grades with the least expected distance."""
        return decide(self.probabilities, "median")

    def suspicion(self, rank_by: str, answer: str) -> Floats:
        """What labels are ranked by, the largest first, and what decides between equal ones, shape (2, n_samples)."""
        wrong, distance = self.probability_wrong, self.expected_distance
        if rank_by == "auto":  # in doubt the distance would favor the ends of the scale, whose errors can be larger
            rank_by = "expected_distance" if answer == "corrected" else "probability_wrong"
        if rank_by == "probability_wrong":
            return np.stack([wrong, distance])
        return np.stack([self._large_error if rank_by == "large_error" else distance, wrong])

    def half_way(self, other: Posterior) -> Posterior:
        """Its chances that records are wrong half-way to those of another one, by their logits; else this posterior."""
        logits = [logit(np.clip(one.probability_wrong, FLOOR, 1 - FLOOR)) for one in (self, other)]
        wrong = expit(logits[0] + HALF_WAY * (logits[1] - logits[0]))
        table = self.probabilities * (wrong / np.maximum(self.probability_wrong, FLOOR))[:, None]
        table[np.arange(len(self.ranks)), self.ranks] = 1 - wrong
        return Posterior(table, self.ranks)

    @property
    def _large_error(self) -> Floats:
        """Expected distance, far grades counted as two, times ``exp(FOR_LARGE * surprise)``.

        The surprise is that of the record, ``-log P(recorded)``, less the surprise that any grade would have been on
        average, the entropy: a record is no more suspicious because nothing is known about its row.
        """
        logs = np.log(np.maximum(self.probabilities, LEAST))
        surprise = (self.probabilities * logs).sum(axis=1) - logs[np.arange(len(self.ranks)), self.ranks]
        distances = np.minimum(self._distances, LARGE)
        return np.asarray((self.probabilities * distances).sum(axis=1) * np.exp(FOR_LARGE * surprise))

    @property
    def _distances(self) -> Ints:
        return np.abs(np.arange(self.probabilities.shape[1]) - self.ranks[:, None])


def worst_first(suspicion: Floats, n_rows: int | None = None) -> Ints:
    """Places from the most suspicious on, `n_rows` of them at most; equal ones in their order."""
    return np.lexsort((-suspicion[1], -suspicion[0]))[:n_rows]


def is_believed(noise: Noise) -> bool:
    """Whether records are weighed by the noise; otherwise by `credit_in_doubt`."""
    return noise.answer == "corrected" or noise.source in ("trusted", "too few rows")


@dataclass(frozen=True, eq=False)
class PosteriorModel:
    """What turns class probabilities and records into posteriors: all that is learned from many rows.

    Attributes
    ----------
    noise : Noise
        With one matrix for all labels.
    calibration : array of shape (n_classes + 1, n_classes) or None
        As `calibration_weights` gives them.
    n_steps : int
        Steps of the deconvolution before it: zero, unless probabilities are of the recorded label.
    credit : array of shape (n_classes, n_classes) or None
        What records are weighed by; None for the noise matrix where it is believed, else `credit_in_doubt`.
    """

    noise: Noise
    calibration: Floats | None = None
    n_steps: int = 0
    credit: Floats | None = None

    @classmethod
    def fitted(
        cls, noise: Noise, probabilities: Floats, ranks: Ints, *, of: str = "true", calibrate: bool = True,
        verified: Verified | None = None,
    ) -> Self:  # fmt: skip
        """The model, calibrated on these rows; `of` says what label the probabilities are of.

        If the noise is not believed they are taken as they are; those of the recorded label are calibrated, but only as
        far as `reach_of` says, and a record is as suspicious as its own chance is small.
        """
        weighs, n_classes = is_believed(noise), noise.n_classes
        if of == "recorded" and calibrate and not weighs:
            likelihood = likelihood_of(ranks, np.eye(n_classes), verified)
            weights, unchanged = calibration_weights(probabilities, likelihood), np.eye(n_classes + 1, n_classes)
            reach = reach_of(weights, probabilities, ranks, likelihood)
            return cls(noise, unchanged + reach * (weights - unchanged), credit=np.ones((n_classes, n_classes)))
        model = cls(noise)
        if of == "recorded" and weighs:
            model = cls(noise, n_steps=STEPS_BEFORE_CALIBRATION if calibrate else STEPS_ALONE)
        if not calibrate or not weighs:
            return model
        weights = calibration_weights(model.true(probabilities), likelihood_of(ranks, noise.matrix, verified))
        return replace(model, calibration=weights)

    def true(self, probabilities: Floats) -> Floats:
        """Probabilities of the true label given the features."""
        if self.n_steps:
            probabilities = deconvolved(probabilities, self.noise.matrix, n_iter=self.n_steps)
        return probabilities if self.calibration is None else recalibrated(probabilities, self.calibration)

    def of(self, probabilities: Floats, ranks: Ints, verified: Verified | None = None) -> Posterior:
        """The posterior of rows with these class probabilities and records."""
        credit = self.credit
        if credit is None:
            credit = self.noise.matrix if is_believed(self.noise) else credit_in_doubt(self.noise.n_classes)
        return Posterior(posterior(self.true(probabilities), ranks, credit, verified), ranks)


def reach_of(weights: Floats, probabilities: Floats, ranks: Ints, likelihood: Floats) -> float:
    """How far a calibration by records is followed, from 0, as given, to `HALF_WAY`.

    Less with few rows, where part of its gain is chance (as by Akaike, the share of the gain that is expected of as
    many weights without any need of it), and less the more the order of the rows shows in the probabilities.
    """
    unchanged = recalibrated(probabilities, np.eye(*weights.shape))
    before, after = (
        float(np.log((table * likelihood).sum(axis=1) + FLOOR).sum())
        for table in (unchanged, recalibrated(probabilities, weights))
    )
    n_free = weights.shape[0] * (weights.shape[1] - 1)
    by_chance = min(n_free / max(2 * (after - before), FLOOR), 1.0)
    by_order = min(2 * explained_by_order(probabilities, ranks), 1.0)
    return HALF_WAY * (1 - by_chance) * (1 - by_order) ** 2


def posterior(probabilities: Floats, recorded: Ints, noise_matrix: Floats, verified: Verified | None = None) -> Floats:
    """Probability of each true class given the features and the recorded label, shape (n_samples, n_classes).

    Bayes' rule: ``P(j | x) noise_matrix[j, recorded]``, scaled to sum to one; of verified rows given the verdict too.
    """
    joint = (probabilities + FLOOR) * likelihood_of(recorded, noise_matrix, verified)
    return joint / joint.sum(axis=1, keepdims=True)


def credit_in_doubt(n_classes: int) -> Floats:
    """Weights that stand for a noise matrix where none is believed, ``[true, recorded]``.

    One on the diagonal and ``1 / sqrt(distance)`` off it: the record gets no more credit than its own chance and that
    of its neighbors, and near grades count more than far ones, since slips are mostly small. Chosen among ten
    rankings on draws 100 to 102 of the real sets of `studies.real`.
    """
    grades = np.arange(n_classes)
    return np.maximum(np.abs(grades[:, None] - grades), 1) ** -0.5


def likelihood_of(recorded: Ints, noise_matrix: Floats, verified: Verified | None = None) -> Floats:
    """Probability of each record under every true class, shape (n_samples, n_classes), up to a factor per sample.

    Of a verified row it is the probability of record and verdict together, or of the verdict alone if the noise rules
    out the record beside it.
    """
    likelihood = np.array(noise_matrix[:, recorded].T)
    if verified is not None:
        verdict = verified.likelihood
        both = verdict * likelihood[verified.rows]
        likelihood[verified.rows] = np.where(both.max(axis=1, keepdims=True) > 0, both, verdict)
    return likelihood


def calibrated(probabilities: Floats, likelihood: Floats) -> Floats:
    """Probabilities of the true label, calibrated by the likelihood of the recorded labels."""
    return recalibrated(probabilities, calibration_weights(probabilities, likelihood))


def calibration_weights(probabilities: Floats, likelihood: Floats) -> Floats:
    """The weights W of the calibration, shape (K + 1, K).

    A multinomial regression ``softmax([log P, 1] @ W)``, which maximizes ``sum_i log sum_k P_i(k) likelihood_ik`` under
    a normal prior about the identity, the W that changes nothing. It corrects over- and underconfident classifiers and
    class frequencies. With only K (K + 1) weights the calibration learns next to nothing about any one sample, so it
    may be fitted to the labels that are then judged, and at most `MOST_CALIBRATION_ROWS` of them are enough.
    """
    if len(likelihood) > MOST_CALIBRATION_ROWS:
        some = np.random.default_rng(0).choice(len(likelihood), MOST_CALIBRATION_ROWS, replace=False)
        probabilities, likelihood = probabilities[some], likelihood[some]
    n_samples, n_classes = likelihood.shape
    inputs = np.column_stack([np.log(probabilities + CALIBRATION_FLOOR), np.ones(n_samples)])
    unchanged = np.eye(n_classes + 1, n_classes)

    def loss_and_slope(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(unchanged.shape)
        true = softmax(inputs @ weights, axis=1)
        joint = (true + FLOOR) * likelihood
        total = joint.sum(axis=1, keepdims=True)
        # The slope of -log sum_k true_k likelihood_k in the logits is true - posterior, up to FLOOR.
        pull = (weights - unchanged) / CALIBRATION_SPREAD**2
        loss = -np.log(total).sum() + 0.5 * (pull * (weights - unchanged)).sum()
        return float(loss), (inputs.T @ (true - joint / total) + pull).ravel()

    fitted = minimize(
        loss_and_slope, unchanged.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": MOST_CALIBRATION_STEPS}
    )
    return np.asarray(fitted.x.reshape(unchanged.shape))


def recalibrated(probabilities: Floats, weights: Floats) -> Floats:
    """Probabilities of the true label after a calibration: ``softmax([log P, 1] @ W)``."""
    logits = combined(np.log(probabilities + CALIBRATION_FLOOR), weights[:-1]) + weights[-1]
    return np.asarray(softmax(logits, axis=1))
