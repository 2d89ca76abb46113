"""``ordinoise check``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ordinoise.app.cli._options import Json, RequestOptions


def check(
    request: RequestOptions,
    *,
    max_wrong: float,
    reviewed: Path | None = None,
    if_unknown: Literal["pass", "fail"] | None = None,
    junit: Path | None = None,
    json: Json = False,
) -> None:
    """Check that few enough grades of a table are wrong: a gate for continuous integration.

    Exit codes: 0 passed, 1 failed, 2 bad input, 3 cannot be told. It passes if the upper end of the share of wrong
    grades is at most --max-wrong, and fails if the lower end is above it; in between it cannot be told, and the answer
    names the number of rows to verify.

    Example: ordinoise check ratings.csv --target stars --max-wrong 0.05

    Parameters
    ----------
    max_wrong
        Largest share of wrong grades that passes, such as 0.05.
    reviewed
        Folder of an audit of the table; the grades that its review settled are trusted, and nothing is fitted. Rows
        drawn at random (ordinoise next --spot-check) tell most.
    if_unknown
        Pass or fail, in place of exit code 3, if it cannot be told.
    junit
        New file for the result as JUnit XML.
    """
    from ordinoise._files import refuse_existing, write_whole
    from ordinoise._validation import as_number, complain
    from ordinoise.app.cli._columns import check_columns
    from ordinoise.app.cli._console import console, say, show_table
    from ordinoise.app.cli._findings import print_json, show_settled

    as_number("max-wrong", max_wrong, 0.0, 1.0)
    if junit is not None:
        refuse_existing("junit", junit)
    check_columns(request)
    from ordinoise.app.out_of_core.files import AT_ONCE, is_read_in_parts
    from ordinoise.app.rounds.check import FAILED, PASSED, checked_record, junit_xml, verdict_of

    if is_read_in_parts(request.file, request.scheduler):
        raise complain("file", "be a table that is read at once", f"one in parts, {str(request.file)!r}", AT_ONCE)
    record = checked_record(request, reviewed, on_table=show_table(is_quiet=json), verbose=True)
    verdict = verdict_of(record, max_wrong)
    is_passed = verdict.answer == PASSED or (verdict.answer != FAILED and if_unknown == "pass")
    if junit is not None:
        write_whole(junit, junit_xml(verdict, is_passed))
    if json:
        print_json(verdict.to_dict() | {"n_settled": record.n_verified, "is_passed": is_passed})
    else:
        show_settled(console(), record)
        say(console(), f" {verdict.reason[0].upper()}{verdict.reason[1:]}", bold=f"{verdict.answer.capitalize()}.")
    if not is_passed:
        raise SystemExit(1 if verdict.answer == FAILED or if_unknown == "fail" else 3)
