"""What `ordinoise raters` writes: the record and the tables, from the ratings and the model fitted to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import ordinoise
from ordinoise._plain import as_plain, without_nan
from ordinoise._validation import Ints
from ordinoise.app.records.ratings import RatedItem, RatersRecord
from ordinoise.app.tables.label_studio import import_tasks
from ordinoise.scoring.agreement import Agreement

if TYPE_CHECKING:
    from ordinoise.app.report.raters import Counts
    from ordinoise.app.verbs.raters import Consensus

MEASURES = ("alpha_ordinal", "alpha_interval", "ac2", "kappa_linear", "kappa_quadratic", "within_one")


def label_studio_tasks(found: Consensus) -> list[dict[str, Any]]:
    """Tasks with the consensus as a prediction, ready to import into Label Studio."""
    version = f"ordinoise {ordinoise.__version__}"
    grades, scores = found.model.consensus_.tolist(), found.model.confidence_.round(6).tolist()
    return import_tasks(found.table.exported, found.table.items, found.cells, grades, scores, version)


def consensus_frame(found: Consensus) -> pl.DataFrame:
    """Every item: its grade, confidence, range of what was given, the grades given, flags."""
    lowest, highest = found.ends
    return pl.DataFrame(
        {
            "item": found.table.items,
            "grade": found.model.consensus_,
            "confidence": pl.Series(np.where(found.model.split_, np.nan, found.model.confidence_).round(4)).fill_nan(
                None
            ),
            "lowest": found.model.classes_[lowest],
            "highest": found.model.classes_[highest],
            "n_grades": np.bincount(found.table.of_item),
            "given": [", ".join(_words(found, ratings)) for ratings in found.given],
            "flags": pl.Series([" ".join(flags) or None for flags in found.flags], dtype=pl.String),
        }
    )


def _words(found: Consensus, ratings: Ints) -> list[str]:
    labels, raters = found.table.labels, found.table.raters
    return [str(labels[at]) if raters is None else f"{raters[at]}: {labels[at]}" for at in ratings]


def ratings_record(found: Consensus, n_items: int, consensus_digest: str) -> RatersRecord:
    """The record, with at most `n_items` items to read again."""
    table, model = found.table, found.model
    return RatersRecord(
        source=str(table.path.resolve()),
        digest=table.digest,
        target=table.target,
        classes=tuple(str(grade) for grade in table.classes),
        columns=found.columns,
        n_ratings=len(table.labels),
        n_items=len(table.items),
        n_raters=table.n_raters,
        noise=model.noise_,
        agreement=_measures(found.agreement),
        confidence=float(model.confidence),
        raters=tuple(_rater_lines(found)),
        family_weights={name: float(weight) for name, weight in model.family_weights_.items()},
        consensus_digest=consensus_digest,
        settings=found.request.settings() | {"n_trusted": len(found.verified)},
        suspects=_items(found, n_items),
        ordinoise=ordinoise.__version__,
        reading=table.reading,
    )


def _measures(found: Agreement | None) -> dict[str, Any]:
    if found is None:
        return {}
    estimates = {name: getattr(found, name) for name in MEASURES}
    return {
        name: None if one is None else tuple(without_nan(end) for end in (one.value, one.low, one.high))
        for name, one in estimates.items()
    }


def _rater_lines(found: Consensus) -> list[dict[str, Any]]:
    """One entry per rater, or one for all if they are not known; the columns of `raters.csv`."""
    model = found.model
    table = model.rater_table()
    named = found.table.raters is not None
    lines = [
        {name: without_nan(as_plain(column[at])) for name, column in table.items()} for at in range(len(model.raters_))
    ]
    return [
        line | {"rater": str(line["rater"]) if named else "all", "sentence": summary.sentence}
        for line, summary in zip(lines, model.rater_summaries_, strict=True)
    ]


def _items(found: Consensus, n_items: int) -> tuple[RatedItem, ...]:
    """Items by the expected distance of their consensus from the truth: what a verified grade is worth."""
    model, table = found.model, found.table
    ranks = np.arange(len(table.classes))
    distance = (model.posterior_ * np.abs(ranks - found.consensus[:, None])).sum(axis=1)
    open_items = np.setdiff1d(np.arange(len(table.items)), found.verified)
    order = open_items[np.lexsort((open_items, model.confidence_[open_items], -distance[open_items]))][:n_items]
    given, flags = found.given, found.flags
    cells = found.cells[order].rows() if found.cells.width else [()] * len(order)
    return tuple(
        RatedItem(
            row=int(at),
            rank=rank,
            recorded=str(model.consensus_[at]),
            suggested=str(model.consensus_[at]),
            probability_wrong=float(1 - model.confidence_[at]),
            expected_distance=float(distance[at]),
            posterior=tuple(model.posterior_[at].tolist()),
            cells=cells[rank - 1],
            item=table.items[at],
            raters=() if table.raters is None else tuple(table.raters[given[at]].tolist()),
            grades=tuple(str(grade) for grade in table.labels[given[at]]),
            flags=flags[at],
        )
        for rank, at in enumerate(order, start=1)
    )


def report_counts(found: Consensus) -> Counts:
    """The numbers in the opening of the report."""
    from ordinoise.app.report.raters import Counts

    lowest, highest = found.ends
    several = np.bincount(found.table.of_item) > 1
    return Counts(
        unanimous=int(((lowest == highest) & several).sum()),
        divided=int((highest - lowest >= 2).sum()),
        by_guessers=int(found.model.by_guessers_.sum()),
        expected_right=float(found.model.confidence_.mean()),
        split=int(found.model.split_.sum()),
    )


def rater_frame(record: RatersRecord) -> pl.DataFrame:
    """One row per rater, with a sentence."""
    names = list(record.raters[0])
    return pl.DataFrame({name: [line[name] for line in record.raters] for name in names}).with_columns(
        pl.col(pl.Float64).round(4)
    )


def item_frame(record: RatersRecord) -> pl.DataFrame:
    """The items to read again, with their cells; a column with one of our names gets an underscore appended."""
    found = record.suspects
    columns: dict[str, Any] = {
        "rank": [one.rank for one in found],
        "item": [one.item for one in found],
        "grade": [one.recorded for one in found],
        "confidence": pl.Series([one.confidence for one in found], dtype=pl.Float64).round(4),
        "expected_distance": [round(one.expected_distance, 4) for one in found],
        "given": [", ".join(given_words(one)) for one in found],
        "flags": [" ".join(one.flags) or None for one in found],
    }
    texts: dict[str, Any] = dict.fromkeys(("item", "grade", "given", "flags"), pl.String)
    for at, column in enumerate(record.columns):
        name = column.name
        while name in columns:
            name += "_"
        columns[name], texts[name] = [one.cells[at] for one in found], pl.String
    return pl.DataFrame(columns, schema_overrides=texts)


def given_words(item: RatedItem) -> list[str]:
    """The grades given to an item, each with its rater if known."""
    if not item.raters:
        return list(item.grades)
    return [f"{rater}: {grade}" for rater, grade in zip(item.raters, item.grades, strict=True)]
