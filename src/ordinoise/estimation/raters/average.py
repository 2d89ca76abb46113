"""The families of raters, fitted and averaged by the likelihood of hidden ratings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.estimation.raters.matrices import MatrixFit, Stop, fit_matrices, likeliest_shrinkage, structures
from ordinoise.estimation.raters.perception import Perception, PerceptionFit, clamped, fit_perception
from ordinoise.estimation.raters.ratings import LEAST, Known, Ratings, Votes, hiding_folds, log_sums_and_shares
from ordinoise.estimation.raters.types import Types

FAMILIES = ("matrices", "perception", "types")
N_FOLDS, MANY_RATINGS = 5, 30_000
"""Each of five trials hides one fold of the ratings (a convention); from so many ratings on, a single trial is enough.
On web search (15,567 ratings) one trial leaves the families within one standard error of each other."""
TRIAL_STEPS = 60
"""Most steps of a fit in a trial, for speed."""
N_DRAWS = 200
"""Bayesian bootstrap draws for the weights; their mean then has a standard error of at most .035."""
FEWEST_HIDDEN, GUESSERS_GAIN = 20, 0.1
"""Hidden grades that it takes to show that a rater guesses, and the share of everybody's mean gain that such a rater
stays below. Round numbers, chosen by no run."""
POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Powers of a prior from features that are tried by hidden ratings; 0 ignores it."""
CONFIRMED = 2.0
"""Standard errors by which hidden ratings must be likelier with the features. A convention."""
FEWEST_HELD_OUT = 10
"""Verified items below which none is held out to weigh the families and to calibrate."""
TEMPERATURES = np.exp(np.linspace(-1.5, 1.5, 31))
TEMPERATURE_SPREAD = 0.5
"""Prior standard deviation of the log-temperature: few verified items move it little. Chosen by no run."""


Fit = MatrixFit | PerceptionFit[Any]


@dataclass(frozen=True, eq=False)
class Average:
    """All families, their weights, and what follows from the average.

    Attributes
    ----------
    posterior : array of shape (n_items, n_classes)
    matrices : array of shape (n_raters, n_classes, n_classes)
        ``[rater, true, recorded]``.
    weights : dict
        Weight of each family: its share of the likelihood of the hidden ratings.
    matrix_fits : tuple of MatrixFit
        One per structure; empty if the family was not fitted.
    perception : PerceptionFit
        Always fitted, as it describes the raters.
    types : PerceptionFit of Types, or None
        None if the family was not fitted.
    shrinkage, temperature : float
    guessers : bool array of shape (n_raters,)
        Raters who demonstrably guess.
    trials : tuple of Trial
        The fits that the weights come from.
    """

    posterior: Floats
    matrices: Floats
    weights: dict[str, float]
    matrix_fits: tuple[MatrixFit, ...]
    perception: PerceptionFit[Perception]
    shrinkage: float
    guessers: NDArray[np.bool_]
    types: PerceptionFit[Types] | None = None
    temperature: float = 1.0
    trials: tuple[Trial, ...] = ()

    @property
    def fits(self) -> dict[str, tuple[Fit, ...]]:
        """The fits of each family that has a weight or may get one."""
        types = () if self.types is None else (self.types,)
        return {"matrices": self.matrix_fits, "perception": (self.perception,), "types": types}

    @property
    def lead(self) -> Fit:
        """A fit of the likeliest family."""
        return self.fits[max(FAMILIES, key=lambda family: self.weights[family])][0]


def fit_average(
    ratings: Ratings,
    known: Known,
    families: tuple[str, ...],
    shrinkage: float | None,
    stop: Stop,
    rng: np.random.Generator,
    tick: Callable[[], None],
) -> Average:
    """Fit the families without the hidden ratings, weigh them by those, then fit them to all ratings.

    A `shrinkage` of None is chosen by the hidden ratings of the first trial.
    """
    trials, shrinkage = [], shrinkage if "matrices" in families else np.inf
    fold = hiding_folds(ratings.items, N_FOLDS, rng)
    for hidden in range(N_FOLDS if len(ratings.items) < MANY_RATINGS else 1):
        trials.append(_trial(ratings, fold == hidden, known, families, shrinkage, stop, rng, tick))
        shrinkage = trials[0].average.shrinkage
    weights = _weights(trials, families, rng)
    votes = Votes.of(ratings)
    # Not from a trial's parameters, which depend on what it hid: the fit would stop before it has forgotten them.
    whole = _fit(votes, known, families, trials[0].average.shrinkage, stop, None, tick)
    guessers, temperature = _guessers(trials, weights, votes.own_usage()), _temperature(trials, weights)
    found = {"weights": weights, "guessers": guessers, "temperature": temperature, "trials": tuple(trials)}
    return _mixture(replace(whole, **found), known)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Trial:
    """Fits that have not seen some ratings and verified grades.

    Attributes
    ----------
    probabilities : array of shape (n_unseen, n_families)
        Probability of each unseen rating under each family.
    held_out : int array of shape (n_items,)
        Verified grades that were held out, or -1.
    log_scores : array of shape (n_items, n_families)
        Log-probability of all that was not seen of an item.
    """

    average: Average
    seen: Ratings
    unseen: Ratings
    probabilities: Floats
    held_out: Ints
    log_scores: Floats


