"""What a fitted model remembers beside what predicts: facts about its training, and the table of its sets."""

from __future__ import annotations

import platform
from importlib.metadata import version
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import ordinoise
from ordinoise._validation import Floats, Ints, as_number, complain
from ordinoise.classifiers.saving import Arrays
from ordinoise.estimation.base import implied_prior
from ordinoise.labels import decide, ranks_of
from ordinoise.noise import SINGULAR_CONDITION
from ordinoise.scoring.metrics import METRICS, CorrectedScore, noise_corrected
from ordinoise.scoring.sets import LEVELS, SetCalibration

if TYPE_CHECKING:
    from ordinoise.classifiers.base import OrdinalClassifierBase

FACTS, SETS, THRESHOLDS = "facts", "sets", "set_thresholds"
SCORES = ("mean_absolute_error", "zero_one_loss", "accuracy_off1", "quadratic_weighted_kappa")


def training_facts(model: OrdinalClassifierBase, recorded_counts: Ints | None) -> dict[str, Any]:
    """Size of the data, the noise and the versions, as JSON can hold them."""
    counts = None if recorded_counts is None else [int(count) for count in recorded_counts]
    return {
        "n_samples": None if counts is None else sum(counts),
        "recorded_counts": counts,
        "noise": _noise_facts(model, recorded_counts),
        "scores": {},
        "versions": {
            "ordinoise": ordinoise.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scikit-learn")},
        },
    }


def recorded_counts(y: Any, classes: NDArray[Any]) -> Ints | None:
    """How often each label was recorded, of a column or tensor; None where a dataset keeps its labels to itself."""
    if y is None:
        return None
    column = y.cpu().numpy() if hasattr(y, "cpu") else y
    return np.bincount(ranks_of("y", column, classes), minlength=len(classes))


def _noise_facts(model: OrdinalClassifierBase, recorded_counts: Ints | None) -> dict[str, Any]:
    estimator, matrix = model.noise_estimator_, model.noise_matrix_
    facts: dict[str, Any] = {"source": _source(model), "rate": None, "rate_interval": None, "confidence": None}
    facts |= {"is_identifiable": None, "identifiability": None}
    if hasattr(estimator, "noise_rate_"):
        interval = np.asarray(estimator.noise_rate_interval_)
        facts["rate"] = float(estimator.noise_rate_)
        if np.isfinite(interval).all():
            facts |= {"rate_interval": interval.tolist(), "confidence": float(estimator.confidence)}
        facts |= {"is_identifiable": estimator.is_identifiable_, "identifiability": estimator.identifiability_}
    elif recorded_counts is not None:
        prior = implied_prior(matrix, np.asarray(recorded_counts) / np.sum(recorded_counts))
        facts["rate"] = float(1 - prior @ matrix.diagonal())
    return facts


def _source(model: OrdinalClassifierBase) -> str:
    """Where the noise matrix came from, in words."""
    if model.noise_estimator_ is not None:
        return f"estimated from the data by {type(model.noise_estimator_).__name__}"
    if len(model.noise_matrices_) > 1:
        return f"known, for {len(model.noise_matrices_)} raters"
    if model.noise is None or isinstance(model.noise, str):
        return "none: the labels are trusted"
    return "known"


def replicates_of(model: OrdinalClassifierBase) -> Floats | None:
    """Matrices as plausible as the estimated one; None where it is known."""
    replicates = getattr(model.noise_estimator_, "bootstrap_matrices_", None)
    return None if replicates is None or len(replicates) == 0 else np.asarray(replicates)


def corrected_scores(
    model: OrdinalClassifierBase, probabilities: Floats, recorded: Ints, weights: Floats
) -> dict[str, dict[str, float]]:
    """Scores on clean labels from rows that the models did not see, as JSON can hold them."""
    predicted, matrix = decide(probabilities, model.decision), model.noise_matrix_
    scores = {name: noise_corrected(name, recorded, predicted, matrix, sample_weight=weights) for name in SCORES}
    joint = np.zeros(matrix.shape)
    np.add.at(joint, (recorded, predicted), weights / weights.sum())
    inverses = _inverses(replicates_of(model))
    return {
        name: _widened(score, [METRICS[name].of_joint(inverse.T @ joint) for inverse in inverses])
        for name, score in scores.items()
    }


def _inverses(replicates: Floats | None) -> Floats:
    if replicates is None:
        return np.empty((0, 1, 1))
    return np.asarray(np.linalg.inv(replicates[np.linalg.cond(replicates) < SINGULAR_CONDITION]))


def _widened(score: CorrectedScore, replicated: list[float]) -> dict[str, float]:
    """The score in plain numbers, the spread of `replicated` added to its interval."""
    variance = float(np.var(replicated, ddof=1)) if len(replicated) > 1 else 0.0
    reach = NormalDist().inv_cdf((1 + score.confidence) / 2) * float(np.sqrt(score.standard_error**2 + variance))
    numbers = {
        "value": score.value, "low": score.value - reach, "high": score.value + reach, "observed": score.observed,
        "confidence": score.confidence,
    }  # fmt: skip
    return {name: number for name, number in numbers.items() if np.isfinite(number)}


def with_facts(model: OrdinalClassifierBase, settings: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """A model's state with its facts and the table of its sets, where it has them."""
    facts, sets = getattr(model, "training_facts_", None), getattr(model, "set_calibration_", None)
    if facts is not None:
        settings = settings | {FACTS: facts}
    if sets is not None:
        settings, arrays = settings | {SETS: {"n_samples": sets.n_samples}}, arrays | {THRESHOLDS: sets.thresholds}
    return settings, arrays


def taken_apart(
    settings: dict[str, Any], arrays: Arrays
) -> tuple[Arrays, dict[str, Any] | None, SetCalibration | None]:
    """The arrays that the learner knows, the facts, and the table of the sets; None where a folder has none."""
    arrays, facts = dict(arrays), settings.get(FACTS)
    thresholds = arrays.pop(THRESHOLDS, None)
    if facts is not None and not isinstance(facts, dict):
        raise complain("facts", "be a mapping", type(facts).__name__)
    if SETS not in settings or thresholds is None:
        return arrays, facts, None
    if thresholds.shape != (LEVELS,) or not (np.diff(thresholds) >= 0).all() or not 0 <= thresholds[0] <= 1:
        raise complain(f"array {THRESHOLDS}", f"hold {LEVELS} numbers that never fall", f"shape {thresholds.shape}")
    as_number("the highest threshold", float(thresholds[-1]), 0.0, 1.0)
    return arrays, facts, SetCalibration(thresholds, int(settings[SETS]["n_samples"]))
