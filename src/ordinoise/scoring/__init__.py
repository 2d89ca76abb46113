"""How good a model is, on recorded labels and, corrected for noise, on clean ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinoise._lazy import lazy_names

if TYPE_CHECKING:
    from ordinoise.scoring.bounds import noisy_labels_per_clean_label as noisy_labels_per_clean_label
    from ordinoise.scoring.calibration import fit_scaling as fit_scaling
    from ordinoise.scoring.evaluation import Evaluation as Evaluation
    from ordinoise.scoring.evaluation import evaluate as evaluate
    from ordinoise.scoring.evaluation import evaluate_probabilities as evaluate_probabilities
    from ordinoise.scoring.judges import Judgment as Judgment
    from ordinoise.scoring.judges import judge as judge
    from ordinoise.scoring.metrics import METRICS as METRICS
    from ordinoise.scoring.metrics import CorrectedScore as CorrectedScore
    from ordinoise.scoring.metrics import accuracy_off1_score as accuracy_off1_score
    from ordinoise.scoring.metrics import average_mean_absolute_error as average_mean_absolute_error
    from ordinoise.scoring.metrics import kendall_tau as kendall_tau
    from ordinoise.scoring.metrics import linear_weighted_kappa as linear_weighted_kappa
    from ordinoise.scoring.metrics import mean_absolute_error as mean_absolute_error
    from ordinoise.scoring.metrics import noise_corrected as noise_corrected
    from ordinoise.scoring.metrics import quadratic_weighted_kappa as quadratic_weighted_kappa
    from ordinoise.scoring.metrics import ranked_probability_score as ranked_probability_score
    from ordinoise.scoring.metrics import scorer as scorer
    from ordinoise.scoring.metrics import zero_one_loss as zero_one_loss
    from ordinoise.scoring.reliability import reliability_curve as reliability_curve
    from ordinoise.scoring.sets import PredictionSets as PredictionSets
    from ordinoise.scoring.sets import calibrate_sets as calibrate_sets
    from ordinoise.scoring.sets import prediction_sets as prediction_sets

_ORIGINS = {
    "CorrectedScore": "metrics",
    "Evaluation": "evaluation",
    "Judgment": "judges",
    "METRICS": "metrics",
    "PredictionSets": "sets",
    "accuracy_off1_score": "metrics",
    "average_mean_absolute_error": "metrics",
    "calibrate_sets": "sets",
    "evaluate": "evaluation",
    "evaluate_probabilities": "evaluation",
    "fit_scaling": "calibration",
    "judge": "judges",
    "kendall_tau": "metrics",
    "linear_weighted_kappa": "metrics",
    "mean_absolute_error": "metrics",
    "noise_corrected": "metrics",
    "noisy_labels_per_clean_label": "bounds",
    "prediction_sets": "sets",
    "quadratic_weighted_kappa": "metrics",
    "ranked_probability_score": "metrics",
    "reliability_curve": "reliability",
    "scorer": "metrics",
    "zero_one_loss": "metrics",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _ORIGINS)
