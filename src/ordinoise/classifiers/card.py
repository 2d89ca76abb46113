"""The card of a fitted model: what it is, what it learnt from and how good it is, in words and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ordinoise.classifiers.base import OrdinalClassifierBase

__all__ = ["ModelCard", "model_card"]

WORDS = {
    "mean_absolute_error": "mean absolute error",
    "zero_one_loss": "share of wrong grades",
    "accuracy_off1": "share right or one grade off",
    "quadratic_weighted_kappa": "quadratic weighted kappa",
}
MOST_NAMES = 12


@dataclass(frozen=True, eq=False)
class ModelCard:
    """What there is to know about a fitted model; printing it gives plain words.

    Attributes
    ----------
    kind : str
        Name of the model's class.
    n_samples, n_features : int or None
        Rows and columns it learnt from; None where that was not counted.
    feature_names : list of str or None
        Names of the columns, where they had any.
    classes : list
        Grades, lowest first.
    recorded_counts : list of int or None
        How often each was recorded.
    noise : dict
        ``matrix[true, recorded]``, `source` in words, `rate` of wrong labels with `rate_interval` and its `confidence`,
        `is_identifiable` and `identifiability` in words; None for what is unknown.
    settings : dict
        Parameters of the model, by name.
    changed_settings : list of str
        Names of those that are not the default.
    learners : dict of str to float
        Share of each learner in a blend; empty for a single one.
    scores : dict
        By metric: `value` on clean labels, told from the recorded ones of rows left out, with `low` and `high`, and
        what was `observed`; empty where no rows were left out.
    n_calibration : int or None
        Recorded labels that its prediction sets rest on.
    versions : dict of str to str
        Of the libraries it was fitted with.
    """

    kind: str
    n_samples: int | None
    n_features: int | None
    feature_names: list[str] | None
    classes: list[Any]
    recorded_counts: list[int] | None
    noise: dict[str, Any]
    settings: dict[str, Any]
    changed_settings: list[str]
    learners: dict[str, float]
    scores: dict[str, dict[str, float]]
    n_calibration: int | None
    versions: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain lists, numbers and text, ready for JSON."""
        return {name: _plain(value) for name, value in vars(self).items()}

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
        rate, interval = self.noise["rate"], self.noise["rate_interval"]
        lines = [f"Label noise: {self.noise['source']}."]
        if rate is not None and not self.noise["source"].startswith("none"):
            reach = "" if interval is None else f" ({_between(*interval)}, {self.noise['confidence']:.0%} interval)"
            lines.append(f"About {rate:.1%} of the labels are wrong{reach}.")
        if self.noise["identifiability"]:
            verdict = "The estimate stands" if self.noise["is_identifiable"] else "The estimate is in doubt"
            lines.append(f"{verdict}: {self.noise['identifiability']}.")
        return " ".join(lines) + f"\n{self._matrix()}"

    def _matrix(self) -> str:
        """The matrix, a row a true grade."""
        names = [str(grade) for grade in self.classes]
        width = max(6, *(len(name) for name in names))
        rows = np.asarray(self.noise["matrix"])
        lines = [f"  {'true':>{width}}  recorded as " + " ".join(f"{name:>{width}}" for name in names)]
        lines += [
            f"  {name:>{width}}              " + " ".join(f"{chance:>{width}.3f}" for chance in row)
            for name, row in zip(names, rows, strict=True)
        ]
        return "\n".join(lines)

    def _learners(self) -> str:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.learners.items() if share > 0)
        return f"Made of: {shares}." if shares else ""

    def _scores(self) -> str:
        if not self.scores:
            return "Scores: none; no rows were left out to score it by."
        lines = ["Scores on clean labels, told from recorded labels of rows left out:"]
        for metric, score in self.scores.items():
            reach = f" ({score['low']:.3f} to {score['high']:.3f})" if "low" in score else ""
            observed = f"; {score['observed']:.3f} as recorded" if "observed" in score else ""
            lines.append(f"  {WORDS.get(metric, metric)}: {score.get('value', np.nan):.3f}{reach}{observed}")
        return "\n".join(lines)

    def _sets(self) -> str:
        if self.n_calibration is None:
            return "Prediction sets: not calibrated."
        return f"Prediction sets: calibrated on {self.n_calibration} recorded labels."

    def _settings(self) -> str:
        changed = ", ".join(f"{name}={_short(self.settings[name])}" for name in self.changed_settings)
        return f"Settings: {changed or 'all as by default'}."


def model_card(model: OrdinalClassifierBase) -> ModelCard:
    """The card of a fitted model."""
    facts = getattr(model, "training_facts_", {})
    sets = getattr(model, "set_calibration_", None)
    settings = model.get_params(deep=False)
    unknown = dict.fromkeys(("rate", "rate_interval", "confidence", "is_identifiable", "identifiability"))
    noise = {"source": "unknown"} | unknown | facts.get("noise", {}) | {"matrix": model.noise_matrix_.tolist()}
    names = getattr(model, "feature_names_in_", None)
    return ModelCard(
        kind=type(model).__name__,
        n_samples=facts.get("n_samples"),
        n_features=getattr(model, "n_features_in_", None),
        feature_names=None if names is None else [str(name) for name in names],
        classes=model.classes_.tolist(),
        recorded_counts=facts.get("recorded_counts"),
        noise=noise,
        settings={name: _plain(value) for name, value in settings.items()},
        changed_settings=_changed(model, settings),
        learners=dict(getattr(model, "weights_", {})),
        scores=dict(facts.get("scores", {})),
        n_calibration=None if sets is None else sets.n_samples,
        versions=dict(facts.get("versions", {})),
    )


def _changed(model: OrdinalClassifierBase, settings: Mapping[str, Any]) -> list[str]:
    """Names of the parameters that differ from the constructor's defaults."""
    import inspect

    defaults = {name: parameter.default for name, parameter in inspect.signature(type(model)).parameters.items()}
    return [name for name, value in settings.items() if _plain(value) != _plain(defaults[name])]


def _plain(value: Any) -> Any:
    """`value` as JSON can hold it; what it cannot, by its printed name."""
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


def _between(low: float, high: float) -> str:
    return f"{low:.1%} to {high:.1%}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
