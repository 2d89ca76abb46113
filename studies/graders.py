"""Graders with one grade per row: do the intervals of their shifts hold, and what do graders say of wrong grades?

Simulated tables with known shifts, where rows are given out at random, by what the columns show, by difficulty, and by
what no column shows; other models, weights and numbers of grades; the floor of the number of wrong grades; a hearing
test of 270 listeners, thinned to one grade per recording, against their other grades; dialogues with two rows a grader;
and the time beside that of an audit.

    python -m studies.graders                      all of it, small
    python -m studies.graders worlds --graders 600    one part: worlds, others, floor, listeners, dialogues, time
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from ordinoise import OrdinalClassifier
from ordinoise.audit import GraderEffects, grader_effects
from ordinoise.audit.graders.floor import fewest_by_graders
from ordinoise.audit.graders.record import NOT_BY_LOT
from ordinoise.datasets.files import DATA_VARIABLE
from ordinoise.estimate import Estimate
from studies.grader_worlds import Drawn, World, drawn, in_words

RATERS = Path(os.environ.get(DATA_VARIABLE, ".")) / "raters"
FEW, MORE, MANY = (200,) * 12, (30,) * 200, (100,) * 200
RANDOM = {
    "3 x 100": World((100,) * 3), "3 x 500": World((500,) * 3), "12 x 30": World((30,) * 12),
    "12 x 200": World(FEW), "12 x 200, weak columns": World(FEW, signal=0.45), "50, 10 to 2000 rows": World(),
    "50, weak columns": World(signal=0.45), "200 x 30": World(MORE), "200 x 100": World(MANY),
}  # fmt: skip
OTHERWISE = {
    "no shifts, 50": World(shift=0.0), "all alike, 12 x 200": World(FEW, shift=0.0, unequal=0.0),
    "by columns .7, 12 x 200": World(FEW, feature=0.7),
    "by columns .7 and severity": World(FEW, feature=0.7, aligned=0.8),
    "by columns .97 and severity, 50": World(feature=0.97, aligned=0.8),
    "by difficulty .2": World(FEW, difficulty=0.2), "by difficulty .5": World(FEW, difficulty=0.5),
    "by difficulty .5, weak columns": World(FEW, difficulty=0.5, signal=0.45),
    "by difficulty .3, 50": World(difficulty=0.3),
    "by what no column shows .3": World(FEW, hidden=0.3),
}  # fmt: skip
FLOORS = {
    "clean": World(FEW, shift=0.02, scatter=0.02), "clean, 50": World(shift=0.02, scatter=0.02), "12 x 200": World(FEW),
    "large shifts": World(FEW, shift=1.0), "scatter alone": World(FEW, shift=0.0), "50, 10 to 2000 rows": World(),
    "100 x 20": World((20,) * 100), "3 x 500": World((500,) * 3), "weak columns": World(FEW, signal=0.45),
    "two branches": World((1000,) * 2), "clean, hidden .5": World(FEW, shift=0.02, scatter=0.02, hidden=0.5),
}  # fmt: skip
Probabilities = Callable[[Drawn], Any]


@dataclass
class Tally:
    """What the effects of several tables show against the truth."""

    held: list[bool]
    held_if_differing: list[bool]
    is_wrong_sign: list[bool]
    second_held: list[bool]
    errors: list[float]
    refused: list[bool]
    n_graders: int = 0
    spreads: int = 0

    def add(self, effects: GraderEffects, truth: Mapping[Any, float]) -> None:
        """One table."""
        self.refused.append(effects.p_value < NOT_BY_LOT)
        for one in effects:
            self.n_graders += 1
            self.spreads += one.spread is not None and one.spread.excludes(1)
            if one.shift is None or one.grader not in truth:
                continue
            right = truth[one.grader]
            self.held.append(one.shift.low <= right <= one.shift.high)
            self.errors.append(one.shift.value - right)
            wide = one.second_range or one.shift
            self.second_held.append(wide.low <= right <= wide.high)
            if one.differs:
                self.held_if_differing.append(self.held[-1])
                self.is_wrong_sign.append(one.shift.value * right < 0)

    @property
    def cells(self) -> tuple[str, ...]:
        """Coverage, of those that differ, with the second range; flagged, wrong signs, error, tables refuted."""
        flagged, error = len(self.held_if_differing), np.sqrt(np.mean(np.square(self.errors)))
        held = (_share(some) for some in (self.held, self.held_if_differing, self.second_held))
        return (
            *held, f"{flagged} of {self.n_graders}", _share(self.is_wrong_sign), f"{error:.3f}", _share(self.refused),
        )  # fmt: skip


def _share(flags: list[bool]) -> str:
    return f"{np.mean(flags):.3f}" if flags else "-"


COLUMNS = ("holds", "of those that differ", "second range holds", "differ", "wrong sign", "error", "not by lot")


def tally() -> Tally:
    """An empty tally."""
    return Tally([], [], [], [], [], [])


def fitted(learner: str, table: Drawn, **options: Any) -> OrdinalClassifier:
    """A classifier of the records that trusts them."""
    n_classes = int(table.ranks.max()) + 1
    model = OrdinalClassifier(learner, noise=None, classes=range(n_classes), random_state=0)
    return model.fit(table.columns, table.ranks, **options)


def of_world(world: World, seed: int, learner: str = "mlp", *, text: bool = False, weighted: bool = False) -> Any:
    """The table of a world and the effects found in it."""
    table = drawn(world, seed)
    if text:
        table = in_words(table)
    options: dict[str, Any] = {}
    if weighted:
        options["sample_weight"] = np.exp(0.5 * np.random.default_rng(seed).normal(size=len(table.ranks)))
    model = fitted(learner, table, **options)
    return table, grader_effects(model, table.ranks, table.who, table.columns, **options)


def n_tables(world: World, n_graders: int) -> int:
    """So many tables that they have about so many graders together, and two at least."""
    return max(2, -(-n_graders // len(world.sizes or range(50))))


def worlds(console: Console, n_graders: int, first: int) -> None:
    """Coverage in the worlds where rows are given out at random, and otherwise."""
    for title, settings in (
        ("Rows given out at random", RANDOM),
        ("Rows given out otherwise, or no shifts", OTHERWISE),
    ):
        shown = _table(
            f"{title}: tables with {n_graders} graders together, two at least", ("", *COLUMNS, "scatter differs")
        )
        held = []
        for name, world in settings.items():
            found = tally()
            for number in range(n_tables(world, n_graders)):
                table, effects = of_world(world, first + number)
                found.add(effects, dict(enumerate(table.truth)))
            held.append(np.mean(found.held))
            shown.add_row(name, *found.cells, f"{found.spreads} of {found.n_graders}")
        console.print(shown)
        console.print(f"holds, mean of the settings: {np.mean(held):.3f}; least {np.min(held):.3f}")


def others(console: Console, n_graders: int, first: int) -> None:
    """Coverage with other models, weights, texts and numbers of grades."""
    by_columns = World(FEW, feature=0.7, aligned=0.8)
    settings: dict[str, tuple[World, dict[str, Any]]] = {
        "boosting": (World(FEW), {"learner": "boosting"}), "front door (auto)": (World(FEW), {"learner": "auto"}),
        "front door, by columns": (by_columns, {"learner": "auto"}),
        "weights": (World(FEW), {"weighted": True}), "weights, by columns": (by_columns, {"weighted": True}),
        "texts, by columns": (by_columns, {"learner": "auto", "text": True}),
        "3 grades": (World(FEW, n_classes=3), {}), "10 grades": (World(FEW, n_classes=10), {}),
    }  # fmt: skip
    shown = _table(f"12 graders with 200 rows each, tables with {n_graders // 3} graders together", ("", *COLUMNS))
    for name, (world, options) in settings.items():
        found = tally()
        for number in range(n_tables(world, n_graders // 3)):
            table, effects = of_world(world, first + number, **options)
            found.add(effects, dict(enumerate(table.truth)))
        shown.add_row(name, *found.cells)
    console.print(shown)


def floor(console: Console, n_graders: int, first: int) -> None:
    """The floor of the number of wrong grades where rows are said to be given out at random."""
    shown = _table("Wrong grades that graders show", ("", "tables", "wrong", "floor", "holds", "refuted"))
    for name, world in FLOORS.items():
        wrong, least, refuted = [], [], []
        for number in range(min(n_tables(world, n_graders // 3), 10)):
            table = drawn(world, first + number)
            probabilities = fitted("mlp", table).out_of_fold_
            assert probabilities is not None
            found = fewest_by_graders(probabilities, table.ranks, table.who)
            wrong.append(table.wrong)
            least.append(found.n_wrong / len(table.ranks))
            refuted.append(found.is_refuted)
        held = [bool(low <= right + 0.004) for low, right in zip(least, wrong, strict=True)]
        shown.add_row(
            name, str(len(wrong)), f"{np.mean(wrong):.3f}", f"{np.mean(least):.3f}", _share(held), _share(refuted)
        )
    console.print(shown)


def listeners(console: Console, n_graders: int, first: int) -> None:
    """The Voice Conversion Challenge of 2018, one grade per recording, against the other grades of the listeners."""
    grades = pl.read_csv(RATERS / "vcc2018_listeners.csv.gz")
    draws = n_thinnings(n_graders)
    shown = _table(
        f"Listeners of VCC2018, {draws} thinnings each", ("rows", "correlation", "of plain means", "width", *COLUMNS)
    )
    for n_rows in (None, 4000):
        found, together, plain, widths = tally(), [], [], []
        for number in range(draws):
            rng = np.random.default_rng(first + number)
            thinned, rest = _thinned(grades, rng)
            truth, error = two_way(rest)
            kept = thinned if n_rows is None else thinned.sample(n_rows, seed=first + number)
            columns = kept.select("system", "target", "source", "task", pl.col("sentence").cast(pl.String)).to_pandas()
            model = OrdinalClassifier("mlp", noise=None, random_state=0).fit(columns, kept["grade"].to_numpy())
            effects = grader_effects(model, kept["grade"].to_numpy(), kept["rater"].to_numpy(), columns)
            means = dict(kept.group_by("rater").agg(pl.col("grade").mean()).iter_rows())
            known = [one for one in effects if one.shift is not None and one.grader in truth]
            values = np.array([(one.shift.value, truth[one.grader], means[one.grader]) for one in known if one.shift])
            together.append(np.corrcoef(values.T)[0, 1])
            plain.append(np.corrcoef(values.T)[2, 1])
            widths.append(np.mean([one.shift.high - one.shift.low for one in known if one.shift]))
            found.add(_widened(effects, error), truth)
        cells = (f"{np.mean(together):.3f}", f"{np.mean(plain):.3f}", f"{np.mean(widths):.2f}")
        shown.add_row("all" if n_rows is None else str(n_rows), *cells, *found.cells)
    console.print(shown)


def n_thinnings(n_graders: int) -> int:
    """Thinnings of a set: five for 150 graders, and two at least."""
    return max(2, n_graders // 30)


def _thinned(grades: pl.DataFrame, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One grade of each item, drawn at random, and the others."""
    mixed = grades.with_columns(pl.Series("at", rng.random(grades.height))).sort("at")
    is_first = mixed["item"].is_first_distinct()
    return mixed.filter(is_first).drop("at"), mixed.filter(~is_first).drop("at")


