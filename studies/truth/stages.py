"""One table through the stages of a review: what the count says at each, beside the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinoise._validation import Floats, Ints
from ordinoise.audit import issues_from_probabilities, spot_check
from ordinoise.audit.posterior import credit_in_doubt, posterior
from ordinoise.audit.prevalence.count import Count, Table
from ordinoise.audit.prevalence.sums import Sums, Traits, shape_of
from ordinoise.audit.prevalence.verdicts import Verdicts
from ordinoise.estimation.score.cells import ScoreCells
from ordinoise.estimation.score.estimator import noise_from_probabilities
from ordinoise.estimation.score.predictive import contradicts
from studies.truth import tables

CHOSEN = (10, 30, 50, 100)
RANDOM = (30, 60, 120, 240)
N_DRAWS = 25
CHECKED = (("random", 20), ("random", 60), ("chosen", 20), ("chosen", 50))
N_NEXT = 40


@dataclass(frozen=True, eq=False)
class Case:
    """A table that is counted in: what the count reads of each row, the order of suspicion, and the truth."""

    table: Table
    rows: Traits
    order: Ints
    is_wrong: NDArray[np.bool_]

    @classmethod
    def of(cls, made: tables.Table) -> Case:
        """The case of a table whose truth is known."""
        suspicion = suspicion_of(made)
        cells = ScoreCells.from_sample(made.probabilities)
        rows = Traits.of(cells, made.probabilities, made.recorded, suspicion)
        sums = Sums.of(rows, *shape_of(cells, made.probabilities.shape[1]))
        order = np.argsort(-suspicion, kind="stable")
        return cls(Table.of(cells, sums), rows, order, made.true != made.recorded)

    def count(self, chosen: Ints, random: Ints) -> Count:
        """The count after rows were verified by reviewers who do not err."""
        rows = np.concatenate([chosen, random])
        n_rows = len(rows)
        is_random = np.arange(n_rows) >= len(chosen)
        found = Verdicts(rows, self.is_wrong[rows], np.zeros(n_rows, dtype=bool), is_random, np.zeros(n_rows))
        return self.table.count(found, self.rows.among(rows))

    def n_left(self, verified: Ints) -> int:
        """Wrong labels among the rows that are not verified."""
        return int(self.is_wrong.sum() - self.is_wrong[verified].sum())


def suspicion_of(made: tables.Table) -> Floats:
    """The chance of another grade if the record gets no more credit than its neighbors."""
    after = posterior(made.probabilities, made.recorded, credit_in_doubt(made.probabilities.shape[1]))
    return np.asarray(1 - after[np.arange(len(after)), made.recorded])


def measured(made: tables.Table, rng: np.random.Generator) -> dict[str, Any]:
    """What holds at every stage, in shares of the rows."""
    case, nothing = Case.of(made), np.empty(0, dtype=np.int64)
    n_rows = len(made.true)
    found: dict[str, Any] = {
        "rows": n_rows,
        "wrong": int(case.is_wrong.sum()),
        "far": int((np.abs(made.true - made.recorded) > 1).sum()),
        "nothing": _range(case, case.count(nothing, nothing), nothing, n_rows),
    }
    for k in (k for k in CHOSEN if k <= n_rows // 3):
        chosen = case.order[:k]
        found[f"chosen {k}"] = _range(case, case.count(chosen, nothing), chosen, n_rows)
    found["forecast"] = _forecasts(case)
    for n_chosen in (0, 30):
        for m in (m for m in RANDOM if m <= n_rows // 2):
            found[f"random {m} after {n_chosen}"] = _samples(case, case.order[:n_chosen], m, rng)
    found["check"] = _checks(case, made, rng)
    return found


def _range(case: Case, count: Count, verified: Ints, n_rows: int) -> dict[str, Any]:
    truth = case.n_left(verified)
    return {
        "left": truth,
        "floor": count.floor,
        "low_holds": bool(count.left.low <= truth),
        "high_holds": bool(count.left.high >= truth),
        "high": count.left.high / n_rows,
        "refuted": count.is_refuted,
    }


def _forecasts(case: Case) -> dict[str, bool]:
    """Whether the next rows hold no more wrong labels than said, after 10, 20 and 50."""
    nothing, held = np.empty(0, dtype=np.int64), {}
    for k in (10, 20, 50):
        most = case.count(case.order[:k], nothing).n_next
        assert most is not None
        held[str(k)] = bool(case.is_wrong[case.order[k : k + N_NEXT]].sum() <= most)
    return held


def _samples(case: Case, chosen: Ints, m: int, rng: np.random.Generator) -> dict[str, float]:
    """Means over draws of a random sample among the rows that were not chosen."""
    n_rows, others = len(case.is_wrong), np.setdiff1d(np.arange(len(case.is_wrong)), chosen)
    found: dict[str, list[float]] = {}
    for _ in range(N_DRAWS):
        random = rng.choice(others, m, replace=False)
        count, truth = case.count(chosen, random), case.n_left(np.concatenate([chosen, random]))
        exact = spot_check(len(others), m, int(case.is_wrong[random].sum()))
        n_found = int(case.is_wrong[random].sum())
        one = {
            "holds": count.left.low <= truth <= count.left.high,
            "passes": count.left.high < truth,
            "fails": count.left.low > truth,
            "width": (count.left.high - count.left.low) / n_rows,
            "exact_holds": exact.low <= truth + n_found <= exact.high,
            "exact_width": (exact.high - exact.low) / n_rows,
            "off": abs(count.left.value - truth) / n_rows,
            "bias": (count.left.value - truth) / n_rows,
        }
        for name, value in one.items():
            found.setdefault(name, []).append(float(value))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _checks(case: Case, made: tables.Table, rng: np.random.Generator) -> dict[str, Any]:
    """How often verified rows contradict the estimate by a matrix, and whether its interval was right."""
    noise = noise_from_probabilities(made.probabilities, made.recorded, random_state=0)
    if noise.rate_interval is None:
        return {}
    n_rows = len(made.true)
    low, high = (share * n_rows for share in noise.rate_interval)
    issues = issues_from_probabilities(
        made.probabilities, made.recorded, noise, of="recorded", classes=range(made.probabilities.shape[1])
    )
    under_matrix = 1 - issues.posterior[np.arange(n_rows), made.recorded]
    found: dict[str, Any] = {"right": bool(low <= case.is_wrong.sum() <= high)}
    for way, k in CHECKED:
        drawn = [rng.choice(n_rows, k, replace=False) for _ in range(10)] if way == "random" else [case.order[:k]]
        refuted = [contradicts(under_matrix, (low, high), rows, case.is_wrong[rows]) for rows in drawn]
        found[f"{way} {k}"] = float(np.mean(refuted))
    return found
