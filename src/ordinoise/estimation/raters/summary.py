"""What a fit says of the raters: intervals, one summary per rater, replicates of the matrix, doubts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ordinoise._validation import Floats, Ints
from ordinoise.estimate import Estimate, normal_reach
from ordinoise.estimation.raters.average import Average
from ordinoise.estimation.raters.matrices import UNTRIED_SHRINKAGE, Stop, fit_matrices
from ordinoise.estimation.raters.members import member_matrices
from ordinoise.estimation.raters.perception import (
    FIRST_GUESSING,
    GRID,
    GUESSING_STRENGTH,
    LONE_PRECISION,
    Perception,
    PerceptionFit,
    cell_slopes,
    fit_perception,
)
from ordinoise.estimation.raters.ratings import LEAST, Known, Ratings, Votes, voices
from ordinoise.noise import Doubt

RESAMPLE = Stop(max_iter=15, tol=1e-3)
"""A refit starts from the fit of all items, so few steps suffice (held by a test)."""
FEW_LABELS = 20
"""With fewer labels of a true class its row has standard errors above .1."""
UNKNOWN, RELEVANT, GUESSES = 0.5, 0.1, 0.5
"""A share, or a difference in grades, whose interval is wider is unknown; a difference below so many grades is none
that matters; who is said to guess has an interval above the last. Round numbers, chosen by no run."""
CARELESS = "careless: the others' grades of the same items foretell next to nothing of these"
SHARED_BIAS = Doubt(
    "shared-bias",
    "a bias that all raters share leaves no trace in their disagreement: the scale is what the typical rater means by "
    "it, and only verified grades can show more",
)


@dataclass(frozen=True)
class RaterSummary:
    """How one rater grades, compared with the others on the same items.

    Attributes
    ----------
    rater : object
        Name of the rater; None if the ratings carry no names.
    n_grades : int
        Number of grades given.
    severity : Estimate
        How many grades lower than the others (than the scale of the verified grades, if there are any) this one grades
        the same items, on average.
    centrality : Estimate
        How much further apart the rater's cuts are: .2 is one fifth wider, so the middle grades are used more.
    consistency : Estimate
        Share of the variance in the rater's perception that is due to the item, from 0 to 1.
    guessing : Estimate
        Chance that a grade ignores the item.
    is_careless : bool
        Whether the grades demonstrably ignore the items: other ratings predict them no better than the rater's own
        habits do, or the whole interval of `guessing` lies above one half.
    """

    rater: Any
    n_grades: int
    severity: Estimate
    centrality: Estimate
    consistency: Estimate
    guessing: Estimate
    is_careless: bool = False

    @property
    def sentence(self) -> str:
        """The summary in words, carelessness alone if it is clear; a tendency only where it matters."""
        name = "The typical rater" if self.rater is None else f"Rater {self.rater}"
        guesses = f"guesses {self.guessing.value:.0%} of the time ({self.guessing.span('.0%')})"
        if not is_known(self.guessing):
            guesses = "how often the rater guesses is unknown"
        width = self.centrality
        spread = "keeps to the middle" if width.low > 0 else "prefers the ends" if width.high < 0 else ""
        consistency = f"consistency {known_words(self.consistency, '.2f')}"
        if self.is_careless:
            return f"{name} ({self.n_grades} grades): {CARELESS}{f'; {guesses}' * is_known(self.guessing)}."
        parts = [height_words(self.severity) if self.rater is not None else "", spread, consistency, guesses]
        return f"{name} ({self.n_grades} grades): {'; '.join(part for part in parts if part)}."


def is_known(share: Estimate) -> bool:
    """Whether an interval of a share is narrow enough to say anything."""
    return share.high - share.low <= UNKNOWN


def known_words(share: Estimate, form: str) -> str:
    """A share with its interval, or that it is unknown."""
    return share.words(form) if is_known(share) else "unknown"


def is_relevant(severity: Estimate) -> bool:
    """Whether a rater clearly grades higher or lower than the others, by a difference that matters."""
    return severity.excludes(0.0) and abs(severity.value) >= RELEVANT


def height_words(severity: Estimate) -> str:
    """By how much a rater grades higher or lower than the others."""
    higher = severity.times(-1)
    if is_relevant(severity):
        size, way = (higher, "higher") if higher.value > 0 else (severity, "lower")
        return f"grades {size.value:.2f} {way} than the others on the same items ({size.span()})"
    if higher.half_width > UNKNOWN / 2:
        return "whether the rater grades higher or lower than the others is unknown"
    return f"grades as high as the others on the same items (difference {higher.span('+.2f')})"


def rater_summaries(
    fit: PerceptionFit[Perception],
    ratings: Ratings,
    names: NDArray[Any] | None,
    confidence: float,
    guessers: NDArray[np.bool_],
) -> tuple[RaterSummary, ...]:
    """One summary per rater, with intervals of this level."""
    reach = normal_reach(1.0, min(confidence, 1 - 1e-9))
    model, spread = fit.parameters, rater_covariances(fit, ratings)
    n_grades = np.bincount(ratings.raters, minlength=model.n_raters)
    off, centered = model.rater_cuts - fit.scale_cuts, fit.scale_cuts - fit.scale_cuts.mean()
    slope = np.tile(centered / max(float(centered @ centered), LEAST), (model.n_raters, 1))
    severity, centrality = (_linear(each, off, spread, reach) for each in (_crossings(model), slope))
    others = _of_the_others(severity[0], fit, n_grades)
    severity = [each - others for each in severity]
    log_sigma, error = np.log(model.sigmas), reach * np.sqrt(spread[:, -2, -2])
    consistency = [1 / (1 + np.exp(2 * (log_sigma + sign * error))) for sign in (0, 1, -1)]
    guessing = [expit(logit(model.guessing) + sign * reach * np.sqrt(spread[:, -1, -1])) for sign in (0, -1, 1)]
    habits = [Estimate.each(parts, confidence) for parts in (severity, centrality, consistency, guessing)]
    labels = [None] * model.n_raters if names is None else names.tolist()
    careless = (guessers | (guessing[1] > GUESSES)).tolist()
    return tuple(RaterSummary(*parts) for parts in zip(labels, n_grades.tolist(), *habits, careless, strict=True))


def _of_the_others(severity: Floats, fit: PerceptionFit[Perception], n_grades: Ints) -> Floats:
    """Weighted median of the others' severity, for each rater: one of them who is far off does not move it.

    Zero, which is the scale, for a single rater and where verified grades set the scale.
    """
    model = fit.parameters
    if model.n_raters == 1 or fit.trusted.is_trusted.any():
        return np.zeros(model.n_raters)
    weights = voices(n_grades.astype(np.float64), model.table, model.weights)
    order = np.argsort(severity)
    ordered, others = severity[order], np.where(np.eye(len(order), dtype=bool), 0.0, weights[order][None, :])
    below = others.cumsum(axis=1) / others.sum(axis=1, keepdims=True)
    ends = [(below >= 0.5 - LEAST).argmax(axis=1), (below > 0.5 + LEAST).argmax(axis=1)]
    found = np.empty(len(order))
    found[order] = (ordered[ends[0]] + ordered[ends[1]]) / 2
    return found


def _crossings(model: Perception) -> Floats:
    """How many grades lower a rater grades per unit of each cut: density of perceived scores there, (n_raters, K-1)."""
    sigmas = model.sigmas[:, None, None]
    density = np.exp(-(((model.rater_cuts[:, :, None] - GRID) / sigmas) ** 2) / 2) / (sigmas * np.sqrt(2 * np.pi))
    return np.asarray((1 - model.guessing)[:, None] * (density @ model.weights))


def _linear(contrast: Floats, values: Floats, spread: Floats, reach: float) -> list[Floats]:
    """Value and interval of a combination of each rater's cuts."""
    n_cuts = values.shape[1]
    error = np.sqrt(np.einsum("ri,rij,rj->r", contrast, spread[:, :n_cuts, :n_cuts], contrast))
    value = (contrast * values).sum(axis=1)
    return [value, value - reach * error, value + reach * error]