def two_way(grades: pl.DataFrame) -> tuple[dict[Any, float], dict[Any, float]]:
    """Each rater less the others with its standard error, by least squares on raters and items."""
    names, who = np.unique(grades["rater"].to_numpy(), return_inverse=True)
    of_item = np.unique(grades["item"].to_numpy(), return_inverse=True)[1]
    given = grades["grade"].to_numpy().astype(np.float64)
    sizes = np.bincount(of_item)
    given = given - (np.bincount(of_item, given) / sizes)[of_item]
    flags = np.zeros((len(sizes), len(names)))
    np.add.at(flags, (of_item, who), 1.0)
    gram = np.diag(np.bincount(who)).astype(float) - flags.T @ (flags / sizes[:, None])
    inverse = np.linalg.pinv(gram)
    effects = inverse @ np.bincount(who, given, len(names))
    left = given - effects[who] + (np.bincount(of_item, effects[who]) / sizes)[of_item]
    variance = float(left @ left) / (len(given) - len(sizes) - len(names) + 1)
    share = np.bincount(who) / len(who)
    contrast = np.where(np.eye(len(names)) > 0, 1.0, -share[None, :] / (1 - share)[:, None])
    errors = np.sqrt(variance * np.einsum("gi,ij,gj->g", contrast, inverse, contrast))
    values = (contrast @ effects).tolist()
    return dict(zip(names.tolist(), values, strict=True)), dict(zip(names.tolist(), errors.tolist(), strict=True))


