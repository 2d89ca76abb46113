"""scikit-learn classifiers over the learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinoise._lazy import lazy_names

if TYPE_CHECKING:
    from ordinoise.classifiers.boosting import OrdinalBoostingClassifier as OrdinalBoostingClassifier
    from ordinoise.classifiers.card import ModelCard as ModelCard
    from ordinoise.classifiers.mlp import OrdinalMLPClassifier as OrdinalMLPClassifier
    from ordinoise.classifiers.noise_aware import NoiseAwareClassifier as NoiseAwareClassifier
    from ordinoise.classifiers.ordinal import OrdinalClassifier as OrdinalClassifier
    from ordinoise.classifiers.saving import load_model as load_model
    from ordinoise.classifiers.torch import OrdinalTorchClassifier as OrdinalTorchClassifier
    from ordinoise.classifiers.words import word_contributions as word_contributions

_ORIGINS = {
    "ModelCard": "card",
    "NoiseAwareClassifier": "noise_aware",
    "OrdinalBoostingClassifier": "boosting",
    "OrdinalClassifier": "ordinal",
    "OrdinalMLPClassifier": "mlp",
    "OrdinalTorchClassifier": "torch",
    "load_model": "saving",
    "word_contributions": "words",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _ORIGINS)
