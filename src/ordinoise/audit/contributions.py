"""Which columns speak for one grade and against another, row by row, by the models that did not see the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints, as_count, as_generator, as_same_length, complain
from ordinoise.classifiers.blend.mixture import average
from ordinoise.classifiers.blend.table import Table
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.crossfit import kept_apart
from ordinoise.labels import ranks_of
from ordinoise.threads import n_workers

FLOOR = 1e-6  # a class of predicted probability 0 is then 14 in log-odds away from a certain one
# Rows are predicted this often at most for all contributions, and a contribution has this many draws; round numbers,
# chosen by no run.
MOST_PREDICTIONS, MOST_DRAWS, FEWEST_DRAWS = 200_000, 16, 2
# Above this many columns, those with the least gain count as one, "other columns"; a round number, chosen by no run.
MOST_COLUMNS = 30
OTHERS = "other columns"
ROWS_AT_A_TIME = 16_384  # rows that are predicted together: a call costs little then, and a table of 100 columns 13 MB


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each column adds to the log-odds of one grade against another.

    Attributes
    ----------
    names : tuple of str
        Columns of the table, or groups of them.
    values : array of shape (n_rows, n_names)
        Positive if the column speaks for the grade `toward`, negative if it speaks for `against`.
    base : array of shape (n_rows,)
        Log-odds of rows drawn at random; with the contributions of its columns they sum to the log-odds of the row.
    """

    names: tuple[str, ...]
    values: Floats
    base: Floats