def _widened(effects: GraderEffects, errors: Mapping[Any, float]) -> GraderEffects:
    """Effects whose intervals hold the error of the truth, too."""
    found = []
    for one in effects:
        shift, error = one.shift, 1.96 * errors.get(one.grader, 0.0)
        if shift is not None:
            reach = float(np.hypot(shift.half_width, error))
            shift = Estimate(shift.value, shift.value - reach, shift.value + reach)
        found.append(replace(one, shift=shift))
    return replace(effects, effects=tuple(found))


def dialogues(console: Console, n_graders: int, first: int) -> None:
    """Sarcasm in dialogues, one grade each: some two rows a grader, of whom nothing can be said."""
    grades = pl.read_csv(RATERS / "csc_sarcasm_grades.csv.gz")
    texts = pl.read_csv(RATERS / "csc_sarcasm_texts.csv.gz").select("item", "context", "response")
    draws = n_thinnings(n_graders)
    shown = _table(f"Dialogues of CSC, {draws} thinnings", ("graders", "too few rows", "differ"))
    for number in range(draws):
        thinned = _thinned(grades, np.random.default_rng(first + number))[0].join(texts, on="item")
        columns = thinned.select("context", "response").to_pandas()
        model = OrdinalClassifier(noise=None, random_state=0).fit(columns, thinned["grade"].to_numpy())
        effects = grader_effects(model, thinned["grade"].to_numpy(), thinned["rater"].to_numpy(), columns)
        shown.add_row(str(len(effects)), str(len(effects.unknown)), str(len(effects.differing)))
    console.print(shown)


