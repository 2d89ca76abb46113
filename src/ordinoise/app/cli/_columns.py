"""Names of columns on the command line, checked before a verb loads what takes seconds to load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordinoise.app.verbs.request import EvaluationRequest, GradedFile, JudgeRequest, RatingsRequest

OPTIONS = (
    "target", "judge", "human", "wide", "item", "rater", "grade", "group", "grader", "ignore", "text", "image",
)  # fmt: skip
"""Options that name columns of the file, one or several."""
GRADES = ("--target", "--grade", "--judge", "--human")


def check_columns(request: GradedFile | EvaluationRequest | JudgeRequest | RatingsRequest) -> None:
    """Refuse a request that names a column that its file does not have."""
    from ordinoise.app.tables.named_columns import check_named
    from ordinoise.app.tables.reading import BY_RULES

    given: dict[str, Any] = {option: getattr(request, option, None) for option in OPTIONS}
    named = {option: (names,) if isinstance(names, str) else names for option, names in given.items() if names}
    if named:
        check_named(request.file, named, getattr(request, "reading", BY_RULES))


def advice_on_columns(message: str, words: Sequence[str]) -> str:
    """What to give for an option that is missing: the columns of the file among the words that could hold grades."""
    if "requires an argument" not in message or not any(option in message for option in GRADES):
        return ""
    from ordinoise.app.tables.named_columns import likely_columns

    file = next((path for path in map(Path, words[1:]) if path.is_file()), None)
    columns = "" if file is None else likely_columns(file)
    return f"Columns of {file} that could hold grades: {columns}." if columns else ""
