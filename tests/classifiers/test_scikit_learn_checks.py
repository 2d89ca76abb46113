"""scikit-learn's own checks over every classifier, in the settings that they must hold in."""

from typing import Any

from sklearn.base import clone
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, parametrize_with_checks

from ordinoise import OrdinalBoostingClassifier, OrdinalMLPClassifier
from sklearn_failures import TEXT_CHECKS

MINI_BATCHES = "mini-batches of repeated samples are other batches than those of weighted ones; full batches agree"

# All epochs: one check compares the median with the mode, which differ where a network has learned little.
MEDIAN = OrdinalMLPClassifier(max_iter=30, learning_rate_init=0.02, early_stopping=False, random_state=0)
MODE = clone(MEDIAN).set_params(decision="mode", early_stopping="auto")

COUNTS = "LightGBM's bins and leaves count rows; where no count matters, weights equal repetition"

FEW_TREES: dict[str, Any] = {"n_estimators": 60, "learning_rate": 0.3, "n_jobs": 1, "random_state": 0}
TREES = OrdinalBoostingClassifier(early_stopping=False, min_child_samples=1, reg_lambda=0.0, subsample=1.0, **FEW_TREES)
STOPPED = OrdinalBoostingClassifier(head="softmax", decision="mode", **FEW_TREES)


def _expected_failures(estimator: Any) -> dict[str, str]:
    reason = MINI_BATCHES if isinstance(estimator, OrdinalMLPClassifier) else COUNTS
    checks = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
    return TEXT_CHECKS | ({} if estimator is STOPPED else dict.fromkeys(checks, reason))


@parametrize_with_checks([MEDIAN, MODE, TREES, STOPPED], expected_failed_checks=_expected_failures)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


def test_full_batches_pass_the_check_of_weights_and_repetition() -> None:
    """Few steps: the check compares to 1e-7, which is also what one rounding in float32 amounts to."""
    full = OrdinalMLPClassifier(max_iter=3, batch_size=100_000, random_state=0)
    check_sample_weight_equivalence_on_dense_data("OrdinalMLPClassifier", full)