def timed(console: Console, n_graders: int, first: int) -> None:
    """The time of the comparison beside that of the audit it is a part of, the least of a few."""
    from ordinoise.app.verbs.audit import audit_file
    from ordinoise.app.verbs.request import Request

    table = drawn(World((400,) * 50), first)
    frame = pl.DataFrame({f"x{at}": column for at, column in enumerate(table.columns.T)})
    frame = frame.with_columns(pl.Series("who", [f"w{one}" for one in table.who]), pl.Series("grade", table.ranks))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.write_csv(path)
        begin = time.perf_counter()
        found, _ = audit_file(Request(path, target="grade", ignore=("who",), jobs=1), Path(folder) / "without")
        whole = time.perf_counter() - begin
        own = np.inf
        for _ in range(n_thinnings(n_graders)):
            begin = time.perf_counter()
            grader_effects(found.graded, table.ranks, table.who, found.graded_rows, classes=found.model.classes_)
            own = min(own, time.perf_counter() - begin)
    console.print(
        f"20,000 rows, 50 graders: audit {whole:.1f} s; comparison of graders {own:.2f} s, {own / whole:.1%} of it"
    )


def _table(title: str, columns: tuple[str, ...]) -> Table:
    shown = Table(title=title)
    for at, column in enumerate(columns):
        shown.add_column(column, justify="right" if at else "left")
    return shown


PARTS = {
    "worlds": worlds, "others": others, "floor": floor, "listeners": listeners, "dialogues": dialogues, "time": timed,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=PARTS)
    parser.add_argument("--graders", type=int, default=50, help="in the tables of a setting together")
    parser.add_argument("--first-seed", type=int, default=1000)
    options = parser.parse_args()
    console = Console()
    for name, part in PARTS.items():
        if options.part in (None, name):
            part(console, options.graders, options.first_seed)


if __name__ == "__main__":
    main()
