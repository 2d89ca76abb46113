"""``ordinoise next``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ordinoise.app.cli._options import Json


def next_rows(
    folder: Path,
    *,
    budget: int = 50,
    spot_check: bool = False,
    strata: bool = False,
    repeat: bool = False,
    confidence: float | None = None,
    seed: int = 0,
    dialect: Literal["file", "plain"] = "file",
    json: Json = False,
) -> None:
    """Choose which rows of an audit to verify next, or whom to ask about which item; ordinoise review shows them first.

    Rows without a grade take part. With --spot-check the rows are drawn at random: they give the number of wrong grades
    with an interval, whatever the model believes.

    Example: ordinoise next audit --budget 50

    Parameters
    ----------
    folder
        Folder written by ordinoise audit or ordinoise raters.
    budget
        Number of rows to verify.
    spot_check
        Draw rows at random, each as likely as any other.
    strata
        With --spot-check, draw suspicious rows more often: for an exact "at most", and no number.
    repeat
        Show some settled rows again, blind: how often two looks differ tells how often reviewers err.
    confidence
        With --strata, the confidence of its bound; .95 by default.
    seed
        Random seed of the spot check.
    dialect
        How the CSV file is spelled: as the audited one, or plain, with commas between fields and decimal points.
    """
    from ordinoise._validation import as_count, as_number, complain
    from ordinoise.app.cli._console import console, say
    from ordinoise.app.cli._findings import print_json, show_plan_of_rows
    from ordinoise.app.records.ratings import read_any_record
    from ordinoise.app.rounds.next import plan_next

    as_count("budget", budget, 1)
    if spot_check and repeat:
        raise complain("repeat", "be given without --spot-check", "both")
    if strata and not spot_check:
        raise complain("strata", "be given with --spot-check", "without it")
    if confidence is not None and not strata:
        raise complain("confidence", "be given with --strata", "without it")
    level = 0.95 if confidence is None else as_number("confidence", confidence, 0.0, 0.999999, open_low=True)
    as_count("seed", seed, 0)
    name, plan = plan_next(
        folder, budget=budget, is_spot_check=spot_check, has_strata=strata, is_repeat=repeat, confidence=level,
        seed=seed, is_plain=dialect == "plain",
    )  # fmt: skip
    if json:
        rows = [getattr(one, "item", one.row) for one in plan.rows]
        lines = [one.line for one in plan.rows]
        found = {
            "kind": plan.kind,
            "rows": rows,
            "lines": lines,
            "gains": plan.gains,
            "ask": plan.asked,
            "strata": plan.sizes,
        }
        print_json(found | {"out": str(folder / f"{name}.json")})
        return
    screen = console()
    show_plan_of_rows(screen, plan, read_any_record(folder))
    say(screen, f" {folder}: {name}.csv for people, {name}.json for the review page", bold="Written")
    say(screen, f"Next: ordinoise review {folder}")
