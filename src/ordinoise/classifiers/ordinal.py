"""The front door: one classifier that estimates the label noise and blends the learners that suit the data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ordinoise._sparse import is_sparse
from ordinoise._validation import Floats, Ints, as_choice, as_count, as_generator, as_same_length, complain
from ordinoise.classifiers._progress import fit_progress
from ordinoise.classifiers._table_base import TableClassifierBase
from ordinoise.classifiers.blend.candidates import CLASS_SHARES, Candidate
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.evidence import ENOUGH_VERIFIED, with_first_answer
from ordinoise.classifiers.blend.finished import FinishedFits, blend_digest
from ordinoise.classifiers.blend.lineup import FEW_ROWS, usual_folds
from ordinoise.classifiers.blend.mixture import Blend, average, fitted_blend
from ordinoise.classifiers.blend.models import DECONVOLUTION_STEPS, Model, NetworkModel, TreesModel
from ordinoise.classifiers.blend.rated import consensus_of, rated_blend, rated_items
from ordinoise.classifiers.blend.recorded import noise_estimate, recorded_blend
from ordinoise.classifiers.blend.scored import candidates, kind_of
from ordinoise.classifiers.blend.state import restore, state_of
from ordinoise.classifiers.blend.table import Filling, Reading, Table, sparse_table, text_table
from ordinoise.classifiers.saving import Arrays
from ordinoise.columns.coding import Columns
from ordinoise.crossfit import stratified_folds
from ordinoise.decisions import as_decision
from ordinoise.estimation.resolution import resolve_noise
from ordinoise.labels import Verified, as_column, joined_groups, trusted_ranks
from ordinoise.noise import Noise
from ordinoise.noise.record import ANSWERS
from ordinoise.threads import one_blas_thread

LEARNERS = ("auto", "mlp", "boosting", "blend")
SMALL, ROUNDS_WHEN_SMALL = 1000, 2
"""Below 1000 rows the folds are drawn twice, since a single draw decides too much (decision 0011)."""


@dataclass(eq=False, repr=False)
class OrdinalClassifier(TableClassifierBase):
    """A classifier for ordered grades that needs no settings: it estimates the label noise and blends its learners.

    Networks, from linear to large, and gradient-boosted trees, each on all folds but one, first trust the labels; their
    held-out predictions give the noise estimate. Then they are trained again under the correction. The weight of each
    learner comes from the likelihood of the recorded labels of the held-out rows, so no clean label is needed. The
    models of all folds are averaged for the prediction: nothing is refitted.

    An estimate can be wrong, and a wrong correction does harm, so the evidence decides what is made of it: the
    correction is used where nothing speaks against the estimate and the held-out records are better explained with it
    than without. `noise_.answer` says what was decided, and `noise_.reason` why. Where the held-out rows show that the
    columns say nothing, the shares of the grades are predicted for every row.

    Parameters
    ----------
    learner : {"auto", "mlp", "boosting", "blend"}, default="auto"
        "blend" weights networks and trees; "auto" also drops learners with a weight below 5 %, from 8000 rows on after
        the first fold, and above 32,000 rows has one network and one kind of trees; "mlp" and "boosting" use one kind
        only.
    noise : None, array, mapping, "estimate" or estimator, default="estimate"
        None trusts the labels. An array ``noise_matrix[true, recorded]`` is known noise. ``"estimate"`` estimates it
        from the data; below 50 rows it trusts the labels, and `noise_` says so. An estimator with ``fit(X, y)`` and
        ``noise_matrix_`` is fitted to the features of the networks. One matrix per rater, as a mapping or a stack,
        needs ``fit(..., raters=)``.
    answer : {"auto", "corrected", "cautious", "trusting"}, default="auto"
        What is made of an estimated noise. "auto" chooses: *corrected* predicts the true label; *cautious*, where the
        estimate is in doubt, learns under the correction but predicts the label as it would be recorded; *trusting*
        predicts from models that take the labels as they are.
    prior_rate : float, optional
        The share of wrong labels that you expect, for the estimate.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How `predict` picks a class: least expected absolute error, 0-1 error, squared error, or
        ``cost[true, predicted]``.
    classes : sequence, optional
        The classes from lowest to highest. Needed for text labels and for classes that a training set may lack.
    class_weight : dict or "balanced", optional
        Weights of the recorded classes.
    categorical_features : "auto", sequence or None, default="auto"
        Columns that hold categories; "auto" takes the columns of a frame with few different texts.
    text_features : "auto", sequence or None, default="auto"
        Columns that hold free text; "auto" takes the columns of a frame with three words per cell or more.
    n_folds : int, optional
        Parts of the data, each held out in turn; by default 5; 4 above 32,000 rows, 3 above 100,000,
        and 2 above 800,000.
    n_rounds : int, optional
        How often the folds are drawn; by default twice below 1000 rows and once above.
    n_jobs : int, optional
        Number of fits at a time, in threads; one per processor by default. The result does not depend on it.
    random_state : int, Generator, RandomState or None
        Randomness of folds, networks and trees.
    verbose : bool, default=False
        Whether to show a progress bar of the fits on standard error.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in order.
    learner_ : {"mlp", "boosting", "blend", "class shares"}
        The kind of learners in the blend; "class shares" if none of them predicts better than these.
    weights_ : dict of str to float
        Weight of each candidate in the blend.
    selection_ : dict of str to float
        Mean out-of-fold log-likelihood of the recorded labels, per candidate and of the blend; higher is better.
        Candidates that were dropped before all folds were fitted are missing.
    noise_ : Noise
        The noise: matrices, how sure they are, where they come from, doubts, the answer and its reason.
        `noise_matrix_` is its matrix.
    out_of_fold_ : array of shape (n_samples, n_classes)
        What `predict_proba` gives for the training rows with positive weight, by models that did not see the row.
    folds_ : int array of shape (n_rounds, n_samples) or None
        Fold of every training row with positive weight, one line per draw of the folds; None after loading.
    models_ : dict of str to tuple
        Fitted models of each candidate with positive weight, one per fold: the first did not see the rows of fold 0 of
        the first draw.
    set_calibration_ : SetCalibration or None
        Thresholds of `predict_set`, from the held-out rows; None if the noise matrix has no inverse.
    evaluation_ : Evaluation or None
        Every metric on the held-out rows, as recorded and as it would be on clean labels; None after loading, and if
        the noise has no inverse or is one matrix per rater.
    curves_ : dict of str to tuple
        Loss of the held-out rows after each epoch or round, for every model of each candidate.

    Notes
    -----
    Trees take missing values and categories directly. For networks a missing number is replaced by the median, with an
    indicator column if the training rows had missing values; the 50 most frequent categories of a column are one-hot
    encoded. Free text is read as TF-IDF of words, pairs of words and 2 to 5 characters and a few numbers, such as its
    length, by penalized linear models, with the weights of the n-grams learned anew in each fold; a sparse matrix is
    read by the same models, as it is.

    Examples
    --------
    >>> from ordinoise import corrupt, inverse_decay
    >>> from ordinoise.datasets import synthetic
    >>> from ordinoise.classifiers.ordinal import OrdinalClassifier
    >>> data, noise = synthetic(500, random_state=0), inverse_decay(4, 0.15)
    >>> model = OrdinalClassifier(learner="mlp", noise=noise, random_state=0)
    >>> model = model.fit(data.features, corrupt(data.labels, noise, random_state=0))
    >>> bool((model.predict(data.features) == data.labels).mean() > 0.85)
    True
    """

    columns_: Columns = field(init=False)
    filling_: Filling = field(init=False)
    reading_: Reading = field(init=False)
    reads_sparse_: bool = field(init=False)
    models_: Mapping[str, tuple[Model, ...]] = field(init=False)
    weights_: Mapping[str, float] = field(init=False)
    selection_: Mapping[str, float] = field(init=False)
    learner_: str = field(init=False)
    out_of_fold_: Floats | None = field(init=False)
    folds_: Ints | None = field(init=False)
    curves_: Mapping[str, tuple[Sequence[float], ...]] = field(init=False)

    learner: str = "auto"
    _: KW_ONLY
    noise: Any = "estimate"
    answer: str = "auto"
    prior_rate: float | None = None
    decision: Any = "median"
    classes: Any = None
    class_weight: Any = None
    categorical_features: Any = "auto"
    text_features: Any = "auto"
    n_folds: int | None = None
    n_rounds: int | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False
    _folder: Path | None = field(init=False, default=None)

    def keep_fits(self, folder: str | os.PathLike[str]) -> Self:
        """Keep the models of `fit` that take long in a folder as they are finished, and use those that are there.

        If a fit is stopped, the same fit with the same data and parameters continues and gives the same result. The
        folder is yours to remove when the fit is done. It is made if need be, beside what exists; files that are
        damaged, or of other data or parameters, are ignored. A `random_state` other than an int is never the same.

        Parameters
        ----------
        folder : path
        """
        self._folder = Path(folder)
        return self

    @one_blas_thread()
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        raters: Any = None,
        trusted: Any = None,
        groups: Any = None,
        items: Any = None,
    ) -> Self:
        """Learn from recorded labels.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Numbers and, in a frame, categories and free text; NaN where missing.
        y : column of shape (n_samples,)
            Labels as recorded.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples; rows with zero weight are ignored.
        raters : column of shape (n_samples,), optional
            Who recorded each label, when `noise` holds one matrix per rater, or to estimate the raters of `items`.
        trusted : (rows, labels) or Verified, optional
            Numbers of rows whose true label is known, and those labels: the models and the noise estimate use them. The
            rows may have been chosen by suspicion. ``ordinoise.labels.Verified`` says how often the verifier errs.
        groups : column of shape (n_samples,), optional
            Rows of one group (a patient, a query) are held out together, wherever rows are held out.
        items : column of shape (n_samples,), optional
            What each row is a label of, if something may have several labels. All labels of an item are learned
            together, and held out together. Its rows must have the same features.
        """
        plain, raters, verified, weighted = self._training_data(X, y, sample_weight, raters, trusted, groups, items)
        rng = as_generator(self.random_state)
        rated = rated_items(self, plain, items, weighted)
        if rated is not None:
            self._keep(rated_blend(self, rated, raters, verified, rng))
        else:
            raters = None if items is not None and self._estimates() else raters  # no item has two ratings
            self.folds_ = self._folds(plain.ranks, rng, plain.groups)
            self._keep(recorded_blend(self, plain, raters, verified, rng))
        # Without class weights, which would change the distribution that the scores are about.
        rows = np.empty((len(as_column("y", y)), 1))
        weights = self._checked_weights(sample_weight, y, rows, None)
        assert self.out_of_fold_ is not None
        named = raters if rated is None else None  # a rater who guesses has a matrix without an inverse
        self._keep_out_of_fold(self.out_of_fold_, plain.ranks, named, weights[weighted])
        return self

    @one_blas_thread()
    def estimate_noise(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        trusted: Any = None,
        groups: Any = None,
        items: Any = None,
        raters: Any = None,
    ) -> Noise:
        """The noise that `fit` would correct for, without the fits that correct for it.

        Parameters
        ----------
        X, y, sample_weight, trusted, groups, items, raters
            As in `fit`.
        """
        plain, raters, verified, weighted = self._training_data(X, y, sample_weight, raters, trusted, groups, items)
        rng = as_generator(self.random_state)
        rated = rated_items(self, plain, items, weighted)
        if rated is not None:
            return consensus_of(self, rated, raters, verified, int(rng.integers(2**31))).noise
        folds = self._folds(plain.ranks, rng, plain.groups)
        noise_seed, blend_seed = (int(seed) for seed in rng.integers(2**31, size=2))
        if not self._estimates():
            return self._resolved_noise(plain, raters, noise_seed)[0]
        with fit_progress(self.verbose, self._n_fits(folds, plain)) as on_fit:
            trusting = self._fitted_blend(plain, folds, blend_seed, on_fit)
        found = noise_estimate(self, trusting, plain, verified, noise_seed)
        return with_first_answer(found, verified=verified is not None and len(verified.rows) >= ENOUGH_VERIFIED)

    def _training_data(
        self, X: Any, y: Any, sample_weight: Any, raters: Any, trusted: Any, groups: Any, items: Any
    ) -> tuple[Recorded, Any, Verified | None, Ints]:
        """The rows with positive weight: data for the learners, raters, verified rows among them, row numbers."""
        features = self._checked_features(X, reset=True)
        self.classes_, ranks = self._checked_labels(y, features.shape[0], self.classes)
        as_choice("learner", self.learner, LEARNERS)
        as_choice("answer", self.answer, ("auto", *ANSWERS))
        as_decision(self.decision, len(self.classes_))
        weights = self._checked_weights(sample_weight, y, features, self.class_weight)
        weighted = np.flatnonzero(weights)
        if raters is not None:
            as_same_length("raters", len(column := as_column("raters", raters)), "y", len(ranks))
            raters = column[weighted]
        together = joined_groups(groups, items, len(ranks))
        plain = Recorded(
            self._training_table(X, features, weighted), ranks[weighted], weights[weighted],
            np.eye(len(self.classes_))[None], groups=None if together is None else together[weighted],
        )  # fmt: skip
        verified = None if trusted is None else trusted_ranks(trusted, self.classes_, len(ranks)).among(weighted)
        return plain, raters, verified, weighted

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes).

        Of the true label if ``noise_.answer`` is "corrected", else of the label as it would be recorded.
        """
        check_is_fitted(self, "models_")
        return self._answered(average(self.models_, self.weights_, self.table_of(X), self.n_jobs))

    def table_of(self, X: Any) -> Table:
        """New rows as the fitted models read them."""
        features = self._checked_features(X, reset=False)
        if self.reads_sparse_:
            return sparse_table(features, self.filling_)
        return text_table(features, self.filling_, self.reading_, self.columns_.cells(X))

    def _training_table(self, X: Any, features: Any, rows: Ints) -> Table:
        """The chosen rows for the learners; learns medians, frequent categories and n-grams."""
        self.reads_sparse_ = is_sparse(features)
        if self.reads_sparse_:
            dense = np.empty((len(rows), 0))
        else:  # a copy of some rows; all of them need none
            dense = features[rows] if len(rows) < len(features) else np.ascontiguousarray(features)
        self.filling_ = Filling.of(dense, self.columns_.categories)
        cells = [[column[row] for row in rows] for column in self.columns_.cells(X)]
        self.reading_, counts = Reading.of(cells)
        is_dense = not self.reads_sparse_
        return Table(dense, self.filling_, counts) if is_dense else sparse_table(features[rows], self.filling_)

    def _answered(self, probabilities: Floats) -> Floats:
        """What the blend predicts, as the answer has it: a cautious one is of the recorded label."""
        return probabilities @ self.noise_.matrix if self.noise_.answer == "cautious" else probabilities

    def _resolved_noise(self, plain: Recorded, raters: Any, seed: int) -> tuple[Noise, Ints | None]:
        return resolve_noise(
            self.noise, plain.table.columns, plain.ranks, plain.n_classes, raters, seed, groups=plain.groups
        )

    def _estimates(self) -> bool:
        return isinstance(self.noise, str) and self.noise == "estimate"

    def _fitted_blend(
        self, data: Recorded, folds: Ints, seed: int, on_fit: Callable[[], None], start: Blend | None = None
    ) -> Blend:
        chosen, drop = self._candidates(data), self.learner == "auto"
        start = start if len(data.ranks) >= FEW_ROWS else None
        finished = None
        if self._folder is not None:
            before = None if start is None else start.log_likelihoods
            finished = FinishedFits(self._folder, blend_digest(chosen, data, folds, seed, before), self)
        return fitted_blend(
            chosen, data, folds, seed=seed, n_jobs=self.n_jobs, drop=drop, on_fit=on_fit, start=start, finished=finished
        )

    def _candidates(self, data: Recorded) -> dict[str, Candidate]:
        return candidates(self.learner, data.table, tuple(self.columns_.categories))

    def _n_fits(self, folds: Ints, data: Recorded) -> int:
        return len(self._candidates(data)) * sum(int(drawn.max()) + 1 for drawn in folds)

    def _folds(self, ranks: Ints, rng: np.random.Generator, groups: Ints | None = None) -> Ints:
        """Fold of every row, shape (n_rounds, n_samples)."""
        wanted = usual_folds(len(ranks)) if self.n_folds is None else as_count("n_folds", self.n_folds, 2)
        n_folds = min(wanted, len(ranks))
        usual = ROUNDS_WHEN_SMALL if len(ranks) < SMALL else 1
        n_rounds = usual if self.n_rounds is None else as_count("n_rounds", self.n_rounds, 1)
        return np.stack([stratified_folds(ranks, n_folds, rng, groups) for _ in range(n_rounds)])

    def _keep(self, blend: Blend) -> None:
        self.models_ = {name: models for name, models in blend.models.items() if blend.weights[name] > 0}
        self.weights_, self.selection_ = dict(blend.weights), dict(blend.log_likelihoods)
        self.out_of_fold_, self.curves_ = self._answered(blend.out_of_fold), dict(blend.curves)
        kinds = {kind_of(models[0]) for models in self.models_.values()}
        self.learner_ = CLASS_SHARES if CLASS_SHARES in self.models_ else "blend" if len(kinds) == 2 else kinds.pop()

    def _add_to_onnx(self, graph: Any) -> str:
        from ordinoise.export import (
            average_probabilities,
            deconvolved_probabilities,
            dense_features,
            network_probabilities,
            tree_probabilities,
        )

        filling, categories = self.filling_, self.columns_.categories
        if self.reading_.grams or self.reads_sparse_:
            raise complain(
                "model", "read dense columns only to be written as ONNX", "one that reads text or sparse ones"
            )
        dense = dense_features(graph, filling.medians, filling.flagged, filling.codes, categories)
        parts = {}
        for name, models in self.models_.items():
            for model in models:
                if isinstance(model, TreesModel):
                    part = tree_probabilities(graph, model.ensemble, categories)
                    if model.records is not None:
                        part = deconvolved_probabilities(graph, part, model.records, DECONVOLUTION_STEPS)
                elif isinstance(model, NetworkModel):
                    part = network_probabilities(graph, model.network, dense)
                parts[part] = self.weights_[name] / len(models)
        return average_probabilities(graph, parts, self.noise_.matrix if self.noise_.answer == "cautious" else None)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return state_of(self)

    def _restore(self, settings: dict[str, Any], arrays: Arrays) -> None:
        restore(self, settings, arrays)
