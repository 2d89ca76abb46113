"""The front door: one classifier that estimates the label noise and blends the learners that suit the data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ordinoise._frames import as_native
from ordinoise._validation import Floats, Ints, as_choice, as_generator, as_same_length
from ordinoise.classifiers._table_base import TableClassifierBase
from ordinoise.classifiers.blend.coding import TableCoding
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.evidence import as_answered, logs
from ordinoise.classifiers.blend.fit import TrainingData, estimated_noise, fit_blend
from ordinoise.classifiers.blend.fitted import FittedBlend
from ordinoise.classifiers.blend.items import repeated_items
from ordinoise.classifiers.blend.models import Model
from ordinoise.classifiers.blend.plan import BlendPlan
from ordinoise.classifiers.blend.table import Filling, Reading, Table
from ordinoise.classifiers.card import evenly
from ordinoise.classifiers.saving import Arrays
from ordinoise.columns.coding import Columns
from ordinoise.decisions import as_decision
from ordinoise.labels import as_column, joined_groups, verified_among
from ordinoise.noise import Noise
from ordinoise.noise.record import ANSWERS
from ordinoise.threads import one_blas_thread

LEARNERS = ("auto", "mlp", "boosting", "blend")
TREES = "ordered trees"


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
    prior_rate : float or (float, float), optional
        The share of wrong labels that you expect, for the estimate, alone or with its standard deviation.
    decision : {"median", "mode", "mean"} or array of shape (n_classes, n_classes), default="median"
        How `predict` picks a class: least expected absolute error, 0-1 error, squared error, or
        ``cost[true, predicted]``.
    classes : sequence, optional
        The classes from lowest to highest. Needed for text labels and for classes that a training set may lack.
    class_weight : dict or "balanced", optional
        Weights of the recorded classes, also under a correction: with wrong labels a weighted grade is then predicted
        too often. To weigh true grades, give `decision` a matrix of costs.
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
    table_ : Table or None
        The training rows as the models read them, after `keep_table`.
    recorded_out_of_fold_ : array of shape (n_samples, n_classes) or None
        Probability of each recorded label, by models that trust the labels and did not see the row: what the number of
        wrong labels is counted by. None where the noise was not estimated, and after loading.
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
    blend_ : FittedBlend
        All of this as one record, and how rows are read.

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
    table_: Table | None = field(init=False, default=None)
    blend_: FittedBlend = field(init=False)
    models_: Mapping[str, tuple[Model, ...]] = field(init=False)
    weights_: Mapping[str, float] = field(init=False)
    selection_: Mapping[str, float] = field(init=False)
    learner_: str = field(init=False)
    out_of_fold_: Floats | None = field(init=False)
    recorded_out_of_fold_: Floats | None = field(init=False)
    folds_: Ints | None = field(init=False)
    curves_: Mapping[str, tuple[Sequence[float], ...]] = field(init=False)

    learner: Literal["auto", "mlp", "boosting", "blend"] = "auto"
    _: KW_ONLY
    noise: Any = "estimate"
    answer: Literal["auto", "corrected", "cautious", "trusting"] = "auto"
    prior_rate: float | tuple[float, float] | None = None
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
    _keeps_table: bool = field(init=False, default=False)

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

    def keep_table(self) -> Self:
        """Keep the training rows of `fit` as the models read them, in `table_`: who explains them need not read again.

        A model with its `table_` is as large as its data, and copies of it, such as pickles, hold them too.
        """
        self._keeps_table = True
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
        trusted : column, (rows, labels) or Verified, optional
            Verified labels: a column with an entry per row, missing where nobody verified; or numbers (or a mask) of
            rows whose true label is known, and those labels. The models and the noise estimate use them. The
            rows may have been chosen by suspicion. ``ordinoise.labels.Verified`` says how often the verifier errs.
        groups : column of shape (n_samples,), optional
            Rows of one group (a patient, a query) are held out together, wherever rows are held out.
        items : column of shape (n_samples,), optional
            What each row is a label of, if something may have several labels. All labels of an item are learned
            together, and held out together. Its rows must have the same features.
        """
        data, rows = self._training_data(X, y, sample_weight, raters, trusted, groups, items)
        self.table_ = data.rows.table if self._keeps_table else None
        self._keep(fit_blend(data, self._plan(), as_generator(self.random_state)))
        # Without class weights, which would change the distribution that the scores are about.
        weights = self._checked_weights(sample_weight, y, np.empty((len(as_column("y", y)), 1)), None)
        named = data.raters if data.items is None else None  # a rater who guesses has a matrix without an inverse
        assert self.out_of_fold_ is not None
        self._keep_out_of_fold(self.out_of_fold_, data.rows.ranks, named, weights[rows], data.rows.groups)
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
        data, _ = self._training_data(X, y, sample_weight, raters, trusted, groups, items)
        return estimated_noise(data, self._plan(), as_generator(self.random_state))

    def _plan(self) -> BlendPlan:
        return BlendPlan(
            learner=self.learner, noise=self.noise, answer=self.answer, prior_rate=self.prior_rate,
            decision=self.decision, n_folds=self.n_folds, n_rounds=self.n_rounds, n_jobs=self.n_jobs,
            verbose=self.verbose, folder=self._folder,
        )  # fmt: skip

    def _training_data(
        self, X: Any, y: Any, sample_weight: Any, raters: Any, trusted: Any, groups: Any, items: Any
    ) -> tuple[TrainingData, Ints]:
        """The checked rows with positive weight, and their numbers."""
        X = as_native(X)
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
        coding, table = TableCoding.of(X, features, self.n_features_in_, self.columns_, weighted)
        rows = Recorded(
            table, ranks[weighted], weights[weighted], np.eye(len(self.classes_))[None],
            groups=None if together is None else together[weighted],
        )  # fmt: skip
        checked = verified_among(trusted, self.classes_, len(ranks))
        verified = None if checked is None else checked.among(weighted)
        of_items = None if self.noise is None else repeated_items(rows, items, weighted)
        if items is not None and of_items is None and self._plan().estimates:
            raters = None  # no item has two ratings
        return TrainingData(coding, rows, raters, verified, of_items), weighted

    @classmethod
    def from_trees(
        cls,
        parameters: Mapping[str, Any],
        models: Sequence[Model],
        noise: Noise,
        X: Any,
        columns: Columns,
        *,
        ranks: Ints,
        folds: Ints,
        out_of_fold: Floats,
        recorded_counts: Ints,
        curves: Sequence[Sequence[float]] = (),
        reading: Reading | None = None,
        name: str = TREES,
        groups: Ints | None = None,
    ) -> Self:
        """A fitted classifier of trees that were grown elsewhere, such as on parts of a table.

        Parameters
        ----------
        parameters : mapping
            Of the classifier; `classes` among them.
        models : sequence
            Ordered trees, one per fold.
        noise : Noise
            With its answer.
        X : frame of shape (n_samples, n_features)
            A sample of the training rows, from which prediction sets and scores come.
        columns : Columns
            How the columns of `X` become numbers, by all training rows.
        ranks, folds, out_of_fold : arrays of n_samples rows
            Recorded labels, folds, and probabilities of the true label by the model that did not see the row.
        recorded_counts : int array of shape (n_classes,)
            Recorded labels of all training rows.
        curves, reading
            Losses of the held-out rows of each model; how text is read.
        name : str
            What the models are; "class shares" if they have no trees.
        groups : int array of shape (n_samples,), optional
            Numbers from 0; rows of one group are not independent, which widens the intervals of scores.
        """
        model = cls("boosting", **parameters)
        model._checked_features(X, reset=True)
        model.columns_, model.classes_ = columns, np.array(parameters["classes"])
        filling = Filling.of(model._checked_features(X, reset=False), columns.categories)
        coding = TableCoding(model.n_features_in_, columns, filling, reading or Reading())
        likelihood = (out_of_fold @ noise.matrix)[np.arange(len(ranks)), ranks]
        selection, answered = {name: float(logs(likelihood).mean())}, as_answered(out_of_fold, noise)
        model._keep(
            FittedBlend(
                coding, {name: tuple(models)}, {name: 1.0}, noise, selection, folds[None], answered,
                {name: tuple(curves)},
            )
        )  # fmt: skip
        some = evenly(len(ranks))
        together = None if groups is None else groups[some]
        model._keep_out_of_fold(answered[some], ranks[some], None, np.ones(len(ranks[some])), together)
        model.training_facts_["recorded_counts"] = recorded_counts.tolist()
        return model

    def _keep(self, blend: FittedBlend) -> None:
        self.blend_, self.noise_, self.columns_ = blend, blend.noise, blend.coding.columns
        self.models_, self.weights_, self.selection_ = blend.models, blend.weights, blend.selection
        self.learner_, self.folds_, self.out_of_fold_ = blend.learner, blend.folds, blend.out_of_fold
        self.curves_, self.recorded_out_of_fold_ = blend.curves, blend.recorded_out_of_fold

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes).

        Of the true label if ``noise_.answer`` is "corrected", else of the label as it would be recorded.
        """
        check_is_fitted(self, "models_")
        return self.blend_.probabilities(self.table_of(X), self.n_jobs)

    def table_of(self, X: Any) -> Table:
        """New rows as the fitted models read them."""
        X = as_native(X)
        return self.blend_.coding.table(X, self._checked_features(X, reset=False))

    def _add_to_onnx(self, graph: Any) -> str:
        return self.blend_.add_to_onnx(graph)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return self.blend_.state()

    def _restore(self, settings: dict[str, Any], arrays: Arrays) -> None:
        self._keep(FittedBlend.of_state(settings, arrays, self.noise_, self.n_features_in_))
