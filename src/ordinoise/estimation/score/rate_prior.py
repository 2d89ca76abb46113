"""What somebody expects of the share of wrong labels, before any label is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from ordinoise._validation import as_number, complain

PRIOR_RATE_SD = 0.25
"""Standard deviation, on the logit scale, of a rate without one: .15 means about .10 to .22. A convention."""
SMALLEST_RATE = 1e-9  # keeps the logit of a noise rate finite


@dataclass(frozen=True)
class RatePrior:
    """A normal prior of the noise rate: of the rate itself, or of its logit."""

    center: float
    sd: float
    is_logit: bool = False

    def residual(self, rate: float) -> float:
        """Standard deviations between the rate and the center."""
        place = logit(np.clip(rate, SMALLEST_RATE, 1 - SMALLEST_RATE)) if self.is_logit else rate
        return float((place - self.center) / self.sd)

    def slope(self, rate: float) -> float:
        """Derivative of the residual."""
        return 1 / max(rate * (1 - rate), SMALLEST_RATE) / self.sd if self.is_logit else 1 / self.sd

    @property
    def rules_out_zero(self) -> bool:
        """Whether labels free of noise contradict it."""
        return self.is_logit


def as_rate_prior(prior_rate: Any) -> RatePrior | None:
    """The prior that a share of wrong labels stands for, alone or with its standard deviation."""
    if prior_rate is None:
        return None
    if isinstance(prior_rate, (tuple, list, np.ndarray)):
        if len(prior_rate) != 2:
            raise complain("prior_rate", "be a share or a pair (share, standard deviation)", repr(prior_rate))
        share, sd = prior_rate
        return RatePrior(as_number("prior_rate", share, 0.0, 0.99), as_number("prior_rate's sd", sd, 1e-4, 1.0))
    return RatePrior(float(logit(as_number("prior_rate", prior_rate, 0.0, 0.99, open_low=True))), PRIOR_RATE_SD, True)