def rater_covariances(fit: PerceptionFit[Perception], ratings: Ratings) -> Floats:
    """Posterior covariance of each rater's cuts, log sigma and logit of guessing, (n_raters, K + 1, K + 1).

    The inverse of the prior precision plus the sum of outer products of the scores of single ratings. The score of a
    rating is the expectation of ``d log table[r, k, z]`` over the item's posterior (Louis, 1982), so that what the
    unknown score of the item takes away is accounted for.
    """
    model = fit.parameters
    table = model.table
    distance, attentive = model.attentive()
    looking = (1 - model.guessing)[:, None, None]
    slopes = np.concatenate(
        [
            cell_slopes(distance, model.sigmas) * looking[:, None],
            (model.guessing[:, None, None] * looking * (model.usage[:, :, None] - attentive))[:, None],
        ],
        axis=1,
    )
    states = fit.states[ratings.items]
    scores = np.stack(
        [
            np.einsum("nq,nq->n", states, (slopes[:, each] / table)[ratings.raters, ratings.grades])
            for each in range(slopes.shape[1])
        ],
        axis=1,
    )
    information = np.zeros((model.n_raters, scores.shape[1], scores.shape[1]))
    np.add.at(information, ratings.raters, scores[:, :, None] * scores[:, None, :])
    return np.asarray(np.linalg.inv(information + _prior_precision(model)))


