"""The contents of the report page, section by section, from the findings to what the template shows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np

from ordinoise._text import percent
from ordinoise._validation import Floats, Ints
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.report import charts
from ordinoise.app.report.action import baseline_of, steps_of
from ordinoise.app.report.axis import ScoreAxis, score_axis, unreachable
from ordinoise.app.report.certainty import certainty_of
from ordinoise.app.report.graders import grader_section
from ordinoise.app.report.matrix import directions_of
from ordinoise.app.report.sentences import (
    directions_in_words,
    matrix_in_words,
    progress_lines,
    score_lines,
    scores_words,
    summary,
)
from ordinoise.app.report.suspects import suspect_table
from ordinoise.app.report.svg import Chart
from ordinoise.app.report.words import (
    count,
    counted,
    first_of_consecutive,
    grades_in_words,
    isolated,
    listed,
    number,
    shortened,
)
from ordinoise.displays.cells import matrix_table
from ordinoise.noise.matrices import SINGULAR_CONDITION
from ordinoise.scoring.evaluation import Evaluation
from ordinoise.scoring.reliability import Reliability, reliability_curve

# Calibration and densities are drawn from at most this many rows, evenly spaced; a round number, chosen by no run.
MOST_ROWS = 200_000
# More columns are not listed, more thresholds not named in a sentence; chosen by eye on the page.
MOST_COLUMNS, MOST_THRESHOLDS = 200, 11
SECTIONS = {
    "found": "What was found",
    "progress": "What was done so far",
    "now": "What to do now",
    "suspects": "Most suspicious rows",
    "oddities": "What else deserves a look",
    "graders": "Who grades higher or lower?",
    "directions": "Too low or too high?",
    "matrix": "How grades are recorded",
    "certainty": "How certain is this?",
    "calibration": "Are the probabilities calibrated?",
    "scores": "How good are the predictions?",
    "axis": "Grades along the score",
    "curves": "Training curves",
    "about": "About this report",
}

ODDITIES = {
    "duplicates": "Nearly identical rows with different grades",
    "outliers": "Rows unlike all others",
    "groups": "Groups whose grades stand out",
}


@dataclass(frozen=True, eq=False)
class Findings:
    """The input of the report page: what an audit or a fit found.

    Attributes
    ----------
    heading : str
        Title of the page, such as "Audit of ratings.csv".
    record : AuditRecord
        File, noise, number of wrong labels, suspects.
    probabilities : array of shape (n_graded, n_classes)
        Out-of-fold probability of each true grade given the features.
    recorded : int array of shape (n_graded,)
        Ranks of the recorded grades.
    scores : Evaluation
        Scores of the out-of-fold predictions, on recorded labels and corrected for their noise.
    weights : mapping of str to float
        Weight of each learner in the prediction.
    curves : mapping of str to sequence of float
        Validation loss after each epoch or round, by learner; empty if a learner keeps none.
    folder : str
        Folder of the audit, for the commands on the page; empty for the report of a model.
    options : sequence of str
        Words of the command line that the next audit needs too, such as ``--order low,high``.
    in_parts : bool
        Whether the table was read in parts.
    """

    heading: str
    record: AuditRecord
    probabilities: Floats
    recorded: Ints
    scores: Evaluation
    weights: Mapping[str, float]
    curves: Mapping[str, Sequence[float]]
    folder: str = ""
    options: Sequence[str] = ()
    in_parts: bool = False


def sections_of(record: AuditRecord) -> dict[str, str]:
    """Names and titles of the sections that have contents."""
    has_matrix = record.finding.shows_matrix
    contents = {
        "progress": record.rounds, "oddities": record.oddities, "graders": record.graders is not None,
        "directions": has_matrix, "matrix": has_matrix,
    }  # fmt: skip
    return {name: title for name, title in SECTIONS.items() if contents.get(name, True)}


def contents_of(findings: Findings) -> dict[str, Any]:
    """What the template shows, by name; a chart is None if there is nothing to draw."""
    record, scores = findings.record, findings.scores
    directions = directions_of(record.noise)
    way = directions_in_words(record, directions)
    step = max(1, math.ceil(len(findings.recorded) / MOST_ROWS))
    reliability, axis = _reliability(findings, step), _score_axis(findings, step)
    calibration, thresholds = _calibration_words(reliability), _threshold_words(axis, record.classes)
    curves = {name: losses for name, losses in findings.curves.items() if np.isfinite(losses).any()}
    baseline = baseline_of(findings.recorded, record.classes, list(scores.scores))
    return {
        "record": record,
        "finding": record.finding,
        "scores": scores,
        "file_name": shortened(PurePath(record.source).name or record.source, 80),
        "names": [shortened(name) for name in record.classes],
        "lead": summary(record, scores, directions, baseline),
        "gauge": _gauge(findings),
        "matrix": matrix_table(record.noise, record.classes),
        "matrix_words": matrix_in_words(record),
        "directions": directions,
        "directions_chart": charts.directions_chart(directions, record.classes, way) if directions.wrong > 0 else None,
        "directions_words": way,
        "certainty": certainty_of(record),
        "reliability_chart": charts.reliability_chart(reliability, calibration) if reliability else None,
        "reliability_words": calibration,
        "score_lines": score_lines(scores.scores),
        "scores_chart": charts.scores_chart(scores.scores, scores_words(scores.scores)) if scores.scores else None,
        "axis_chart": charts.score_axis_chart(axis, record.classes, thresholds, _axis_caption(step)),
        "axis_words": thresholds,
        "weights_words": _weights_words(findings.weights),
        "curves_chart": _curves_chart(curves) if curves else None,
        "suspects": suspect_table(record),
        "progress": progress_lines(record),
        "steps": steps_of(record, findings.folder, findings.options, in_parts=findings.in_parts),
        "oddity_titles": ODDITIES,
        "graders": grader_section(record.graders),
        "baseline": baseline,
        "settings": shown_settings(record.settings),
        "most_columns": MOST_COLUMNS,
    }


def _gauge(findings: Findings) -> Mapping[str, float]:
    """Positions of the number of wrong labels and its interval on a bar, in percent of its length."""
    record, wrong = findings.record, findings.record.finding.wrong
    if wrong is None:
        return {}
    end = max(1.25 * wrong.high, 0.02 * record.n_left, 1.0)
    end = max(record.n_left, 1) if end > record.n_left / 2 else end  # enlarged only where few are wrong
    places = {"low": wrong.low, "high": wrong.high} | ({} if wrong.is_range else {"value": wrong.value})
    return {name: round(100 * min(max(place / end, 0.0), 1.0), 2) for name, place in places.items()} | {"end": end}


def _reliability(findings: Findings, step: int) -> Reliability | None:
    """Calibration on every `step`-th row; None if the noise matrix is singular."""
    matrix = findings.record.noise.believed.matrix
    if not np.linalg.cond(matrix) < SINGULAR_CONDITION:
        return None
    probabilities, recorded = findings.probabilities[::step], findings.recorded[::step]
    return reliability_curve(probabilities, recorded, matrix, confidence=findings.record.confidence)


def _score_axis(findings: Findings, step: int) -> ScoreAxis:
    probabilities, recorded = findings.probabilities[::step], findings.recorded[::step]
    found = score_axis(probabilities, recorded, findings.record.noise.believed.matrix)
    return replace(found, expected_counts=found.expected_counts * len(findings.recorded) / len(recorded))


def _calibration_words(found: Reliability | None) -> str:
    if found is None:
        return "The noise matrix has no inverse, so calibration cannot be measured on the recorded grades."
    gap, chance = 100 * found.expected_calibration_error, 100 * found.error_by_chance
    measured = f"The mean error is {gap:.1f} percentage points; {chance:.1f} are expected by chance."
    # 1.5 times chance, one point and the slopes below are round numbers, chosen by no run.
    if gap <= 1.5 * chance or gap < 1:
        return f"The predicted probabilities are calibrated. {measured}"
    slope = np.polyfit(found.predicted, found.observed, 1, w=np.sqrt(found.counts))[0] if len(found.counts) > 1 else 1.0
    manner = "too extreme" if slope < 0.95 else "too moderate" if slope > 1.05 else "not well calibrated"
    return f"The predicted probabilities are {manner}. {measured}"


def _threshold_words(found: ScoreAxis, classes: Sequence[str]) -> str:
    grades = grades_in_words(classes)
    lost = [grades[grade] for grade in unreachable(found)]
    places = _threshold_places(found, classes)
    if not lost:
        return f"Every grade has its own range of scores. {places}".strip()
    named = listed(lost, "or") if len(lost) <= 4 else f"{len(lost)} of the {len(grades)} grades"
    which = "it is" if len(lost) == 1 else "they are"
    return f"No score leads to {named}: {which} too rare, or too similar to the neighboring grades. {places}".strip()


def _threshold_places(found: ScoreAxis, classes: Sequence[str]) -> str:
    """Where the thresholds are on the scale of the grades; nothing unless these are consecutive whole numbers."""
    crossed = found.thresholds[np.isfinite(found.thresholds)]
    if len(crossed) == 0 or len(crossed) > MOST_THRESHOLDS:
        return ""
    first = first_of_consecutive(classes)
    if first is None:  # there is no scale to name them on
        return ""
    return f"The thresholds between grades are at {listed([number(place + first) for place in crossed])}."


def _axis_caption(step: int) -> str:
    sample = f" Drawn from one row in {count(step)}." if step > 1 else ""
    return (
        "Filled: density of the rows by their probable true grade, with their expected number on the right. Dashed: "
        "density by recorded grade. All densities have the same area. Dotted lines: thresholds at which a higher grade "
        f"becomes more likely than not, by isotonic regression of the predicted probabilities.{sample}"
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
    caption = "Validation loss; the dot marks the best step."
    caption += f" {more} more curves are not shown." if more > 0 else ""
    return charts.curves_chart(curves, f"{'; '.join(best)}.", caption)


def shown_settings(settings: Mapping[str, object]) -> dict[str, str]:
    """The options that were given or have a value, in words."""
    given = {
        name: value
        for name, value in settings.items()
        if value is not None and value is not False and value not in ([], ())
    }
    return {shortened(name.replace("_", " ").strip()): _setting_text(value) for name, value in given.items()}


def _setting_text(value: object) -> str:
    return shortened(value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False), 200)
