"""Label noise: the probability of each recorded grade given each true grade, and how certain it is.

Everywhere in ordinoise ``noise_matrix[true, recorded]``: a row is a true label, and rows sum to one.
"""

from __future__ import annotations

from ordinoise.noise.items import in_region, near_cuts, perceived
from ordinoise.noise.matrices import (
    adjacent,
    correction_matrix,
    corrupt,
    exponential_decay,
    from_cleanlab,
    inverse_decay,
    power_decay,
    safe_noise_matrix,
    uniform,
)
from ordinoise.noise.properties import NoiseProperties, noise_properties
from ordinoise.noise.record import Doubt, Noise

__all__ = [
    "Doubt",
    "Noise",
    "NoiseProperties",
    "adjacent",
    "correction_matrix",
    "corrupt",
    "exponential_decay",
    "from_cleanlab",
    "in_region",
    "inverse_decay",
    "near_cuts",
    "noise_properties",
    "perceived",
    "power_decay",
    "safe_noise_matrix",
    "uniform",
]
