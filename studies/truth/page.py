"""The tables of the study: what holds at each stage, by world and over worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ordinoise.jobs import StoredResult
from studies.truth.stages import CHECKED, CHOSEN, RANDOM
from studies.truth.worlds import World

Results = list[dict[str, Any]]
AFTER = (0, 30)


def page(results: Sequence[StoredResult], worlds: Sequence[World]) -> str:
    """Everything, one section per size."""
    parts = []
    for rows in sorted({one.trial["rows"] for one in results}):
        by_world = {
            world: [one.result for one in results if one.trial["world"] == world.name and one.trial["rows"] == rows]
            for world in worlds
        }
        found = {world: some for world, some in by_world.items() if some}
        n_tables = max(len(some) for some in found.values())
        parts += [f"## {rows} rows, {n_tables} tables of each world", ranges(found), samples(found), summary(found)]
    return "\n\n".join(parts)


def ranges(found: dict[World, Results]) -> str:
    """Before random rows: the floor, whether both ends hold, the upper end, and refuted floors."""
    heads = ["world", "wrong", "far", "floor", "low holds", "high holds", "upper end", *(f"{k}" for k in CHOSEN)]
    heads += ["refuted after 50", "forecasts hold"]
    lines = []
    for world, some in found.items():
        stages = ["nothing", *(f"chosen {k}" for k in CHOSEN if f"chosen {k}" in some[0])]
        held = [np.mean([one[stage][end] for one in some for stage in stages]) for end in ("low_holds", "high_holds")]
        ends = [_mean(some, partial(_high, k)) for k in CHOSEN]
        lines.append([
            _starred(world), _share(_mean(some, lambda one: one["wrong"] / one["rows"])),
            f"{_mean(some, lambda one: one['far']):.0f}", f"{_mean(some, lambda one: one['nothing']['floor']):.1f}",
            *map(_share, held), _share(_mean(some, lambda one: one["nothing"]["high"])), *map(_share, ends),
            _share(_mean(some, lambda one: one.get("chosen 50", {}).get("refuted"))),
            _share(np.mean([value for one in some for value in one["forecast"].values()])),
        ])  # fmt: skip
    said = (
        "Upper ends in shares of the rows, with nothing verified and after so many suspects. Worlds with a star break"
    )
    return f"{said} an assumption of the floor or the ceiling.\n\n{_table(heads, lines)}"


def samples(found: dict[World, Results]) -> str:
    """After random rows: coverage, and width beside that of Clopper and Pearson."""
    keys = [f"random {m} after {n}" for n in AFTER for m in RANDOM]
    keys = [key for key in keys if any(key in one for some in found.values() for one in some)]
    lines = []
    for world, some in found.items():
        cells = []
        for key in keys:
            there = [one[key] for one in some if key in one]
            cells.append(f"{_of(there, 'holds'):.3f} {_ratio(there):.2f}" if there else "")
        lines.append([world.name, *cells])
    return "Coverage, and width in terms of the exact interval, after random rows.\n\n" + _table(
        ["world", *keys], lines
    )


def summary(found: dict[World, Results]) -> str:
    """Over worlds: one line per sample."""
    heads = [
        "sample",
        "least coverage",
        "mean",
        "exact: least",
        "mean ",
        "width",
        "widest world",
        "off",
        "passes wrongly",
    ]
    heads += ["most"]
    lines = []
    for key in [f"random {m} after {n}" for n in AFTER for m in RANDOM]:
        by_world = [[one[key] for one in some if key in one] for some in found.values()]
        by_world = [some for some in by_world if some]
        if not by_world:
            continue
        held, exact = ([_of(some, name) for some in by_world] for name in ("holds", "exact_holds"))
        passes, widest = [_of(some, "passes") for some in by_world], max(map(_ratio, by_world))
        width, exact_width, off = (
            float(np.mean([_of(some, name) for some in by_world])) for name in ("width", "exact_width", "off")
        )
        numbers = [min(held), np.mean(held), min(exact), np.mean(exact), width / exact_width, widest, off]
        lines.append([key, *(f"{number:.3f}" for number in (*numbers, np.mean(passes), max(passes)))])
    return _table(heads, lines) + "\n\n" + _checks(found)


def _checks(found: dict[World, Results]) -> str:
    """How often an estimate by a matrix is contradicted, where its interval was right and where it was wrong."""
    every = [one["check"] for some in found.values() for one in some if one["check"]]
    lines = []
    for is_right, name in ((True, "interval right: contradicted"), (False, "interval wrong: contradicted")):
        some = [one for one in every if one["right"] == is_right]
        shares = [_share(np.mean([one[f"{way} {k}"] for one in some])) if some else "" for way, k in CHECKED]
        lines.append([name, str(len(some)), *shares])
    return _table(["estimate by a matrix", "tables", *(f"{way} {k}" for way, k in CHECKED)], lines)


def _of(some: Results, name: str) -> float:
    return float(np.mean([one[name] for one in some]))


def _ratio(some: Results) -> float:
    return _of(some, "width") / _of(some, "exact_width")


def _mean(some: Results, value: Callable[[dict[str, Any]], Any]) -> float:
    values = [value(one) for one in some]
    return float("nan") if None in values else float(np.mean(values))


def _starred(world: World) -> str:
    return world.name if world.floor_holds and world.ceiling_holds else f"{world.name}*"


def _high(k: int, one: dict[str, Any]) -> Any:
    return one.get(f"chosen {k}", {}).get("high")


def _share(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    ruler = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ruler, *rows])
