"""What to verify next: the rows that teach most, a random spot check, or items with the raters to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from ordinoise._validation import Floats, complain
from ordinoise.app.records.audit import AuditRecord, Suspect
from ordinoise.app.records.labels import ranks_in, read_labels, share_column
from ordinoise.app.records.plan import GAIN, NO_GRADE, REPEAT, SPOT_CHECK, Plan, read_plans, repeats_of, write_plan
from ordinoise.app.records.ratings import RatersRecord, read_any_record
from ordinoise.app.review.decisions import events_in
from ordinoise.app.review.settled import settled_rows
from ordinoise.app.rounds.history import check_same, history_in
from ordinoise.app.tables import Dialect, read_stored, write_table
from ordinoise.app.verbs.audit import frame_with_cells, number_columns
from ordinoise.audit.certificate import spot_check_sample
from ordinoise.audit.gain import rating_gain, verification_gain
from ordinoise.audit.posterior import credit_in_doubt, posterior
from ordinoise.columns.inference import as_text

PARTS = "labels.parquet"  # what a folder of a table in parts holds in place of a CSV file


def plan_next(
    folder: Path,
    *,
    budget: int,
    is_spot_check: bool = False,
    has_strata: bool = False,
    is_repeat: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
    is_plain: bool = False,
) -> tuple[str, Plan]:
    """Choose the rows of an audit, or the items of raters, to verify next, and write them into its folder.

    Writes ``next-N.json`` for ``ordinoise review`` and ``next-N.csv`` for people. Settled rows are left out.

    Parameters
    ----------
    folder : Path
        Folder written by ``ordinoise audit`` or ``ordinoise raters``.
    budget : int
        Number of rows.
    is_spot_check : bool
        Whether to draw rows at random, each as likely as any other, in place of those that teach most: they give the
        number of wrong grades with an interval.
    has_strata : bool
        Whether a spot check draws suspicious rows more often: for an exact bound of that number, and no number.
    is_repeat : bool
        Whether to show some settled rows again, blind, which tells how often reviewers err.
    confidence : float
        Level of the bound of a spot check with strata.
    seed : int
        Of the random draw.
    is_plain : bool
        Whether the CSV file has commas and points in place of the dialect of the audited file.
    """
    record = read_any_record(folder)
    if isinstance(record, RatersRecord):
        if is_spot_check or is_repeat:
            raise complain("folder", "be of an audit", f"a folder of raters, {str(folder)!r}")
        plan = _items_to_ask(record, budget)
    else:
        if (folder / PARTS).exists():
            got, advice = f"a table in parts, {str(folder)!r}", "draw a sample into a file of its own, and audit that"
            raise complain("folder", "be of one file that is read at once", got, advice)
        check_same(record, Path(record.source))
        if is_repeat:
            plan = _repeats(folder, record, budget, seed)
        else:
            plan = _rows_to_verify(folder, record, budget, (is_spot_check, has_strata), confidence, seed)
    if not plan.rows:
        rule = "have rows that its review settled" if is_repeat else "have rows that are not settled"
        raise complain("folder", rule, repr(str(folder)))
    name = write_plan(folder, plan)
    dialect = Dialect.of(record.reading, is_plain=is_plain)
    rows = dialect.with_numbers(dialect.shortened(_plan_frame(record, plan)), number_columns(record))
    write_table(rows, folder / f"{name}.csv", dialect=dialect)
    return name, plan


def _rows_to_verify(
    folder: Path, record: AuditRecord, budget: int, drawn: tuple[bool, bool], confidence: float, seed: int
) -> Plan:
    labels = read_labels(folder, record)
    settled = [one.row for one in history_in(folder, record).settled]
    labels = labels.filter(~pl.col("row").is_in(settled))
    is_spot_check, has_strata = drawn
    if is_spot_check:
        labels = labels.filter(pl.col("recorded") != NO_GRADE)
        return _spot_check(record, labels, budget, confidence, seed, has_strata=has_strata)
    is_corrected = record.noise.answer == "corrected"
    gains = verification_gain(_posterior(record, labels), ranks_in(record, labels), corrected=is_corrected)
    order = np.argsort(-gains, kind="stable")[:budget]
    chosen = tuple(round(float(gain), 6) for gain in gains[order])
    return Plan(GAIN, record.digest, confidence, _suspects(record, labels[order]), gains=chosen)


def _repeats(folder: Path, record: AuditRecord, budget: int, seed: int) -> Plan:
    """Rows that the review of this folder settled, drawn at random; rows that were shown again before are skipped."""
    plans, events = read_plans(folder, record), events_in(folder, record)
    repeats = repeats_of(plans)
    rows = [one.row for one in settled_rows(events, plans, record.suspects) if one.row not in repeats]
    last = events[-1].id if events else 0
    drawn = np.random.default_rng([seed, 2]).permutation(np.array(rows, dtype=np.int64))[:budget]
    labels = read_labels(folder, record)[drawn]
    shown = _suspects(record, labels) if len(drawn) else ()
    return Plan(REPEAT, record.digest, record.confidence, shown, after=last)


def _spot_check(
    record: AuditRecord, labels: pl.DataFrame, budget: int, confidence: float, seed: int, *, has_strata: bool
) -> Plan:
    if not labels.height:
        return Plan(SPOT_CHECK, record.digest, confidence, ())
    # Suspicions that are all alike make one stratum: a simple random sample.
    suspicion = labels["suspicion"].to_numpy() if has_strata else np.zeros(labels.height)
    strata = spot_check_sample(suspicion, budget, confidence=confidence, random_state=seed)
    drawn = np.concatenate([stratum.drawn for stratum in strata])
    of = np.repeat(np.arange(len(strata)), [len(stratum.drawn) for stratum in strata])
    # In random order: a reviewer must not see which rows the model suspects.
    order = np.random.default_rng([seed, 1]).permutation(len(drawn))
    sizes = tuple(len(stratum.rows) for stratum in strata)
    rows = _suspects(record, labels[drawn[order]])
    return Plan(SPOT_CHECK, record.digest, confidence, rows, sizes, tuple(of[order].tolist()))


def _items_to_ask(record: RatersRecord, budget: int) -> Plan:
    """The items and raters of whom one more grade is expected to tell most; nobody grades an item twice."""
    items = record.suspects
    posterior = np.array([item.posterior for item in items]).reshape(len(items), len(record.classes))
    names = [str(name) for name in record.noise.raters] if record.noise.per == "rater" else []
    gains = rating_gain(posterior, record.noise.matrices)
    for at, item in enumerate(items):
        known = [place for place, name in enumerate(names) if name in item.raters]
        gains[at, known] = -1.0
    best = gains.argmax(axis=1) if len(items) else np.empty(0, dtype=np.int64)
    gain = gains[np.arange(len(items)), best]
    order = [at for at in np.argsort(-gain, kind="stable").tolist() if gain[at] > 0][:budget]
    asked = tuple(names[best[at]] for at in order) if names else ()
    chosen = tuple(round(float(gain[at]), 6) for at in order)
    rows = tuple(replace(items[at], rank=rank) for rank, at in enumerate(order, start=1))
    return Plan(GAIN, record.digest, record.confidence, rows, gains=chosen, asked=asked)


def _graded(record: AuditRecord, labels: pl.DataFrame) -> Floats:
    """How rows like each one are graded."""
    return labels.select([share_column(grade) for grade in record.classes]).to_numpy()


def _posterior(record: AuditRecord, labels: pl.DataFrame) -> Floats:
    """What is known of each row's grade, the record given no credit; without one, how such rows are graded."""
    graded, ranks = _graded(record, labels), ranks_in(record, labels)
    after = posterior(graded, np.maximum(ranks, 0), credit_in_doubt(graded.shape[1]))
    return np.where(ranks[:, None] >= 0, after, graded)


