"""What stands on the page, section by section, ready for the template."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np

from ordinoise.app.report import charts
from ordinoise.app.report.axis import ScoreAxis, out_of_reach, score_axis
from ordinoise.app.report.directions import Directions, directions_of
from ordinoise.app.report.drawing import Chart
from ordinoise.app.report.findings import Findings
from ordinoise.app.report.matrix import MatrixTable, matrix_table
from ordinoise.app.report.measures import ScoreLine, score_lines, scores_words
from ordinoise.app.report.sentences import of_a_hundred, summary
from ordinoise.app.report.sureness import Sureness, sureness_of
from ordinoise.app.report.suspects import SuspectTable, suspect_table
from ordinoise.app.report.wording import (
    count,
    counted,
    grades_in_words,
    isolated,
    listed,
    number,
    percent,
    shortened,
    whole_numbers,
)
from ordinoise.noise import SINGULAR_CONDITION
from ordinoise.scoring.reliability import Reliability, reliability_curve

MOST_ROWS = 200_000
"""Rows, evenly spaced, that calibration and densities are drawn from."""
MOST_COLUMNS_LISTED, MOST_TOLD = 200, 11
SECTIONS = {
    "found": "What was found",
    "matrix": "How grades are recorded",
    "directions": "Which way they go wrong",
    "sure": "How sure we are",
    "calibration": "Whether the chances hold",
    "scores": "How good predictions are",
    "axis": "Grades along the score",
    "curves": "How learning went",
    "suspects": "Most suspicious rows",
    "about": "How this was made",
}


@dataclass(frozen=True, eq=False)
class Contents:
    """Everything the template shows; a chart is None where there is nothing to draw."""

    findings: Findings
    sections: Mapping[str, str]
    file_name: str
    names: Sequence[str]
    lead: Sequence[str]
    gauge: Mapping[str, float]
    matrix: MatrixTable
    directions: Directions
    directions_chart: Chart | None
    directions_words: str
    sureness: Sureness
    reliability_chart: Chart | None
    reliability_words: str
    score_lines: Sequence[ScoreLine]
    scores_chart: Chart | None
    axis_chart: Chart
    axis_words: str
    weights_words: str
    curves_chart: Chart | None
    suspects: SuspectTable
    settings: Mapping[str, str]
    most_columns: int


def contents_of(findings: Findings) -> Contents:
    """The contents of the page that shows `findings`."""
    record = findings.record
    directions = directions_of(record.noise)
    way = of_a_hundred(record, directions)
    step = max(1, math.ceil(len(findings.recorded) / MOST_ROWS))
    reliable, along = _reliability(findings, step), _score_axis(findings, step)
    calibration, place = _calibration_words(reliable), _threshold_words(along, record.classes)
    curves = {name: losses for name, losses in findings.curves.items() if np.isfinite(losses).any()}
    measured = findings.scores.scores
    return Contents(
        findings=findings,
        sections=SECTIONS,
        file_name=shortened(PurePath(record.source).name or record.source, 80),
        names=[shortened(name) for name in record.classes],
        lead=summary(findings, directions),
        gauge=_gauge(findings),
        matrix=matrix_table(record),
        directions=directions,
        directions_chart=charts.directions_chart(directions, record.classes, way) if directions.wrong > 0 else None,
        directions_words=way,
        sureness=sureness_of(record),
        reliability_chart=charts.reliability_chart(reliable, calibration) if reliable else None,
        reliability_words=calibration,
        score_lines=score_lines(measured),
        scores_chart=charts.scores_chart(measured, scores_words(measured)) if measured else None,
        axis_chart=charts.score_axis_chart(along, record.classes, place, _axis_caption(step)),
        axis_words=place,
        weights_words=_weights_words(findings.weights),
        curves_chart=_curves_chart(curves) if curves else None,
        suspects=suspect_table(record),
        settings={shortened(name): _setting(value) for name, value in record.settings.items()},
        most_columns=MOST_COLUMNS_LISTED,
    )


def _gauge(findings: Findings) -> Mapping[str, float]:
    """The number of wrong labels and its interval as places on a bar, in percent of its length."""
    record = findings.record
    end = min(max(1.25 * record.wrong_high, 0.02 * record.n_graded, 1.0), max(record.n_graded, 1))
    places = {"value": record.wrong, "low": record.wrong_low, "high": record.wrong_high}
    return {name: round(100 * min(max(place / end, 0.0), 1.0), 2) for name, place in places.items()} | {"end": end}


def _reliability(findings: Findings, step: int) -> Reliability | None:
    """Calibration on every `step`-th row; None for a matrix without an inverse."""
    matrix = np.array(findings.record.noise.matrix)
    if not np.linalg.cond(matrix) < SINGULAR_CONDITION:
        return None
    chances, recorded = findings.probabilities[::step], findings.recorded[::step]
    return reliability_curve(chances, recorded, matrix, confidence=findings.record.confidence)


def _score_axis(findings: Findings, step: int) -> ScoreAxis:
    chances, recorded = findings.probabilities[::step], findings.recorded[::step]
    found = score_axis(chances, recorded, np.array(findings.record.noise.matrix))
    return replace(found, expected_counts=found.expected_counts * len(findings.recorded) / len(recorded))


def _calibration_words(found: Reliability | None) -> str:
    if found is None:
        return "The noise matrix has no inverse, so recorded grades cannot tell whether the predicted chances hold."
    gap, chance = 100 * found.expected_calibration_error, 100 * found.error_by_chance
    measured = f"On average they are off by {gap:.1f} percentage points, where chance alone would give {chance:.1f}."
    if gap <= 1.5 * chance or gap < 1:
        return f"The predicted chances hold. {measured}"
    slope = np.polyfit(found.predicted, found.observed, 1, w=np.sqrt(found.counts))[0] if len(found.counts) > 1 else 1.0
    manner = "too bold" if slope < 0.95 else "too timid" if slope > 1.05 else "somewhat off"
    return f"The predicted chances are {manner}. {measured}"


def _threshold_words(found: ScoreAxis, classes: Sequence[str]) -> str:
    grades = grades_in_words(classes)
    lost = [grades[grade] for grade in out_of_reach(found)]
    told = _thresholds_told(found, classes)
    if not lost:
        return f"Every grade has a stretch of the score to itself. {told}".strip()
    named = listed(lost, "or") if len(lost) <= 4 else f"{len(lost)} of the {len(grades)} grades"
    which = "it is" if len(lost) == 1 else "they are"
    return f"No score leads to {named}: {which} too rare, or too hard to tell from the neighbours. {told}".strip()


def _thresholds_told(found: ScoreAxis, classes: Sequence[str]) -> str:
    """Where the thresholds lie, in grades where these are whole numbers in a row, or counted from 0."""
    crossed = found.thresholds[np.isfinite(found.thresholds)]
    if len(crossed) == 0 or len(crossed) > MOST_TOLD:
        return ""
    first = whole_numbers(classes)
    places = listed([number(place + (first or 0)) for place in crossed])
    scale = ", counting grades from 0" if first is None else ""
    return f"One grade gives way to the next at {places}{scale}."


def _axis_caption(step: int) -> str:
    sample = f" Drawn from one row in {count(step)}." if step > 1 else ""
    return (
        "Filled: rows by the true grade they probably have, with their expected number on the right. Dashed: rows by "
        "the recorded grade. Every hill has the same area. Dotted lines: scores at which a higher grade becomes more "
        f"likely than not, on a rising (isotonic) curve through the predicted chances.{sample}"
    )


def _weights_words(weights: Mapping[str, float]) -> str:
    largest_first = sorted(weights.items(), key=lambda one: -one[1])
    return listed([f"{isolated(shortened(name, 40))} ({percent(share)})" for name, share in largest_first if share > 0])


def _curves_chart(curves: Mapping[str, Sequence[float]]) -> Chart:
    best = [
        f"{shortened(name, 24)} is best after {counted(int(np.nanargmin(losses)) + 1, 'step')} of {count(len(losses))}"
        for name, losses in list(curves.items())[: charts.MOST_CURVES]
    ]
    more = len(curves) - charts.MOST_CURVES
    caption = "Loss of rows left out; the dot marks the best step."
    caption += f" {more} more are not shown." if more > 0 else ""
    return charts.curves_chart(curves, f"{'; '.join(best)}.", caption)


def _setting(value: object) -> str:
    return shortened(value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False), 200)