def _trial(
    ratings: Ratings,
    hidden: NDArray[np.bool_],
    known: Known,
    families: tuple[str, ...],
    shrinkage: float | None,
    stop: Stop,
    rng: np.random.Generator,
    tick: Callable[[], None],
) -> Trial:
    seen, unseen = ratings.where(~hidden), ratings.where(hidden)
    votes = Votes.of(seen)
    kept, held_out = _held_out(known, rng)
    quick = replace(stop, max_iter=min(stop.max_iter, TRIAL_STEPS))
    strength = likeliest_shrinkage(votes, kept, unseen, quick) if shrinkage is None else shrinkage
    average = _fit(votes, kept, families, strength, quick, None, tick)
    probabilities = np.ones((len(unseen.items), len(FAMILIES)))
    log_scores, verified = np.zeros((len(held_out), len(FAMILIES))), np.flatnonzero(held_out >= 0)
    for family, name in enumerate(FAMILIES):
        if fits := average.fits[name]:
            probabilities[:, family] = np.mean([fit.probability(unseen) for fit in fits], axis=0)
            posterior = np.mean([fit.posterior for fit in fits], axis=0)
            log_scores[verified, family] = np.log(np.maximum(posterior[verified, held_out[verified]], LEAST))
    np.add.at(log_scores, unseen.items, np.log(np.maximum(probabilities, LEAST)))
    return Trial(average, seen, unseen, probabilities, held_out, log_scores)


def _guessers(trials: list[Trial], weights: dict[str, float], usage: Floats) -> NDArray[np.bool_]:
    """Raters whose hidden grades the other ratings predict no better than the rater's own habits do.

    The gain of a hidden grade is ``log P(grade | other ratings) - log usage``: the information that others share with
    it. A rater demonstrably guesses if the upper end of the mean gain's interval is below a tenth of everybody's.
    """
    raters = np.concatenate([trial.unseen.raters for trial in trials])
    grades = np.concatenate([trial.unseen.grades for trial in trials])
    predicted = np.concatenate([trial.probabilities for trial in trials]) @ [weights[family] for family in FAMILIES]
    gain = np.log(np.maximum(predicted, LEAST) / usage[raters, grades])
    number = np.bincount(raters, minlength=len(usage))
    mean = np.bincount(raters, gain, minlength=len(usage)) / np.maximum(number, 1)
    square = np.bincount(raters, (gain - mean[raters]) ** 2, minlength=len(usage))
    upper = mean + 2 * np.sqrt(square) / np.maximum(number, 1)
    typical = gain.mean() if len(gain) else 0.0
    return (number >= FEWEST_HIDDEN) & (upper < GUESSERS_GAIN * typical) & (len(usage) > 1)


def _weights(trials: list[Trial], families: tuple[str, ...], rng: np.random.Generator) -> dict[str, float]:
    """Mean share of each family in the likelihood of what was hidden, over a Bayesian bootstrap of the items.

    The bootstrap keeps a difference within its sampling error from deciding alone (pseudo-BMA+, Yao et al., 2018).
    """
    if len(families) == 1:
        return {family: float(family in families) for family in FAMILIES}
    scores = np.sum([trial.log_scores for trial in trials], axis=0)
    scores = scores[scores.any(axis=1)]
    if not len(scores):
        return {family: float(family in families) / len(families) for family in FAMILIES}
    totals = rng.exponential(size=(N_DRAWS, len(scores))) @ scores
    totals[:, [family not in families for family in FAMILIES]] = -np.inf
    return dict(zip(FAMILIES, log_sums_and_shares(totals)[1].mean(axis=0).tolist(), strict=True))


def refit(average: Average, votes: Votes, known: Known, families: tuple[str, ...], stop: Stop) -> Average:
    """The average fitted again with other knowledge of the items, such as a prior from features; its weights stay."""
    again = _fit(votes, known, families, average.shrinkage, stop, average, lambda: None)
    kept = {name: getattr(average, name) for name in ("weights", "guessers", "temperature", "trials")}
    return _mixture(replace(again, **kept), known)