def _suspects(record: AuditRecord, labels: pl.DataFrame) -> tuple[Suspect, ...]:
    """Rows of ``labels.csv`` as suspects, with their cells; those of the audit itself keep their reasons."""
    reasons = {one.row: one for one in record.suspects}
    stored = read_stored(Path(record.source), asked=record.reading)
    cells = pl.DataFrame([as_text(column) for column in stored[labels["row"]].get_columns()]).rows()
    graded = _graded(record, labels)
    return tuple(
        replace(reasons[line["row"]], rank=rank)
        if line["row"] in reasons
        else Suspect(
            line["row"], rank, line["recorded"], line["suggested"], cells[rank - 1], line["suspicion"],
            tuple(graded[rank - 1].tolist()), probability_wrong=line.get("probability_wrong"),
            expected_distance=line.get("expected_distance"), line=line.get("line"),
        )
        for rank, line in enumerate(labels.iter_rows(named=True), start=1)
    )  # fmt: skip


def _plan_frame(record: AuditRecord | RatersRecord, plan: Plan) -> pl.DataFrame:
    """The rows for people: their numbers or names, whom to ask, the gain, and their cells; no grade is given away."""
    name = "item" if isinstance(record, RatersRecord) else "row"
    columns: dict[str, Sequence[object]] = {name: [getattr(one, name) for one in plan.rows]}
    if name == "row" and all(one.line is not None for one in plan.rows):
        columns["line"] = [one.line for one in plan.rows]
    columns |= {name: listed for name, listed in (("ask", plan.asked), ("gain", plan.gains)) if listed}
    return frame_with_cells(columns, record, plan.rows, has_target=False)
