"""What the two network classifiers share: logits cut by thresholds, the tables of their losses, training curves."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from ordinoise._validation import Floats, Ints, as_choice, as_count, as_number, complain
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.estimation.resolution import levels_for, needs_data, warn_of_hard_noise
from ordinoise.levels import class_probabilities, labels_from_logits, level_table, log_class_probabilities
from ordinoise.noise import Noise
from ordinoise.steps import automatic_batch_size

CORRECTIONS = ("forward", "unbiased")
LOSSES = ("cross_entropy", "hinge")
THRESHOLDS = ("ordered", "free")
FEWEST_ROWS = 200
"""Samples from which "auto" stops early. On six tables the mean error fell by .02 at 120 and 200 samples and by .07 at
500, and rose by .04 at 60, where 6 samples judge; two smooth tables still lost .06 to .08 at 200. See
`python -m studies.networks rows`."""
PAPER: dict[str, Any] = {"hidden_layer_sizes": (10,), "learning_rate_init": 0.001, "weight_decay": 0.01}
"""What "auto" stands for where all epochs run: the paper's settings."""
STOPPED: dict[str, Any] = {"hidden_layer_sizes": (50,), "learning_rate_init": 0.002, "weight_decay": 0.01}
"""What "auto" stands for with early stopping; the decay is per column. Chosen among widths of 10 and 50, rates of .001
to .003 and decays of .01 to 3 on seeds 100 to 105: the errors on four text sets fell by .001 to .021 below those of the
paper's settings, stopped early; on five tables, noise trusted or known, they changed by -.088 to +.007."""
LARGEST_DECAY = 1.0  # that of 100 columns; a decay of 3 made the errors of the same runs larger
CURVES = ("loss_curve", "validation_curve", "n_iter", "n_updates", "threshold_inversions")
"""Fitted attributes, without the underscore at the end, that describe the training."""


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkClassifierBase(OrdinalClassifierBase):
    """One score per sample, cut by thresholds; a learner adds `fit`, `_logits` and `_thresholds`."""

    loss_curve_: list[float] = field(init=False)
    validation_curve_: list[float] = field(init=False)
    n_iter_: int = field(init=False)
    n_updates_: int = field(init=False)
    threshold_inversions_: int = field(init=False)

    noise: Any = None
    correction: Literal["forward", "unbiased"] = "forward"
    loss: Literal["cross_entropy", "hinge"] = "cross_entropy"
    thresholds: Literal["ordered", "free"] = "ordered"
    decision: Any = "median"
    classes: Any = None
    class_weight: Any = None
    hidden_layer_sizes: Any = "auto"
    activation: str = "relu"
    learning_rate_init: float | Literal["auto"] = "auto"
    batch_size: int | Literal["auto"] = "auto"
    max_iter: int = 200  # the paper's
    weight_decay: float | Literal["auto"] = "auto"
    decay_thresholds: bool = False
    early_stopping: bool | Literal["auto"] = "auto"
    validation_fraction: float = 0.1
    n_iter_no_change: int = 10
    tol: float = 1e-4
    shuffle: bool = True
    random_state: Any = None
    warm_start: bool = False
    verbose: bool = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _logits(self, X: Any) -> Floats:
        """Score plus thresholds, shape (n_samples, n_classes - 1)."""

    @abstractmethod
    def _thresholds(self) -> Floats | None:
        """Thresholds of the fitted network; None before `fit`."""

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (n_samples, n_classes); valid also for unordered thresholds."""
        return class_probabilities(self._logits(X))

    @property
    def thresholds_(self) -> Floats:
        """Added to the score, descending (the paper's b)."""
        thresholds = self._thresholds()
        if thresholds is None:
            raise AttributeError(f"{type(self).__name__} has no thresholds before it is fitted")
        return thresholds

    @property
    def cutpoints_(self) -> Floats:
        """Cuts of the score axis, ascending: minus the thresholds."""
        return -self.thresholds_

    def _log_probabilities(self, X: Any) -> Floats:
        return log_class_probabilities(self._logits(X))

    def _decide(self, X: Any, decision: Any) -> Ints:
        # The number of positive logits is the median, without the rounding of probabilities near one half.
        if isinstance(decision, str) and decision == "median":
            return labels_from_logits(self._logits(X))
        return super()._decide(X, decision)

    def _check_losses(self) -> None:
        as_choice("correction", self.correction, CORRECTIONS)
        as_choice("loss", self.loss, LOSSES)
        as_choice("thresholds", self.thresholds, THRESHOLDS)
        as_count("max_iter", self.max_iter, 1)
        as_number("tol", self.tol, 0.0, np.inf)
        if isinstance(self.early_stopping, str):
            as_choice("early_stopping", self.early_stopping, ["auto"])
        if self.noise is not None and self.correction == "forward" and self.loss != "cross_entropy":
            advice = "correction='unbiased' takes any loss"
            raise complain("loss", "be 'cross_entropy' for the forward correction", repr(self.loss), advice)

    def _check_known_noise(self) -> None:
        if needs_data(self.noise):
            advice = "fit once, then pass its noise_"
            raise complain("noise", "be known in partial_fit", repr(self.noise), advice)

    def _check_same_classes(self, classes: NDArray[Any]) -> None:
        if not np.array_equal(classes, self.classes_):
            raise complain("y", f"hold the classes of the earlier fit, {self.classes_.tolist()}", classes.tolist())

    def _loss_table(self, noise: Noise, n_rows: int) -> tuple[str, Floats]:
        """Name of the loss, and one table per noise matrix: levels, noise matrices or corrected levels."""
        if noise.source == "trusted":
            return self.loss, level_table(noise.n_classes)[None]
        if self.correction == "forward":
            return "forward", noise.matrices
        warn_of_hard_noise(noise.matrices, n_rows)
        return self.loss, levels_for(noise.matrices)

    def _layer_sizes(self, *, stops: bool) -> tuple[int, ...]:
        given = self._setting("hidden_layer_sizes", stops=stops)
        sizes: Any = (given,) if np.isscalar(given) else given
        return tuple(as_count("hidden_layer_sizes", size, 1) for size in sizes)

    def _learning_rate(self, *, stops: bool) -> float:
        rate = self._setting("learning_rate_init", stops=stops)
        return as_number("learning_rate_init", rate, 0.0, np.inf, open_low=True)

    def _decay(self, *, stops: bool, n_columns: int = 1) -> float:
        """Weight decay; the automatic one grows with the columns, so that many weak ones add up to no large score."""
        decay = as_number("weight_decay", self._setting("weight_decay", stops=stops), 0.0, np.inf)
        return min(n_columns * decay, LARGEST_DECAY) if stops and isinstance(self.weight_decay, str) else decay

    def _setting(self, name: str, *, stops: bool) -> Any:
        """The parameter, or what "auto" stands for with early stopping or without."""
        given = getattr(self, name)
        if not isinstance(given, str):
            return given
        as_choice(name, given, ["auto"])
        return (STOPPED if stops else PAPER)[name]

    def _batch_rows(self, n_rows: int) -> int:
        """Rows per update."""
        if isinstance(self.batch_size, str):
            as_choice("batch_size", self.batch_size, ["auto"])
            return automatic_batch_size(n_rows)
        return min(as_count("batch_size", self.batch_size, 1), max(n_rows, 1))

    def _stopping_share(self, n_rows: int) -> float:
        """Share of `n_rows` samples to stop by; 0 without early stopping."""
        fraction = as_number("validation_fraction", self.validation_fraction, 0.0, 0.9, open_low=True)
        stops = n_rows >= FEWEST_ROWS if isinstance(self.early_stopping, str) else self.early_stopping
        return fraction if stops else 0.0

    def _keep_curves(self, training: Any, *, adds: bool) -> None:
        """Store the curves and counts of either learner's training; `adds` puts them on top of the earlier ones."""
        self.loss_curve_ = [*(self.loss_curve_ if adds else []), *training.loss_curve]
        self.validation_curve_ = training.validation_curve
        self.n_iter_ = (self.n_iter_ if adds else 0) + training.n_epochs
        self.n_updates_ = (self.n_updates_ if adds else 0) + training.n_updates
        self.threshold_inversions_ = (self.threshold_inversions_ if adds else 0) + training.threshold_inversions