def with_prior(posterior: Floats, prior: Floats) -> Floats:
    """The posterior of items under class shares, as it is under a prior of each item's own."""
    moved = posterior * prior / np.maximum(prior.mean(axis=0), LEAST) + LEAST
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def tilted(prior: Floats, power: float) -> Floats:
    """The prior with only a part of what it says beyond the shares of all: ``shares (prior / shares)^power``."""
    shares = prior.mean(axis=0)
    moved = shares * (np.maximum(prior, LEAST) / np.maximum(shares, LEAST)) ** power
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def believed_prior(average: Average, priors: Sequence[Floats]) -> Floats | None:
    """As much of the best prior from features as the hidden ratings speak for; None if they do not.

    An item's prior comes from learners that saw none of its ratings, so the hidden ones are new to it.
    """
    scores = [
        np.concatenate([_log_scores_under(trial, average.weights, prior) for trial in average.trials])
        for prior in priors
    ]
    which = int(np.argmax([of_prior.sum(axis=0).max() for of_prior in scores]))
    best = int(scores[which].sum(axis=0).argmax())
    more = scores[which][:, best] - scores[which][:, 0]
    confirmed = more.sum() > CONFIRMED * np.sqrt((more**2).sum())
    return tilted(priors[which], POWERS[best]) if confirmed else None


def _log_scores_under(trial: Trial, weights: dict[str, float], prior: Floats) -> Floats:
    """Log-probability of each unseen rating under the prior to each of the `POWERS`."""
    mixed = _mixture(replace(trial.average, weights=weights), Known.nothing(len(prior)))
    seen = mixed.matrices[trial.unseen.raters, :, trial.unseen.grades]
    posteriors = (with_prior(mixed.posterior, tilted(prior, power))[trial.unseen.items] for power in POWERS)
    return np.stack([np.log(np.maximum((each * seen).sum(axis=1), LEAST)) for each in posteriors], axis=1)


def _held_out(known: Known, rng: np.random.Generator) -> tuple[Known, Ints]:
    """What is known without a random half of the verified grades, and that half; -1 elsewhere."""
    verified = np.flatnonzero(known.is_trusted)
    held_out = np.full(len(known.trusted), -1)
    if len(verified) < 2 * FEWEST_HELD_OUT:
        return known, held_out
    half = rng.permutation(verified)[: len(verified) // 2]
    held_out[half] = known.trusted[half]
    return replace(known, trusted=np.where(held_out >= 0, -1, known.trusted)), held_out


def _fit(
    votes: Votes,
    known: Known,
    families: tuple[str, ...],
    shrinkage: float,
    stop: Stop,
    begin: Average | None,
    tick: Callable[[], None],
) -> Average:
    first = Perception.of(votes) if begin is None else begin.perception.parameters
    perception, types = fit_perception(votes, known, stop, first, tick), None
    if "types" in families:
        before = Types.of(votes) if begin is None or begin.types is None else begin.types.parameters
        types = fit_perception(votes, known, stop, before, tick)
    fits: tuple[MatrixFit, ...] = ()
    if "matrices" in families:
        fits = tuple(fit_matrices(votes, known, each, stop, tick=tick) for each in structures(votes, shrinkage))
    even = dict.fromkeys(FAMILIES, 1 / len(FAMILIES))
    nobody = np.zeros(votes.shape[1], dtype=bool)
    return Average(perception.posterior, perception.matrices, even, fits, perception, shrinkage, nobody, types)


def _log_score(probabilities: Floats) -> float:
    return float(np.log(np.maximum(probabilities, LEAST)).sum())


def _mixed(average: Average) -> Floats:
    """Weighted average of the posteriors."""
    return _weighted(average, lambda fit: fit.posterior)


def _weighted(average: Average, part: Callable[[Fit], Floats]) -> Floats:
    """A part of the fits, averaged within each family and then over the families by their weights."""
    means = [
        average.weights[name] * np.mean([part(one) for one in fits], axis=0)
        for name, fits in average.fits.items()
        if fits
    ]
    return np.asarray(np.sum(means, axis=0))


def _mixture(average: Average, known: Known) -> Average:
    """The average with the weighted posterior, calibrated, and the weighted matrices."""
    posterior = clamped(tempered(_mixed(average), average.temperature), known)
    matrices = _weighted(average, lambda fit: fit.matrices)
    return replace(average, posterior=posterior, matrices=matrices / matrices.sum(axis=2, keepdims=True))


def tempered(posterior: Floats, temperature: float) -> Floats:
    """The posterior to the power of one over the temperature, normalized."""
    if temperature == 1:
        return posterior
    return log_sums_and_shares(np.log(np.maximum(posterior, LEAST)) / temperature)[1]


def _temperature(trials: list[Trial], weights: dict[str, float]) -> float:
    """The temperature under which the held-out verified grades are most likely, with a normal prior of its log."""
    scores = -(np.log(TEMPERATURES) ** 2) / (2 * TEMPERATURE_SPREAD**2)
    for trial in trials:
        verified = np.flatnonzero(trial.held_out >= 0)
        posterior = _mixed(replace(trial.average, weights=weights))[verified]
        grades = (np.arange(len(verified)), trial.held_out[verified])
        scores = scores + [_log_score(tempered(posterior, one)[grades]) / len(trials) for one in TEMPERATURES]
    return float(TEMPERATURES[int(np.argmax(scores))])
