"""Which learners take part in a blend, and with which settings, by the number of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ordinoise.classifiers.blend.candidates import (
    MANY_ROWS,
    Candidate,
    LinearCandidate,
    NetworkCandidate,
    TreesCandidate,
)
from ordinoise.learners.boosting import BoosterSettings

# Candidates and their settings were compared on seeds 100 and above of the accuracy study's sets (decision 0011).
FEW_ROWS = 2000
SMALL_TABLE = 1000
"""Below this a linear network that stops early takes part too: on 105 rows of eight sets, seeds 100 to 105, it lowered
the mean error from .626 to .622. It was one of 29 variants tried there, several of them as good (decision 0016)."""
LARGE_TABLE = 8000
"""From this on networks take larger steps, trees have more leaves, and candidates are raced (decision 0024)."""
LARGER_TABLE = 32_000
"""Above this there are four folds, and "auto" has no large network and no softmax trees, which add little there
(decision 0024)."""
MOST_ROWS = 800_000
"""Above this there are two folds (decision 0024)."""


def usual_folds(n_samples: int) -> int:
    """Number of folds: a model that learns from many rows hardly misses those that are held out."""
    return 5 if n_samples <= LARGER_TABLE else 4 if n_samples <= MANY_ROWS else 3 if n_samples <= MOST_ROWS else 2


def dense_candidates(learner: str, n_samples: int, categorical: tuple[int, ...]) -> dict[str, Candidate]:
    """The learners of dense columns that take part, by name, with settings for this many samples."""
    networks = _few_networks(n_samples) if n_samples < FEW_ROWS else _many_networks(n_samples)
    trees = _trees(n_samples, categorical)
    if n_samples > (LARGER_TABLE if learner == "auto" else MANY_ROWS):
        del networks["large network"], trees["softmax trees"]
    elif n_samples >= LARGE_TABLE and learner == "auto":
        del networks["small network"]  # beside the large one it had no weight
    return {**({} if learner == "boosting" else networks), **({} if learner == "mlp" else trees)}


def _few_networks(n_samples: int) -> dict[str, Candidate]:
    # Few rows mean few updates per epoch: larger steps, smaller batches, more patience.
    stopping: dict[str, Any] = {"stops": True, "patience": 30, "max_epochs": 400}
    found: dict[str, Candidate] = {"linear network": NetworkCandidate((), 0.003)}
    if n_samples < SMALL_TABLE:
        found["stopped linear network"] = NetworkCandidate((), 0.01, **stopping)
    found["small network"] = NetworkCandidate((32,), 0.01, **stopping)
    found["large network"] = NetworkCandidate((64, 64), 0.01, batch_size=32, **stopping)
    return found


def _many_networks(n_samples: int) -> dict[str, Candidate]:
    """Larger batches and fewer epochs for more rows; averages over epochs, which stop earlier at a lower loss."""
    large, batch = n_samples >= LARGE_TABLE, min(256, n_samples // 125)
    rate, patience, epochs = (0.006, 8, 60) if large else (0.003, 15, 200)
    common: dict[str, Any] = {"stops": True, "patience": patience, "averages": True, "max_epochs": epochs}
    found: dict[str, Candidate] = {
        "linear network": LinearCandidate(),
        "small network": NetworkCandidate((32,), rate, batch_size=max(16, batch), **common),
    }
    if large:
        rate, batch, common["patience"] = 0.01, 256, 6
    found["large network"] = NetworkCandidate((64, 64), rate, batch_size=max(64, batch), **common)
    return found


def _trees(n_samples: int, categorical: tuple[int, ...]) -> dict[str, Candidate]:
    few = n_samples < FEW_ROWS
    settings = BoosterSettings(
        learning_rate=0.1,
        num_leaves=31 if n_samples >= LARGE_TABLE else 15,
        min_child_samples=min(20, max(1, n_samples // 8)),
        subsample=0.8,
        colsample_bytree=0.8,
        reg_lambda=1.0,
        categorical=categorical,
        n_jobs=1,
    )
    # A noisy record tells less than a true one, so that the correction needs more rounds of the same step.
    patience = 30 if few else 20
    common: dict[str, Any] = {"patience": patience, "corrected_patience": patience}
    common["corrected_rate"] = 0.1 if few else 0.2 if n_samples <= MANY_ROWS else 0.3
    softmax, ordered = (TreesCandidate(head, settings, **common) for head in ("softmax", "ordered"))
    if n_samples >= LARGE_TABLE:
        # With many rows held out these end where they would with more patience, and a round of softmax grows K trees.
        softmax = replace(softmax, patience=10, corrected_patience=10)
        ordered = replace(ordered, settings=replace(settings, learning_rate=0.15))
    if LARGE_TABLE <= n_samples <= LARGER_TABLE:  # where several learners make up for each other's haste
        softmax, ordered = replace(softmax, patience=6), replace(ordered, patience=10, corrected_rate=0.25)
    return {"softmax trees": softmax, "ordered trees": ordered}
