"""The report on a judge: one HTML file, in the style of the report of an audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from matplotlib.axes import Axes

import ordinoise
from ordinoise._files import write_whole
from ordinoise.app.report.charts import WIDTH, row_axes
from ordinoise.app.report.page import rendered
from ordinoise.app.report.svg import ACCENT, INK, MUTED, SURFACE, WRONG, Chart, chart, new_figure
from ordinoise.app.report.words import counted, number, squeezed
from ordinoise.displays.cells import MatrixTable, matrix_table
from ordinoise.estimate import Estimate
from ordinoise.scoring.judges import Judgment
from ordinoise.scoring.judges.result import Difference, SystemScore

# Most systems, pairs and matrices of systems on the page; chosen by eye on the page.
MOST_SYSTEMS, MOST_PAIRS, MOST_MATRICES = 40, 60, 6
SECTIONS = {
    "found": "What was found",
    "pairs": "Differences between systems",
    "matrix": "How the judge grades",
    "lean": "Does the judge lean?",
    "next": "What to grade next",
    "about": "What is assumed",
}


def write_judge_report(path: Path, file_name: str, found: Judgment) -> None:
    """Write the report as one HTML file that works without network, server or other files."""
    write_whole(path, judge_html(file_name, found).encode())


def judge_html(file_name: str, found: Judgment) -> str:
    """The report as HTML; the same findings give the same text."""
    systems, pairs = found.systems[:MOST_SYSTEMS], found.differences[:MOST_PAIRS]
    contents = {
        "found": found,
        "lead": lead(found),
        "systems": systems,
        "pairs": pairs,
        "systems_chart": systems_chart(systems, found.confidence),
        "pairs_chart": pairs_chart(pairs) if pairs else None,
        "matrices": _matrices(found),
    }
    sections = {name: title for name, title in SECTIONS.items() if pairs or name != "pairs"}
    heading = f"Judge of {file_name}"
    return rendered("judge.html.j2", heading, ordinoise.__version__, sections, len(found.classes), contents)


def lead(found: Judgment) -> str:
    """The main finding in one or two sentences."""
    if not found.differences:
        one = found.systems[0]
        off = one.judge_bias
        first = f"People would give these outputs {one.mean.words(number)} on average."
        return first if off is None else f"{first} The judge itself says {number(one.judge_mean or 0.0)}."
    best, n_clear = found.differences[0].system, sum(one.is_clear for one in found.differences)
    mean = f"{squeezed(best, 40)} has the highest corrected mean, {_mean_of(found, best).words(number)}"
    if not n_clear:
        return f"No difference between two systems is clear yet; {mean}."
    return f"{mean}. {n_clear} of {counted(len(found.differences), 'difference')} between systems exclude zero."


def _mean_of(found: Judgment, system: str) -> Estimate:
    return next(one.mean for one in found.systems if one.system == system)


def _matrices(found: Judgment) -> list[tuple[str, MatrixTable]]:
    """The judge's matrix, or one per system, with titles; none if the judge has another scale."""
    noise = found.noise
    if noise is None:
        return []
    tables = [("All systems together", matrix_table(noise.average, found.classes))]
    if noise.per == "rater":
        for system, matrix in list(zip(noise.raters, noise.matrices, strict=True))[:MOST_MATRICES]:
            alone = replace(noise.average, matrices=matrix, interval=None)
            tables.append((str(system), matrix_table(alone, found.classes)))
    return tables


def systems_chart(systems: Sequence[SystemScore], confidence: float) -> Chart:
    """For each system: its corrected mean with an interval, human grades alone, and the judge's own mean."""

    def draw(axis: Axes) -> None:
        for place, one in enumerate(systems):
            if one.human_mean is not None:
                _bar(axis, place + 0.24, one.human_mean, MUTED, 1.6)
                axis.scatter([one.human_mean.value], [place + 0.24], s=18, color=MUTED, zorder=4)
            _bar(axis, place - 0.08, one.mean, ACCENT, 4.5)
            axis.scatter([one.mean.value], [place - 0.08], s=52, color=ACCENT, edgecolors=SURFACE, zorder=4)
            if one.judge_mean is not None:
                axis.scatter([one.judge_mean], [place - 0.08], s=46, marker="D", facecolors="none", edgecolors=WRONG)
        _legend(axis, any(one.judge_mean is not None for one in systems))

    names = [squeezed(one.system, 22) for one in systems]
    alt = "; ".join(f"{one.system}: {one.mean.words(number)}" for one in systems)
    caption = (
        f"Thick: the corrected mean grade with its {confidence:.0%} interval. Thin: the human grades alone. "
        "Diamond: the mean of the judge's own grades."
    )
    return _interval_chart("systems", names, draw, alt, caption, "mean grade", 46)


def pairs_chart(pairs: Sequence[Difference]) -> Chart:
    """Every difference between two systems with its interval, beside zero."""

    def draw(axis: Axes) -> None:
        axis.axvline(0, color=INK, linewidth=1)
        for place, one in enumerate(pairs):
            color = ACCENT if one.is_clear else MUTED
            _bar(axis, place, one.mean, color, 3.5)
            axis.scatter([one.mean.value], [place], s=44, color=color, edgecolors=SURFACE, zorder=4)

    names = [f"{squeezed(one.system, 14)} less {squeezed(one.other, 14)}" for one in pairs]
    alt = "; ".join(f"{one.system} less {one.other}: {one.mean.words(number)}" for one in pairs)
    caption = "Differences of corrected mean grades. An interval that excludes zero is colored."
    return _interval_chart("pairs", names, draw, alt, caption, "difference in grades", 30)


def _bar(axis: Axes, place: float, estimate: Estimate, color: str, width: float) -> None:
    axis.plot([estimate.low, estimate.high], [place, place], color=color, linewidth=width, solid_capstyle="round")


def _legend(axis: Axes, with_judge: bool) -> None:
    places = [(0.0, ACCENT, "● corrected"), (0.2, MUTED, "● human grades alone")]
    for at, color, text in [*places, *([(0.5, WRONG, "◇ judge alone")] if with_judge else [])]:
        axis.text(at, 1.01, text, transform=axis.transAxes, color=color, fontsize=11.5, va="bottom")


def _interval_chart(
    name: str, names: Sequence[str], draw: Callable[[Axes], None], alt: str, caption: str, label: str, height: int
) -> Chart:
    """A chart with one line per name."""
    with new_figure(WIDTH, 80 + height * len(names)) as figure:
        axis = row_axes(figure, names)
        draw(axis)
        axis.set(xlabel=label)
        axis.tick_params(axis="x", labelcolor=MUTED)
        return chart(name, figure, alt, caption)