def column_contributions(
    model: OrdinalClassifier,
    X: Any,
    rows: Any,
    toward: Any,
    against: Any,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    random_state: Any = 0,
) -> Contributions:
    """The contribution of every column to the log-odds of one grade against another, for some of the training rows.

    Shapley values of the whole blend, by sampling: columns of a row drawn at random are replaced by those of the row,
    one after the other in random order, and every column is credited with the change that it makes. So contributions
    sum to the difference between the row and the rows drawn, whatever the learners are. A row is judged by the models
    that did not see it.

    Parameters
    ----------
    model : OrdinalClassifier
        Fitted to `X`, in this process: a loaded model does not know which models saw which row.
    X : array, frame or Table
        The table that the model was fitted to, or what `model.table_of` makes of it.
    rows : int array of shape (n_rows,)
        Numbers of the rows to explain.
    toward, against : column of shape (n_rows,)
        Two grades for each of these rows, such as the suggested and the recorded one.
    groups : mapping of str to names of columns, optional
        Columns that count as one, such as those of an embedding.
    random_state : int, Generator, RandomState or None
        Draws of rows and of orders.
    """
    rows = np.asarray(rows, dtype=np.int64)
    ranks = [ranks_of(name, grades, model.classes_) for name, grades in (("toward", toward), ("against", against))]
    for name, found in zip(("toward", "against"), ranks, strict=True):
        as_same_length(name, len(found), "rows", len(rows))
    rng, table = as_generator(random_state), X if isinstance(X, Table) else model.table_of(X)
    folds = _folds(model, len(table.features), rows)
    players = _players(model, table, groups or {})
    odds = _Odds(model, _held_out(folds, rows), ranks[0], ranks[1])
    n_draws = int(np.clip(MOST_PREDICTIONS // max(1, len(rows) * len(players)), FEWEST_DRAWS, MOST_DRAWS))
    values, base = np.zeros((len(rows), len(players))), np.zeros(len(rows))
    n_pairs = as_count("draws", (n_draws + 1) // 2, 1)
    own = table.rows(rows)
    at_row = odds.of([own])[0]
    for _ in range(n_pairs):
        other = table.rows(rng.integers(len(table.features), size=len(rows)))
        order = rng.permutation(len(players))
        ways = order, order[::-1]  # an order and its reverse, whose errors mostly cancel
        between = [_mixed(own, other, players, way[:step]) for way in ways for step in range(1, len(way))]
        at_other, *all_steps = odds.of([other, *between])
        base += at_other / n_pairs
        for number, way in enumerate(ways):
            steps = all_steps[number * (len(way) - 1) : (number + 1) * (len(way) - 1)]
            path = np.array([at_other, *steps, at_row])
            values[:, way] += np.diff(path, axis=0).T / (2 * n_pairs)
    return Contributions(tuple(player.name for player in players), values, base)


@dataclass(frozen=True)
class _Player:
    """Columns that are replaced together: positions among the dense features, and among the sparse blocks."""

    name: str
    features: tuple[int, ...]
    counts: tuple[int, ...] = ()


def _players(model: OrdinalClassifier, table: Table, groups: Mapping[str, Sequence[str]]) -> list[_Player]:
    names = feature_names(model, table)
    grouped = {name: group for group, members in groups.items() for name in members}
    found: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        found.setdefault(grouped.get(name, name), []).append(at)
    players = [_Player(name, tuple(places)) for name, places in found.items()]
    return [*_at_most(players, _importances(model, len(names))), *_texts(model)]


def _texts(model: OrdinalClassifier) -> list[_Player]:
    """One player for each text column, with all kinds of its n-grams and its summary."""
    names = [str(name) for name in getattr(model, "feature_names_in_", range(model.n_features_in_))]
    kinds = [
        tuple(at for at, block in enumerate(model.blend_.coding.reading.blocks) if block.column == text)
        for text in range(len(model.columns_.texts))
    ]
    return [_Player(names[j], (), some) for j, some in zip(model.columns_.texts, kinds, strict=True)]


def feature_names(model: OrdinalClassifier, table: Table) -> list[str]:
    """Names of the dense features of a table; their numbers if the columns have no names."""
    n_features = table.features.shape[1]
    kept = model.columns_.kept
    names = [str(name) for name in getattr(model, "feature_names_in_", range(model.n_features_in_))]
    return (names if kept is None else [names[at] for at in kept])[:n_features]


def _importances(model: OrdinalClassifier, n_features: int) -> Floats:
    """Gain of every feature over all trees; the same for all without trees."""
    gains = np.full(n_features, 1e-9)
    for models in model.models_.values():
        for one in models:
            ensemble = getattr(one, "ensemble", None)
            if ensemble is not None:
                gains += ensemble.importances()
    return gains


def _at_most(players: list[_Player], gains: Floats) -> list[_Player]:
    if len(players) <= MOST_COLUMNS:
        return players
    order = sorted(range(len(players)), key=lambda at: -gains[list(players[at].features)].sum())
    first, rest = sorted(order[: MOST_COLUMNS - 1]), order[MOST_COLUMNS - 1 :]
    others = tuple(place for at in sorted(rest) for place in players[at].features)
    return [*(players[at] for at in first), _Player(OTHERS, others)]


def _mixed(own: Table, other: Table, players: Sequence[_Player], known: Ints) -> Table:
    """Rows whose known players are their own, and whose other columns are those of other rows."""
    features = other.features.copy()
    taken = [place for at in known for place in players[at].features]
    features[:, taken] = own.features[:, taken]
    texts = {place for at in known for place in players[at].counts}
    counts = [(own if at in texts else other).counts[at] for at in range(len(other.counts))]
    return replace(other, features=features, counts=tuple(counts))


@dataclass(frozen=True, eq=False)
class _Odds:
    """The log-odds of two grades by the models that did not see a row."""

    model: OrdinalClassifier
    held_out: list[tuple[Ints, int]]
    toward: Ints
    against: Ints

    def of(self, tables: Sequence[Table]) -> Floats:
        """Log-odds of every row of every table, shape (n_tables, n_rows)."""
        at_a_time = max(1, ROWS_AT_A_TIME // max(1, len(self.toward)))
        parts = [tables[first : first + at_a_time] for first in range(0, len(tables), at_a_time)]
        return np.concatenate([self._of_some(some) for some in parts])

    def _of_some(self, tables: Sequence[Table]) -> Floats:
        found = np.zeros((len(tables), len(self.toward), len(self.model.classes_)))

        def predicted(part: tuple[Ints, int]) -> Floats:
            places, number = part
            models = {name: (some[number],) for name, some in self.model.models_.items()}
            return average(models, self.model.weights_, Table.stacked([table.rows(places) for table in tables]))

        with ThreadPoolExecutor(n_workers(self.model.n_jobs, max(1, len(self.held_out)))) as pool:
            for (places, _), one in zip(self.held_out, pool.map(predicted, self.held_out), strict=True):
                found[:, places] += one.reshape(len(tables), len(places), -1)
        known = np.arange(found.shape[1])
        logs = np.log(found / found.sum(axis=2, keepdims=True) + FLOOR)
        return np.asarray(logs[:, known, self.toward] - logs[:, known, self.against])


def _folds(model: OrdinalClassifier, n_samples: int, rows: Ints) -> Ints:
    folds = getattr(model, "folds_", None)
    if folds is None:
        raise complain("model", "be fitted in this process", "a loaded one", "fit it again")
    as_same_length("X", n_samples, "the training rows", folds.shape[1])
    if len(rows) and not 0 <= rows.min() <= rows.max() < n_samples:
        raise complain("rows", f"be numbers from 0 to {n_samples - 1}", rows.max())
    return np.asarray(folds)


def _held_out(folds: Ints, rows: Ints) -> list[tuple[Ints, int]]:
    """Positions among `rows`, and the number of the model of each candidate that did not see them, for every draw."""
    return [(np.flatnonzero(some), number) for number, some in enumerate(kept_apart(folds, rows)) if some.any()]
