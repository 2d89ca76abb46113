"""The model card: kind of model, training data, noise and scores, in words and as JSON."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import ordinoise
from ordinoise._validation import Ints
from ordinoise.estimate import Estimate
from ordinoise.labels import ranks_of
from ordinoise.noise import Noise
from ordinoise.scoring.evaluation import Evaluation
from ordinoise.scoring.metrics import TITLES

if TYPE_CHECKING:
    from ordinoise.classifiers.base import OrdinalClassifierBase

SCORES = ("mean_absolute_error", "zero_one_loss", "accuracy_off1_score", "quadratic_weighted_kappa")
"""Metrics on the card."""
MOST_NAMES = 12  # column names that a card lists; chosen by no run
SCORED_ROWS = 20_000
"""Rows of a table in parts that scores and prediction sets come from, evenly spaced: each of 500 replicates of the
noise is a pass over them. A round number, chosen by no run."""


@dataclass(frozen=True, eq=False)
class ModelCard:
    """Everything known about a fitted model; printing it gives plain text.

    Attributes
    ----------
    kind : str
        Name of the model's class.
    n_samples, n_features : int or None
        Rows and columns of the training data; None if not counted.
    feature_names : list of str or None
        Names of the columns, if they had any.
    classes : list
        Grades, lowest first.
    recorded_counts : list of int or None
        How often each grade was recorded.
    noise : Noise
        The noise that the model corrects for.
    settings : dict
        Parameters of the model, by name.
    changed_settings : list of str
        Names of those that differ from the default.
    learners : dict of str to float
        Weight of each learner in a blend; empty for a single one.
    scores : dict
        Per metric: `value` on clean labels, estimated from the recorded labels of held-out rows, with `low` and `high`,
        and the `observed` value; empty if no rows were held out.
    n_calibration : int or None
        Number of recorded labels that the prediction sets were calibrated on.
    versions : dict of str to str
        Versions of the libraries it was fitted with.
    """

    kind: str
    n_samples: int | None
    n_features: int | None
    feature_names: list[str] | None
    classes: list[Any]
    recorded_counts: list[int] | None
    noise: Noise
    settings: dict[str, Any]
    changed_settings: list[str]
    learners: dict[str, float]
    scores: dict[str, dict[str, float]]
    n_calibration: int | None
    versions: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain lists, numbers and text, ready for JSON."""
        return {name: _plain(value) for name, value in vars(self).items()} | {
            "noise": self.noise.to_dict(replicates=False)
        }

    def __str__(self) -> str:
        parts = (self._data(), self._noise(), self._learners(), self._scores(), self._sets(), self._settings())
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return "\n".join([self.kind, "", *(f"{part}" for part in parts if part), f"Versions: {versions or 'unknown'}."])

    def _data(self) -> str:
        rows = "an unknown number of rows" if self.n_samples is None else f"{self.n_samples} rows"
        columns = "" if self.n_features is None else f" of {self.n_features} columns"
        names = "" if self.feature_names is None else f" ({_listed(self.feature_names)})"
        grades = [str(grade) for grade in self.classes]
        if self.recorded_counts is not None:
            grades = [f"{grade} ({n} times)" for grade, n in zip(grades, self.recorded_counts, strict=True)]
        return f"Data: {rows}{columns}{names}. Grades as recorded, lowest first: {', '.join(grades)}."

    def _noise(self) -> str:
        lines = [f"Label noise: {self.noise.words}."]
        if self.noise.is_in_doubt:
            lines.append(f"In doubt: {self.noise.doubt_text}.")
        return " ".join(lines) + f"\n{self._matrix()}"

    def _matrix(self) -> str:
        """The matrix, one row per true grade."""
        names = [str(grade) for grade in self.classes]
        width = max(6, *(len(name) for name in names))
        rows = self.noise.matrix
        lines = [f"  {'true':>{width}}  recorded as " + " ".join(f"{name:>{width}}" for name in names)]
        lines += [
            f"  {name:>{width}}              " + " ".join(f"{entry:>{width}.3f}" for entry in row)
            for name, row in zip(names, rows, strict=True)
        ]
        return "\n".join(lines)

    def _learners(self) -> str:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.learners.items() if share > 0)
        return f"Made of: {shares}." if shares else ""

    def _scores(self) -> str:
        if not self.scores:
            return "Scores: none; no rows were held out."
        lines = ["Scores on clean labels, estimated from recorded labels of held-out rows:"]
        for metric, score in self.scores.items():
            clean = Estimate(*(score.get(part, np.nan) for part in ("value", "low", "high")))
            observed = f"; {score['observed']:.3f} as recorded" if "observed" in score else ""
            lines.append(f"  {TITLES.get(metric, metric)}: {clean:.3f}{observed}")
        return "\n".join(lines)

    def _sets(self) -> str:
        if self.n_calibration is None:
            return "Prediction sets: not calibrated."
        return f"Prediction sets: calibrated on {self.n_calibration} recorded labels."

    def _settings(self) -> str:
        changed = ", ".join(f"{name}={_short(self.settings[name])}" for name in self.changed_settings)
        return f"Settings: {changed or 'all default'}."


