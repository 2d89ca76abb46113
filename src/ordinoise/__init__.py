"""ordinoise: learn ordered grades from labels that people got wrong, and find the ones to fix.

Robustness is a table of numbers: a noise matrix, indexed ``[true, recorded]``, is all that training,
evaluation, audit and planning need to know about the noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinoise._lazy import lazy_names

if TYPE_CHECKING:
    from ordinoise.audit import find_label_issues as find_label_issues
    from ordinoise.audit import issues_from_probabilities as issues_from_probabilities
    from ordinoise.audit import out_of_fold as out_of_fold
    from ordinoise.classifiers import NoiseAwareClassifier as NoiseAwareClassifier
    from ordinoise.classifiers import OrdinalBoostingClassifier as OrdinalBoostingClassifier
    from ordinoise.classifiers import OrdinalClassifier as OrdinalClassifier
    from ordinoise.classifiers import OrdinalMLPClassifier as OrdinalMLPClassifier
    from ordinoise.classifiers import OrdinalTorchClassifier as OrdinalTorchClassifier
    from ordinoise.classifiers import load_model as load_model
    from ordinoise.estimation import AnchorPoints as AnchorPoints
    from ordinoise.estimation import RepeatedLabels as RepeatedLabels
    from ordinoise.estimation import ScoreLikelihood as ScoreLikelihood
    from ordinoise.levels import corrected_levels as corrected_levels
    from ordinoise.noise import Noise as Noise
    from ordinoise.noise import adjacent as adjacent
    from ordinoise.noise import correction_matrix as correction_matrix
    from ordinoise.noise import corrupt as corrupt
    from ordinoise.noise import exponential_decay as exponential_decay
    from ordinoise.noise import inverse_decay as inverse_decay
    from ordinoise.noise import noise_properties as noise_properties
    from ordinoise.noise import power_decay as power_decay
    from ordinoise.noise import safe_noise_matrix as safe_noise_matrix
    from ordinoise.noise import uniform as uniform
    from ordinoise.scoring import evaluate as evaluate
    from ordinoise.scoring import noise_corrected as noise_corrected

__version__ = "0.2.0"

_ORIGINS = {
    "AnchorPoints": "estimation",
    "Noise": "noise",
    "NoiseAwareClassifier": "classifiers",
    "OrdinalBoostingClassifier": "classifiers",
    "OrdinalClassifier": "classifiers",
    "OrdinalMLPClassifier": "classifiers",
    "OrdinalTorchClassifier": "classifiers",
    "RepeatedLabels": "estimation",
    "ScoreLikelihood": "estimation",
    "adjacent": "noise",
    "corrected_levels": "levels",
    "correction_matrix": "noise",
    "corrupt": "noise",
    "evaluate": "scoring",
    "exponential_decay": "noise",
    "find_label_issues": "audit",
    "inverse_decay": "noise",
    "issues_from_probabilities": "audit",
    "load_model": "classifiers",
    "noise_corrected": "scoring",
    "noise_properties": "noise",
    "out_of_fold": "audit",
    "power_decay": "noise",
    "safe_noise_matrix": "noise",
    "uniform": "noise",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _ORIGINS)
