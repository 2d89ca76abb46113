"""A linear network fitted to a few dense columns: L-BFGS over all rows, since the unknowns are few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .convex import Records, _ordered_loss
from .network import Network

Floats = NDArray[np.float64]

RIDGE = 1e-5  # per squared weight, so that columns that repeat each other have one solution; a round number


def fit_dense_linear(start: Network, records: Records) -> Network:
    """The ordered network without hidden layer that has the least forward loss of the records.

    Parameters
    ----------
    start : Network
        Where the search starts; also holds the standardization.
    records : Records
        Dense rows before the standardization.
    """
    rows = (records.features - start.center) / start.scale
    n_weights = rows.shape[1]

    def loss_and_slope(free: Floats) -> tuple[float, Floats]:
        weights, offsets = free[:n_weights], free[n_weights:]
        loss, by_output, by_offset = _ordered_loss((rows @ weights)[:, None], offsets, records)
        by_weight = by_output[:, 0] @ rows + RIDGE * weights
        return loss + RIDGE / 2 * float(weights @ weights), np.concatenate([by_weight, by_offset])

    first = np.concatenate([start.arrays[name].ravel() for name in ("output_weights", "offsets")]).astype(np.float64)
    found = minimize(loss_and_slope, first, jac=True, method="L-BFGS-B", options={"maxiter": 200, "ftol": 1e-7}).x
    return replace(start, parameters=found.astype(np.float32))