def model_card(model: OrdinalClassifierBase) -> ModelCard:
    """The card of a fitted model."""
    facts = getattr(model, "training_facts_", {})
    sets = getattr(model, "set_calibration_", None)
    settings = model.get_params(deep=False)
    names = getattr(model, "feature_names_in_", None)
    return ModelCard(
        kind=type(model).__name__,
        n_samples=facts.get("n_samples"),
        n_features=getattr(model, "n_features_in_", None),
        feature_names=None if names is None else [str(name) for name in names],
        classes=model.classes_.tolist(),
        recorded_counts=facts.get("recorded_counts"),
        noise=model.noise_,
        settings={name: _plain(value) for name, value in settings.items()},
        changed_settings=_changed(model, settings),
        learners=dict(getattr(model, "weights_", {})),
        scores=dict(facts.get("scores", {})),
        n_calibration=None if sets is None else sets.n_samples,
        versions=dict(facts.get("versions", {})),
    )


def training_facts(recorded_counts: Ints | None) -> dict[str, Any]:
    """Size of the data and versions, ready for JSON; scores are added if rows were held out."""
    counts = None if recorded_counts is None else [int(count) for count in recorded_counts]
    return {
        "n_samples": None if counts is None else sum(counts),
        "recorded_counts": counts,
        "scores": {},
        "versions": {
            "ordinoise": ordinoise.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scikit-learn")},
        },
    }


def recorded_counts(y: Any, classes: NDArray[Any]) -> Ints | None:
    """How often each label was recorded; None for a dataset, whose labels are not read in advance (y is None)."""
    if y is None:
        return None
    column = y.cpu().numpy() if hasattr(y, "cpu") else y
    return np.bincount(ranks_of("y", column, classes), minlength=len(classes))


def evenly(n_rows: int) -> slice:
    """Every so many rows, about `SCORED_ROWS` of them at most."""
    return slice(None, None, -(-n_rows // SCORED_ROWS) or 1)


def card_scores(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Scores of held-out rows on clean labels, ready for JSON."""
    kept, plain = ("value", "low", "high", "observed", "confidence"), evaluation.to_dict()
    return {name: {key: number for key in kept if (number := plain[name][key]) is not None} for name in SCORES}


def _changed(model: OrdinalClassifierBase, settings: Mapping[str, Any]) -> list[str]:
    """Names of the parameters that differ from the constructor's defaults."""
    import inspect

    defaults = {name: parameter.default for name, parameter in inspect.signature(type(model)).parameters.items()}
    return [name for name, value in settings.items() if _plain(value) != _plain(defaults[name])]


def _plain(value: Any) -> Any:
    """`value` for JSON; anything that JSON cannot hold becomes its name."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and np.isfinite(value)):
        return value
    return str(getattr(value, "__name__", type(value).__name__))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
