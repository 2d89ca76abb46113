"""Results of the verbs, printed as tables and sentences or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ordinoise._text import NOTHING, TextTable, matrix_text, number, percent
from ordinoise.app.cli._console import console, rich_table, say
from ordinoise.app.finding import certified_words, left_out_words, reviewer_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ordinoise._validation import Floats
    from ordinoise.app.records.audit import AuditRecord
    from ordinoise.app.records.plan import Plan
    from ordinoise.app.records.ratings import RatersRecord
    from ordinoise.app.report.action import Baseline
    from ordinoise.finding import Finding
    from ordinoise.noise import Noise, NoiseProperties
    from ordinoise.scoring import Evaluation

SHOWN_SUSPECTS = 10  # a round number, chosen by no run; all of them are in suspects.csv
REMEDIES = (
    "reviewed grades (ordinoise review, then --reviewed), the share of wrong grades if you know it (--prior-rate), or "
    "a second rater on some rows"
)
SHOWN_METRICS = ("mean_absolute_error", "zero_one_loss", "quadratic_weighted_kappa", "ranked_probability_score")
BASELINES = ("mean_absolute_error", "zero_one_loss")  # of these, always one grade has a value that says something


def print_json(found: object) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(found, indent=1, allow_nan=False, default=list) + "\n")


def print_record(record: AuditRecord, more: Mapping[str, object]) -> None:
    """The record without its suspects as JSON, with what was found in words, and more."""
    print_json({**record.to_dict(suspects=False), "finding": record.finding.to_dict(), **more})


def show_matrix(screen: Console, noise: Noise, classes: Sequence[str], found: Finding) -> None:
    """Print the noise matrix; nothing if nothing was found, or if it would contradict what was."""
    if found.kind in ("no signal", "too few rows") or not found.shows_matrix:
        return
    is_fitted = noise.source == "estimated"
    title = f"How each true grade {'would be' if is_fitted else 'is'} recorded"
    title += ", if one matrix describes the noise" if is_fitted else ""
    title += "" if noise.interval is None else f" ({noise.confidence:.0%} intervals)"
    screen.print(rich_table(matrix_text(title, classes, noise.matrix, noise.interval)))


def show_finding(screen: Console, noise: Noise, classes: Sequence[str], found: Finding, reason: str = "") -> None:
    """Print the noise matrix, and the number of wrong grades with its interval and doubts; or that nothing is found."""
    show_matrix(screen, noise, classes, found)
    bold, more = found.headline
    say(screen, more + f" {reason}" * (found.kind == "no signal"), bold=bold)
    for sentence in found.sentences[1:]:
        say(screen, sentence)
    if found.kind != "no signal":
        show_doubts(screen, noise, found)


def show_settled(screen: Console, record: AuditRecord) -> None:
    """Print how many settled grades were used; nothing if there are none."""
    if record.settled:
        screen.print(f"{record.n_verified:,} settled grades are used: {record.settled_words}.")


def show_noise(screen: Console, record: AuditRecord) -> None:
    """Print the noise matrix, and the number of wrong grades with its interval and doubts; or that nothing is found."""
    show_settled(screen, record)
    if record.repeats:
        screen.print(reviewer_words(record))
    if record.spot_check is not None:
        screen.print(certified_words(record))
    show_finding(screen, record.noise, record.classes, record.finding, left_out_words(record.left_out))


def show_doubts(screen: Console, noise: Noise, found: Finding) -> None:
    """Print that the noise was given, or the doubts about the estimate."""
    from ordinoise.classifiers.blend.evidence import BY_VERIFIED  # here: `--help` needs none of it

    if found.kind == "given":
        say(screen, found.origin)
    if noise.source in ("given", "trusted"):
        return
    if noise.source == "estimated" and noise.reason:
        say(screen, f" {noise.reason}.", bold=f"{noise.answer.capitalize()}:")
    elif noise.is_in_doubt:
        say(screen, f" {noise.doubt_text}.", bold="In doubt:")
    if noise.source == "too few rows":
        screen.print("To reduce the doubt: more graded rows, or a second rater on some rows.")
    elif noise.answer != "corrected" or (noise.is_in_doubt and noise.reason != BY_VERIFIED):
        screen.print(f"To settle it: {REMEDIES}.")


def show_suspects(screen: Console, record: AuditRecord) -> None:
    """Print the most suspicious grades."""
    from ordinoise.app.records.places import places_of

    if record.finding.kind == "no signal":
        return
    if not record.suspects:
        screen.print("No grade is suspicious enough to list.")
        return
    found = record.suspects[:SHOWN_SUSPECTS]
    places = places_of(record, found)
    rows = tuple(
        (*place, one.recorded, one.suggested, f"{one.suspicion:.2f}", chance_words(one.probability_wrong))
        for place, one in zip(places.lines, found, strict=True)
    )
    columns = (*places.heads, "recorded", "suggested", "suspicion", "probability wrong")
    n_columns = len(columns) - (record.suspects[0].probability_wrong is None)
    which = "grades" if record.n_left == record.n_graded else "grades that are not settled"
    title = f"The {len(rows)} most suspicious of {record.n_left:,} {which}"
    shown = tuple(row[:n_columns] for row in rows)
    screen.print(rich_table(TextTable(title, columns[:n_columns], shown, (places.note,))))


def show_graders(screen: Console, record: AuditRecord) -> None:
    """Print how many graders differ, and what stays unseen; nothing unless a column says who graded."""
    if record.graders is not None:
        bold, more = record.graders.headline
        say(screen, more, bold=bold)
        say(screen, record.graders.closing[-1])


def chance_words(chance: float | None) -> str:
    """A chance as a percentage; a dash where nobody knows it."""
    return NOTHING if chance is None else percent(chance)


def show_plan_of_rows(screen: Console, plan: Plan, record: AuditRecord | RatersRecord) -> None:
    """Print the rows to verify next, or what a spot check can show."""
    from ordinoise.app.records.audit import AuditRecord
    from ordinoise.app.records.places import places_of

    if plan.is_spot_check:
        from ordinoise.audit.certificate import spot_check

        n_rows = sum(plan.sizes)
        hope = spot_check(n_rows, len(plan.rows), 0, confidence=plan.confidence)
        strata = " of two strata, the more suspicious rows more often" if len(plan.sizes) > 1 else ""
        screen.print(f"{len(plan.rows):,} rows drawn at random from {n_rows:,}{strata}.")
        if not strata:
            screen.print(f"If none of them is wrong: at most {percent(hope.at_most / n_rows)} of the grades are.")
        return
    if plan.is_blind:
        screen.print(f"{len(plan.rows):,} settled rows are shown again, without the earlier answers.")
        return
    asked = plan.asked or ("",) * len(plan.rows)
    found = plan.rows[:SHOWN_SUSPECTS]
    heads: tuple[str, ...] = ("item",)
    places: list[tuple[str, ...]] = [(str(getattr(one, "item", one.row)),) for one in found]
    if isinstance(record, AuditRecord):
        heads, places = places_of(record, found).heads, places_of(record, found).lines
    rows = tuple(
        (*place, one.recorded or NOTHING, one.suggested, who, f"{gain:.3f}")
        for place, one, gain, who in zip(places, found, plan.gains, asked, strict=False)
    )
    is_items = bool(plan.asked)
    columns = (*heads, "recorded", "suggested", "ask", "expected gain")
    kept = [at for at, name in enumerate(columns) if name != ("recorded" if is_items else "ask")]
    title = f"The first {len(rows)} of {len(plan.rows):,} to verify"
    cells = tuple(tuple(row[at] for at in kept) for row in rows)
    screen.print(rich_table(TextTable(title, tuple(columns[at] for at in kept), cells)))


def show_scores(screen: Console, scores: Evaluation, title: str, baseline: Baseline) -> None:
    """Print the main metrics on the recorded grades, and on clean grades with intervals; then the baseline."""
    from ordinoise.scoring.metrics import TITLES

    found = [(TITLES[name], scores.scores[name]) for name in SHOWN_METRICS if name in scores.scores]
    rows = tuple(
        (words, f"{score.observed:.3f}", number(score.value, 3), NOTHING if score.is_range else score.span(".3f"))
        for words, score in found
    )
    columns = ("", "on recorded grades", "on clean grades", f"{scores.confidence:.0%} interval")
    screen.print(rich_table(TextTable(title, columns, rows)))
    errors = ", ".join(f"{TITLES[name]} {score:.3f}" for name, score in baseline.scores.items() if name in BASELINES)
    say(screen, f"Always {baseline.grade!r}, on recorded grades: {errors}.")


def show_belief(screen: Console, scores: Evaluation) -> None:
    """Print why the scores are given as both readings; nothing if the noise was believed."""
    if not scores.in_doubt:
        return
    say(screen, f" {scores.reason or 'asked for'}.", bold=f"{scores.answer.capitalize()}:")
    screen.print(
        "So each score on clean grades is that on recorded ones, and its interval also holds what the estimated noise "
        "would make of it."
    )
    screen.print(f"To settle it: {REMEDIES}.")


def show_plan(matrix: Floats, properties: NoiseProperties, worth: Mapping[str, float]) -> None:
    """Print what the noise costs in labels, and whether it allows the unbiased correction."""
    screen = console()
    screen.print(rich_table(matrix_text("Noise matrix", range(len(matrix)), matrix)))
    screen.print(f"{1 - matrix.diagonal().mean():.0%} of the labels are wrong if all grades are equally common.")
    screen.print("Noisy labels worth one clean label, by the bound for the unbiased correction:")
    for name, labels in worth.items():
        screen.print(f"  {name:<22} {labels:8.1f}", highlight=False)
    if not properties.is_dominant:
        screen.print("Some grade is wrong more often than right: the unbiased correction does not work for it.")
    screen.print("The forward correction, the default of all learners, needs fewer labels than this bound.")


def catalogue_table() -> Table:
    """The data sets, one row each."""
    from ordinoise.datasets import catalogue

    rows = tuple(
        (entry.name, entry.kind, entry.source, f"{entry.n_rows:,}", str(entry.n_features), str(entry.n_classes))
        for entry in catalogue()
    )
    columns = ("name", "kind", "source", "rows", "features", "grades")
    return rich_table(TextTable("Data sets", columns, rows, n_names=3))
