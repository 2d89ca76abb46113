"""ordinoise: learn ordered grades from labels that people got wrong, and find the ones to fix.

Robustness is a table of numbers: a noise matrix, indexed ``[true, recorded]``, is all that training,
evaluation, audit and planning need to know about the noise.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# Name -> module. Read on first use, so that `import ordinoise` and the command line load only what they need.
_PUBLIC = {
    "AnchorPoints": "estimation",
    "NoiseAwareClassifier": "estimators",
    "OrdinalBoostingClassifier": "estimators",
    "OrdinalClassifier": "estimators",
    "OrdinalMLPClassifier": "estimators",
    "OrdinalTorchClassifier": "estimators",
    "RepeatedLabels": "estimation",
    "ScoreLikelihood": "estimation",
    "adjacent": "noise",
    "corrected_levels": "levels",
    "correction_matrix": "noise",
    "corrupt": "noise",
    "evaluate": "evaluation",
    "exponential_decay": "noise",
    "find_label_issues": "audit",
    "inverse_decay": "noise",
    "load_model": "estimators",
    "noise_corrected": "metrics",
    "noise_properties": "noise",
    "power_decay": "noise",
    "safe_noise_matrix": "noise",
    "uniform": "noise",
}

__all__ = ["__version__", *sorted(_PUBLIC)]

if TYPE_CHECKING:
    from ordinoise.audit import find_label_issues as find_label_issues
    from ordinoise.estimation import AnchorPoints as AnchorPoints
    from ordinoise.estimation import RepeatedLabels as RepeatedLabels
    from ordinoise.estimation import ScoreLikelihood as ScoreLikelihood
    from ordinoise.estimators import NoiseAwareClassifier as NoiseAwareClassifier
    from ordinoise.estimators import OrdinalBoostingClassifier as OrdinalBoostingClassifier
    from ordinoise.estimators import OrdinalClassifier as OrdinalClassifier
    from ordinoise.estimators import OrdinalMLPClassifier as OrdinalMLPClassifier
    from ordinoise.estimators import OrdinalTorchClassifier as OrdinalTorchClassifier
    from ordinoise.estimators import load_model as load_model
    from ordinoise.evaluation import evaluate as evaluate
    from ordinoise.levels import corrected_levels as corrected_levels
    from ordinoise.metrics import noise_corrected as noise_corrected
    from ordinoise.noise import adjacent as adjacent
    from ordinoise.noise import correction_matrix as correction_matrix
    from ordinoise.noise import corrupt as corrupt
    from ordinoise.noise import exponential_decay as exponential_decay
    from ordinoise.noise import inverse_decay as inverse_decay
    from ordinoise.noise import noise_properties as noise_properties
    from ordinoise.noise import power_decay as power_decay
    from ordinoise.noise import safe_noise_matrix as safe_noise_matrix
    from ordinoise.noise import uniform as uniform


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ordinoise' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ordinoise.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return __all__