def _prior_precision(model: Perception) -> Floats:
    n_params = model.deviations.shape[1] + 1
    precision = 1e-6 * np.eye(n_params)
    if model.n_raters > 1:
        precision[:-1, :-1] = np.linalg.inv(model.covariance)
    else:
        precision[-2, -2] = LONE_PRECISION
    center = FIRST_GUESSING if model.n_raters == 1 else model.guessing.mean()
    precision[-1, -1] = GUESSING_STRENGTH * center * (1 - center)
    return precision


def average_matrix(matrices: Floats, counts: Floats) -> Floats:
    """Matrix of a grade drawn from all: in each row raters are weighted by their expected grades, (n_raters, K)."""
    weights = counts[:, :, None] + LEAST
    return np.asarray((weights * matrices).sum(axis=0) / weights.sum(axis=0))


def bootstrap(
    votes: Votes, known: Known, average: Average, n_bootstrap: int, rng: np.random.Generator, every: Votes
) -> tuple[Floats, Floats]:
    """Average matrix and noise rate in `n_bootstrap` resamples of the items, of all raters in `every`.

    A resample refits one model, the matrices with free entries or, without them, perception; what it moves is added to
    the average of the families.
    """
    n_items, n_classes = average.posterior.shape
    counts = every.counts(average.posterior).sum(axis=1)
    strength = average.shrinkage if np.isfinite(average.shrinkage) else UNTRIED_SHRINKAGE
    is_whole = every.shape == votes.shape
    whole = average.matrices if is_whole else member_matrices(every, average.posterior, strength)
    center, base = average_matrix(whole, counts), None
    matrices, rates = np.empty((n_bootstrap, n_classes, n_classes)), np.empty(n_bootstrap)
    for resample in range(-1, n_bootstrap):
        drawn = rng.integers(n_items, size=n_items) if resample >= 0 else np.arange(n_items)
        weight = np.bincount(drawn, minlength=n_items).astype(float)
        again, posterior = _refitted(votes, Known(known.trusted, weight, known.prior), average)
        weighted = weight[:, None] * posterior
        again = again if is_whole else member_matrices(every, weighted, strength)
        refit = average_matrix(again, every.counts(weighted).sum(axis=1))
        if base is None:  # the first is no resample: what it gives is where the others move from
            base = refit
            continue
        moved = np.maximum(center + refit - base, 0)
        matrices[resample] = moved / moved.sum(axis=1, keepdims=True)
        rates[resample] = 1 - (weight @ average.posterior / n_items) @ np.diag(matrices[resample])
    return matrices, rates


def _refitted(votes: Votes, known: Known, average: Average) -> tuple[Floats, Floats]:
    if average.matrix_fits:
        entries = average.matrix_fits[-1]
        fit = fit_matrices(votes, known, entries.structure, RESAMPLE, start=entries)
        return fit.matrices, fit.posterior
    found = fit_perception(votes, known, RESAMPLE, average.perception.parameters)
    return found.matrices, found.posterior


def chance_log_likelihood(ratings: Ratings) -> float:
    """Log-likelihood of all ratings if every rater drew grades from the rater's own frequencies."""
    table = Votes.of(ratings).usage()
    share = table / np.maximum(table.sum(axis=1, keepdims=True), LEAST)
    return float((table * np.log(np.where(table > 0, share, 1.0))).sum())


def doubts(average: Average, voices: Ratings, ratings: Ratings, classes: NDArray[Any], n_trusted: int) -> list[Doubt]:
    """Reasons why the ratings do not identify the matrices; the last is that of a bias that all may share.

    Raters who count as one are a single one of the `voices`.
    """
    per_item = np.bincount(voices.items)
    found: list[Doubt] = []
    if per_item.max() == 1:
        found.append(Doubt("no-repeats", "no item has two ratings, so agreement of raters cannot be observed"))
    elif (per_item >= 3).mean() < 0.1:
        share = f"{(per_item >= 3).mean():.0%}"
        found.append(Doubt("few-triples", f"only {share} of the items have three ratings, which the matrices need"))
    labels: Floats = np.bincount(ratings.items, minlength=len(average.posterior)) @ average.posterior
    if labels.min() < FEW_LABELS:
        scarce = classes[int(labels.argmin())]
        few = f"about {labels.min():.0f} labels fall on the true grade {scarce}, too few for its row"
        found.append(Doubt("scarce-class", few))
    counts = Votes.of(ratings).counts(average.posterior).sum(axis=1)
    likeliest: Ints = average_matrix(average.matrices, counts).argmax(axis=1)
    strange = [str(name) for name in classes[likeliest != np.arange(len(classes))]]
    if strange and not n_trusted:
        moved = f"items of the true grade {' or '.join(strange)} mostly have another label"
        found.append(Doubt("shifted-class", f"{moved}, so it may not be the grade meant"))
    return found if n_trusted else [*found, SHARED_BIAS]
