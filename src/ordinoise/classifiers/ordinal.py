"""The front door: one classifier that finds out how wrong the labels are, and which learners suit the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ordinoise._validation import Floats, Ints, as_choice, as_count, as_generator, as_same_length
from ordinoise.classifiers._columns import Columns
from ordinoise.classifiers._progress import fit_progress
from ordinoise.classifiers._table_base import TableClassifierBase
from ordinoise.classifiers.blend import state as _blend_state
from ordinoise.classifiers.blend.fitting import Blend, average, fitted_blend
from ordinoise.classifiers.blend.members import MANY_ROWS, Model, NetworkModel, Recorded, TreesModel, candidates
from ordinoise.classifiers.blend.noise import Settled, noise_or_trust
from ordinoise.classifiers.blend.table import Filling, Table
from ordinoise.classifiers.saving import Arrays
from ordinoise.crossfit import stratified_folds
from ordinoise.estimation.resolution import ResolvedNoise, refuse_raters, resolve_noise
from ordinoise.labels import as_column, as_decision, trusted_ranks

LEARNERS = ("auto", "mlp", "boosting", "blend")
NEGLIGIBLE = 1e-3
"""Chance of a wrong record below which models that trust the labels are taken as they are."""
SMALL, ROUNDS_WHEN_SMALL = 1000, 2


class OrdinalClassifier(TableClassifierBase):
    """A classifier for ordered grades that needs no settings: it estimates the label noise and blends its learners.

    Networks, from linear to large, and gradient-boosted trees learn under the same correction, each without one fold
    at a time. The rows left out say, by the likelihood of what was recorded and so without a clean label, how much each
    learner counts. Before that, the same learners trusting the labels give the estimate of the noise. The models of
    all folds together make the prediction: nothing is fitted again.

    Parameters
    ----------
    learner : {"auto", "mlp", "boosting", "blend"}, default="auto"
        "blend" weighs networks and trees, "auto" also leaves out what has hardly any weight; "mlp" and "boosting" keep
        to one kind.
    noise : None, array, mapping, "estimate" or estimator, default="estimate"
        None trusts the labels. An array ``noise_matrix[true, recorded]`` is known noise. ``"estimate"`` estimates it
        from the data; below 50 rows it trusts the labels and says so. An estimator with ``fit(X, y)`` and
        ``noise_matrix_`` is fitted to what the networks get. A matrix for each rater, as a mapping or a stack, goes
        with ``fit(..., raters=)``.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How `predict` picks a class: least expected absolute error, 0-1 error, squared error, or
        ``cost[true, predicted]``.
    classes : sequence, optional
        The classes from lowest to highest. Needed for text labels and for classes that a training set may lack.
    class_weight : dict or "balanced", optional
        Weights of the recorded classes.
    categorical_features : "auto", sequence or None, default="auto"
        Columns that hold categories; "auto" takes those of a frame that are categorical or text.
    n_folds : int, optional
        Parts of the data, each left out in turn; by default 5, and 3 above 100,000 rows.
    n_rounds : int, optional
        How often the folds are drawn; by default twice below 1000 rows, where chance rules, and once above.
    n_jobs : int, optional
        Models at a time, in threads; all processors by default. The answer does not depend on it.
    random_state : int, Generator, RandomState or None
        Folds, networks, trees.
    verbose : bool, default=False
        Whether to show on standard error how many of the fits are done.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in order.
    learner_ : {"mlp", "boosting", "blend"}
        What the prediction is made of.
    weights_ : dict of str to float
        Share of each candidate.
    selection_ : dict of str to float
        Mean log-likelihood of the recorded labels, out of fold, by candidate and by the blend; higher is better.
    noise_matrix_ : array of shape (n_classes, n_classes)
        The noise corrected for, ``[true, recorded]``; the identity for ``noise=None``, the average for raters.
    noise_matrices_ : array of shape (n_raters, n_classes, n_classes)
        One matrix a rater.
    noise_estimator_ : object or None
        The fitted estimator behind `noise_matrix_`, with intervals and doubts.
    out_of_fold_ : array of shape (n_samples, n_classes)
        Probability of each true label of the training rows that have weight, by models that did not see the row.
    models_ : dict of str to tuple
        Fitted models of each candidate.
    set_calibration_ : SetCalibration or None
        What `predict_set` goes by, from the rows left out; None where the noise has no inverse.
    curves_ : dict of str to tuple
        Loss of the rows left out after each epoch or round, for every model of each candidate.

    Notes
    -----
    Trees read missing values and categories as they are. For networks a missing number is the median, with one more
    column that says so if it happened in training; a category is a column of zeros and ones, for the 50 most frequent.

    Examples
    --------
    >>> from ordinoise import corrupt, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> from ordinoise.classifiers.ordinal import OrdinalClassifier
    >>> data, noise = synthetic(500, random_state=0), inverse_decay(4, 0.15)
    >>> model = OrdinalClassifier(learner="mlp", random_state=0)
    >>> model = model.fit(data.features, corrupt(data.labels, noise, random_state=0))
    >>> bool((model.predict(data.features) == data.labels).mean() > 0.85)
    True
    """

    columns_: Columns
    filling_: Filling
    models_: Mapping[str, tuple[Model, ...]]
    weights_: Mapping[str, float]
    selection_: Mapping[str, float]
    learner_: str
    noise_matrix_: Floats
    noise_matrices_: Floats
    noise_estimator_: Any
    out_of_fold_: Floats | None
    curves_: Mapping[str, tuple[Sequence[float], ...]]

    def __init__(
        self,
        learner: str = "auto",
        *,
        noise: Any = "estimate",
        decision: Any = "median",
        classes: Any = None,
        class_weight: Any = None,
        categorical_features: Any = "auto",
        n_folds: int | None = None,
        n_rounds: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.learner = learner
        self.noise = noise
        self.decision = decision
        self.classes = classes
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_folds = n_folds
        self.n_rounds = n_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, raters: Any = None, trusted: Any = None) -> Self:
        """Learn from recorded labels.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Numbers and, in a frame, categories; NaN where missing.
        y : column of shape (n_samples,)
            Labels as recorded.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples; a sample of no weight is not there.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds a matrix for each rater.
        trusted : (rows, labels), optional
            Numbers of rows whose true label is known, and those labels: learned from as they are, and a witness of the
            noise. They may have been picked by suspicion.
        """
        features = self._checked_features(X, reset=True)
        self.classes_, ranks = self._checked_labels(y, len(features), self.classes)
        as_choice("learner", self.learner, LEARNERS)
        as_decision(self.decision, len(self.classes_))
        weights = self._checked_weights(sample_weight, y, features, self.class_weight)
        there = np.flatnonzero(weights)
        if raters is not None:
            as_same_length("raters", len(column := as_column("raters", raters)), "y", len(ranks))
            raters = column[there]
        rng = as_generator(self.random_state)
        self.filling_ = Filling.of(features[there], self.columns_.categories)
        table, folds = Table(features[there], self.filling_), self._folds(ranks[there], rng)
        trusting = ResolvedNoise(np.eye(len(self.classes_))[None], None)
        plain = Recorded(table, ranks[there], weights[there], trusting)
        settled = None if trusted is None else _among(there, trusted_ranks(trusted, self.classes_, len(ranks)))
        noise, blend = self._blended(plain, raters, settled, folds, rng)
        self._keep(noise, blend)
        # Class weights would make the rows other than those that the model is to be judged on.
        self._judge(
            blend.out_of_fold, plain.ranks, noise, self._checked_weights(sample_weight, y, features, None)[there]
        )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each clean class, shape (n_samples, n_classes)."""
        check_is_fitted(self, "models_")
        table = Table(self._checked_features(X, reset=False), self.filling_)
        return average(self.models_, self.weights_, table)

    def _blended(
        self, plain: Recorded, raters: Any, settled: Settled | None, folds: Ints, rng: np.random.Generator
    ) -> tuple[ResolvedNoise, Blend]:
        """The noise, and the blend that corrects for it."""
        chosen = candidates(self.learner, len(plain.ranks), tuple(self.columns_.categories))
        noise_seed, blend_seed = (int(seed) for seed in rng.integers(2**31, size=2))
        estimates = isinstance(self.noise, str) and self.noise == "estimate"
        n_fits = len(chosen) * sum(int(drawn.max()) + 1 for drawn in folds) * (2 if estimates else 1)
        with fit_progress(self.verbose, n_fits) as on_fit:

            def blend(noise: ResolvedNoise, settled: Settled | None = None) -> Blend:
                data = replace(plain, noise=noise)
                data = data if settled is None else data.with_settled(settled)
                options: dict[str, Any] = {"seed": blend_seed, "n_jobs": self.n_jobs, "drop": self.learner == "auto"}
                return fitted_blend(chosen, data, folds, on_fit=on_fit, **options)

            if not estimates:
                noise = resolve_noise(self.noise, plain.table.dense, plain.ranks, plain.n_classes, raters, noise_seed)
                return noise, blend(noise, settled)
            refuse_raters(raters)
            trusting = blend(plain.noise)
            noise = noise_or_trust(trusting.out_of_fold, plain.ranks, plain.weights, noise_seed, settled)
            if settled is None and 1 - noise.pooled.diagonal().min() < NEGLIGIBLE:
                return noise, trusting
            return noise, blend(noise, settled)

    def _folds(self, ranks: Ints, rng: np.random.Generator) -> Ints:
        """Fold of every row, shape (n_rounds, n_samples)."""
        wanted = (3 if len(ranks) > MANY_ROWS else 5) if self.n_folds is None else as_count("n_folds", self.n_folds, 2)
        n_folds = min(wanted, len(ranks))
        usual = ROUNDS_WHEN_SMALL if len(ranks) < SMALL else 1
        n_rounds = usual if self.n_rounds is None else as_count("n_rounds", self.n_rounds, 1)
        return np.stack([stratified_folds(ranks, n_folds, rng) for _ in range(n_rounds)])

    def _keep(self, noise: ResolvedNoise, blend: Blend) -> None:
        self.noise_matrix_, self.noise_matrices_, self.noise_estimator_ = noise.pooled, noise.matrices, noise.estimator
        self.models_ = {name: models for name, models in blend.models.items() if blend.weights[name] > 0}
        self.weights_, self.selection_ = dict(blend.weights), dict(blend.log_likelihoods)
        self.out_of_fold_, self.curves_ = blend.out_of_fold, dict(blend.curves)
        kinds = {"boosting" if isinstance(models[0], TreesModel) else "mlp" for models in self.models_.values()}
        self.learner_ = "blend" if len(kinds) == 2 else kinds.pop()

    def _add_to_onnx(self, graph: Any) -> str:
        from ordinoise.export import average_probabilities, dense_features, network_probabilities, tree_probabilities

        filling, categories = self.filling_, self.columns_.categories
        dense = dense_features(graph, filling.medians, filling.flagged, filling.codes, categories)
        parts = {}
        for name, models in self.models_.items():
            for model in models:
                if isinstance(model, TreesModel):
                    trees = model.ensemble
                    dump = trees.booster.dump_model()
                    part = tree_probabilities(graph, dump, trees.head, trees.offsets, categories)
                elif isinstance(model, NetworkModel):
                    part = network_probabilities(graph, model.network, dense)
                parts[part] = self.weights_[name] / len(models)
        return average_probabilities(graph, parts)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return _blend_state.state_of(self)

    @classmethod
    def _from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        model = cls(**_blend_state.parameters_from(settings))
        _blend_state.restore(model, settings, arrays)
        return model


def _among(there: Ints, settled: Settled) -> Settled | None:
    """The verified rows that have weight, numbered among those."""
    rows, true = settled
    known = np.isin(rows, there)
    return (np.searchsorted(there, rows[known]), true[known]) if known.any() else None
