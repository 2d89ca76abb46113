"""The front door's classifier around trees that were grown elsewhere, such as on parts of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.classifiers.blend.models import SparseModel, TreesModel
from ordinoise.classifiers.blend.scored import ScoredModel
from ordinoise.classifiers.blend.table import Filling, Reading
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.columns.coding import Columns
from ordinoise.learners.boosting import Ensemble
from ordinoise.noise import Noise

TREES = "ordered trees"
SCORED_ROWS = 20_000
"""Rows that scores and prediction sets come from, evenly spaced: each of 500 replicates of the noise is a pass over
them. A round number, chosen by no run."""


def evenly(n_rows: int) -> slice:
    """Every so many rows, about `SCORED_ROWS` of them at most."""
    return slice(None, None, -(-n_rows // SCORED_ROWS) or 1)


def classifier_of_trees(
    settings: Mapping[str, Any],
    X: Any,
    columns: Columns,
    models: Sequence[Ensemble],
    noise: Noise,
    *,
    ranks: Ints,
    folds: Ints,
    out_of_fold: Floats,
    recorded_counts: Ints,
    curves: Sequence[Sequence[float]] = (),
    texts: tuple[Reading, Sequence[tuple[SparseModel, ...]]] | None = None,
    name: str = TREES,
) -> OrdinalClassifier:
    """A fitted OrdinalClassifier: it predicts, explains, saves and exports as if it had grown the trees itself.

    Parameters
    ----------
    settings : mapping
        Parameters of the classifier; `classes` among them.
    X : frame of shape (n_samples, n_features)
        A sample of the training rows, from which prediction sets and scores come.
    columns : Columns
        How the columns of `X` become numbers, by all training rows.
    models : sequence of Ensemble
        One per fold, with the ordered head.
    noise : Noise
        With its answer.
    ranks, folds, out_of_fold : arrays of n_samples rows
        Recorded labels, folds, and probabilities of the true label by the model that did not see the row.
    recorded_counts : int array of shape (n_classes,)
        Recorded labels of all training rows.
    texts : pair, optional
        How text is read, and for each of `models` the linear models whose mean score is its last column.
    name : str
        What the models are; "class shares" if they have no trees.
    """
    model = OrdinalClassifier("boosting", **settings)
    model._checked_features(X, reset=True)
    model.columns_, model.classes_ = columns, np.array(settings["classes"])
    model.filling_ = Filling.of(model._checked_features(X, reset=False), columns.categories)
    model.reading_, model.reads_sparse_ = Reading() if texts is None else texts[0], False
    grown = [TreesModel(one) for one in models]
    model.models_ = {name: tuple(grown if texts is None else map(ScoredModel, texts[1], grown))}
    model.weights_, model.learner_ = {name: 1.0}, "boosting" if name == TREES else name
    model.noise_, model.folds_ = noise, folds[None]
    found = (out_of_fold @ noise.matrix)[np.arange(len(ranks)), ranks]
    model.selection_ = {name: float(np.log(np.maximum(found, 1e-12)).mean())}
    model.out_of_fold_, model.curves_ = model._answered(out_of_fold), {name: tuple(curves)}
    some = evenly(len(ranks))
    model._keep_out_of_fold(model.out_of_fold_[some], ranks[some], None, np.ones(len(ranks[some])))
    model.training_facts_["recorded_counts"] = recorded_counts.tolist()
    return model
