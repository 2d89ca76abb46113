"""What a fit of the front door learned: how rows are read, models and their weights, the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ordinoise._validation import Floats, Ints, as_number, complain
from ordinoise.classifiers.blend.candidates import CLASS_SHARES
from ordinoise.classifiers.blend.coding import TableCoding
from ordinoise.classifiers.blend.evidence import as_answered
from ordinoise.classifiers.blend.mixture import Blend, average
from ordinoise.classifiers.blend.models import DECONVOLUTION_STEPS, Model, NetworkModel, TreesModel
from ordinoise.classifiers.blend.scored import kind_of
from ordinoise.classifiers.blend.state import Shape, restored_member, store_member
from ordinoise.classifiers.blend.table import Table
from ordinoise.classifiers.saving import Arrays
from ordinoise.noise import Noise


@dataclass(frozen=True, eq=False)
class FittedBlend:
    """The blend that the answer calls for, with all that a prediction needs; a `Blend` is one it is chosen from.

    Attributes
    ----------
    coding : TableCoding
    models : mapping of str to tuple
        Models of each candidate with positive weight, one per fold.
    weights : mapping of str to float
        Weight of each candidate.
    noise : Noise
        With its answer.
    selection : mapping of str to float
        Mean out-of-fold log-likelihood of the recorded labels, per candidate and of the blend.
    folds : array of shape (n_rounds, n_samples) or None
        Fold of every training row; None after loading.
    out_of_fold : array of shape (n_samples, n_classes) or None
        What `probabilities` gives for the training rows, by models that did not see the row; None after loading.
    curves : mapping of str to tuple
        Loss of the held-out rows after each epoch or round, for every model; empty after loading.
    recorded_out_of_fold : array of shape (n_samples, n_classes) or None
        Probability of each recorded label, by models that trust the labels and did not see the row; None where the
        noise was not estimated from such models, and after loading.
    """

    coding: TableCoding
    models: Mapping[str, tuple[Model, ...]]
    weights: Mapping[str, float]
    noise: Noise
    selection: Mapping[str, float]
    folds: Ints | None = None
    out_of_fold: Floats | None = None
    curves: Mapping[str, tuple[Sequence[float], ...]] = field(default_factory=dict)
    recorded_out_of_fold: Floats | None = None

    @classmethod
    def of(cls, coding: TableCoding, blend: Blend, noise: Noise, folds: Ints) -> Self:
        """The blend under this noise, whose answer decides what is predicted."""
        models = {name: some for name, some in blend.models.items() if blend.weights[name] > 0}
        out_of_fold = as_answered(blend.out_of_fold, noise)
        return cls(
            coding, models, dict(blend.weights), noise, dict(blend.log_likelihoods), folds, out_of_fold,
            dict(blend.curves),
        )  # fmt: skip

    @property
    def learner(self) -> str:
        """The kind of learners: "mlp", "boosting", "blend" of both, or "class shares"."""
        if CLASS_SHARES in self.models:
            return CLASS_SHARES
        kinds = {kind_of(some[0]) for some in self.models.values()}
        return "blend" if len(kinds) == 2 else kinds.pop()

    def probabilities(self, table: Table, n_jobs: int | None = 1) -> Floats:
        """Probability of each class, of the true label or, if the answer is cautious, as it would be recorded."""
        return as_answered(average(self.models, self.weights, table, n_jobs), self.noise)

    def add_to_onnx(self, graph: Any) -> str:
        """Add the models to the graph, and return the name of their output, the class probabilities."""
        from ordinoise.export import (
            average_probabilities,
            deconvolved_probabilities,
            dense_features,
            network_probabilities,
            tree_probabilities,
        )

        filling, categories = self.coding.filling, self.coding.columns.categories
        if self.coding.n_counts:
            rule = "read dense columns only to be written as ONNX"
            raise complain("model", rule, "one that reads text or sparse ones")
        dense = dense_features(graph, filling.medians, filling.flagged, filling.codes, categories)
        parts = {}
        for name, models in self.models.items():
            for model in models:
                if isinstance(model, TreesModel):
                    part = tree_probabilities(graph, model.ensemble, categories)
                    if model.records is not None:
                        part = deconvolved_probabilities(graph, part, model.records, DECONVOLUTION_STEPS)
                elif isinstance(model, NetworkModel):
                    part = network_probabilities(graph, model.network, dense)
                parts[part] = self.weights[name] / len(models)
        return average_probabilities(graph, parts, self.noise.matrix if self.noise.answer == "cautious" else None)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Settings for JSON, and arrays; without the noise, which every classifier saves."""
        settings, arrays = self.coding.state()
        members = {
            name: [store_member(f"{number}-{fold}", one, arrays) for fold, one in enumerate(some)]
            for number, (name, some) in enumerate(self.models.items())
        }
        weights = {"weights": dict(self.weights), "selection": dict(self.selection)}
        return settings | {"members": members, **weights, "learner": self.learner}, arrays

    @classmethod
    def of_state(cls, settings: dict[str, Any], arrays: Arrays, noise: Noise, n_features: int) -> Self:
        """The blend that `state` described, of a table with so many columns."""
        coding = TableCoding.of_state(settings, arrays, n_features)
        shape = Shape(noise.n_classes, coding.n_dense, coding.n_counts, coding.columns.categories)
        models = {
            name: tuple(restored_member(described, arrays, shape) for described in some)
            for name, some in settings["members"].items()
        }
        weights = {name: as_number("weight", value, 0.0, 1.0) for name, value in settings["weights"].items()}
        if not models or not set(models) <= set(weights):
            raise complain("weights", f"name the models {list(models)}", list(weights))
        selection = {
            name: as_number("selection", value, -np.inf, np.inf) for name, value in settings["selection"].items()
        }
        blend = cls(coding, models, weights, noise, selection)
        if settings["learner"] != blend.learner:
            raise complain("learner", f"be {blend.learner!r}, as its models are", repr(settings["learner"]))
        expected = blend.state()[1]
        if set(arrays) != set(expected):
            raise complain("arrays", f"be {sorted(expected)[:6]} ...", sorted(arrays)[:6])
        return blend
