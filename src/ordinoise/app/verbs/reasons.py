"""Why the labels of an audit are suspected: columns, words and similar rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.app.records.audit import AuditRecord, Contribution, Similar, Suspect, WordContribution
from ordinoise.app.verbs.fit import FileAudit
from ordinoise.audit.contributions import column_contributions, feature_names
from ordinoise.audit.neighbors import similar_rows
from ordinoise.classifiers.words import Word, word_contributions

# Most columns per suspect, and the least log-odds worth naming; round numbers, chosen by no run.
MOST_REASONS, LEAST = 5, 0.1
# The same for words.
MOST_WORDS, LEAST_WORD = 12, 0.05


def reasons_of(found: FileAudit, chosen: Ints, settled: Mapping[int, str]) -> list[dict[str, Any]]:
    """Why each of the chosen labels is suspected, as fields of `Suspect`; `chosen` are positions of graded rows.

    `settled` are the grades of rows that a review settled.
    """
    if not len(chosen):
        return []
    model, table, issues = found.model, found.table, found.issues
    groups = {"embeddings": table.embedded}
    toward, against = issues.suggested[chosen], issues.recorded[chosen]
    added = column_contributions(
        model, found.training_table, chosen, toward, against, groups=groups, random_state=found.request.seed
    )
    rows = found.graded_rows
    embedded = np.flatnonzero(np.isin(feature_names(model, rows), table.embedded))
    near = similar_rows(rows, chosen, embedded=embedded)
    words = word_contributions(model, table.features[chosen], toward, against, rows=chosen, table=rows.rows(chosen))
    return [
        {
            "contributions": _strongest(added.names, values, said),
            "words": _strongest_words(said),
            "similar": _similar(found, neighbors, settled),
        }
        for values, said, neighbors in zip(added.values, words, near, strict=True)
    ]


def _strongest_words(said: Sequence[Word]) -> tuple[WordContribution, ...]:
    """The strongest words of a row, in the order of the text."""
    said = [word for word in said if word.word]
    order = sorted(range(len(said)), key=lambda at: -abs(said[at].contribution))[:MOST_WORDS]
    return tuple(
        WordContribution(word.column, round(word.contribution, 4), word.start, word.end)
        for word in (said[at] for at in sorted(order))
        if abs(word.contribution) >= LEAST_WORD
    )


def _strongest(names: tuple[str, ...], values: Floats, said: Sequence[Word]) -> tuple[Contribution, ...]:
    """The strongest columns of a row; what the summary of a text adds has a name of its own."""
    parts = [*zip(names, values.tolist(), strict=True)]
    parts += [(f"length and style of {word.column}", word.contribution) for word in said if not word.word]
    order = sorted(parts, key=lambda part: -abs(part[1]))[:MOST_REASONS]
    return tuple(Contribution(name, round(value, 4)) for name, value in order if abs(value) >= LEAST)


def _similar(found: FileAudit, places: Ints, settled: Mapping[int, str]) -> tuple[Similar, ...]:
    known = places[places >= 0]
    rows = found.table.rows[known].tolist()
    grades = found.issues.recorded[known]
    cells = found.table.text_cells(rows)
    return tuple(
        Similar(row, str(grade), own, settled.get(row), found.table.line(row))
        for row, grade, own in zip(rows, grades, cells, strict=True)
    )


def reasons_in_words(record: AuditRecord) -> dict[str, list[str]]:
    """Columns of text for a table of suspects: what speaks for the suggestion and against it, and similar rows."""
    return {
        "speaks_for": [_listed(record, suspect, 1) for suspect in record.suspects],
        "speaks_against": [_listed(record, suspect, -1) for suspect in record.suspects],
        "similar_rows": [
            "; ".join(f"{one.row} ({one.grade_in_words})" for one in suspect.similar) for suspect in record.suspects
        ],
    }


def _listed(record: AuditRecord, suspect: Suspect, sign: int) -> str:
    cells = dict(zip([column.name for column in record.columns], suspect.cells, strict=True))
    texts = {word.column for word in suspect.words}  # whose words say more than the whole
    parts = [
        (reason.value, reason.column if cells.get(reason.column) is None else f"{reason.column}={cells[reason.column]}")
        for reason in suspect.contributions
        if reason.column not in texts
    ]
    parts += [(word.value, (cells[word.column] or "")[word.start : word.end]) for word in suspect.words]
    strongest = sorted((part for part in parts if sign * part[0] > 0), key=lambda part: -abs(part[0]))
    return "; ".join(f"{text} ({value:+.2f})" for value, text in strongest)
