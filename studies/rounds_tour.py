"""Three rounds of audit, next and review, with a reviewer who errs in 5 %: a page with every command and its output.

``python -m studies.rounds_tour --docs docs [--data-dir DIR]``

A file whose true grades are known, so that the answers can be checked. The commands run in an empty folder; a
simulated reviewer settles the rows that ``ordinoise next`` names, looks at some of them again, blind, and decides
rightly where the two looks differ. The rows of the last round are drawn at random, and a gate reads them. Writes
``_measured/rounds-tour.md`` below the folder of the documentation.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import Browser

from ordinoise import corrupt, inverse_decay
from ordinoise._text import TextTable, markdown
from ordinoise._validation import Ints
from ordinoise.app.records.audit import read_record
from ordinoise.app.records.plan import read_plans
from ordinoise.app.review.decisions import open_decisions
from ordinoise.app.rounds.history import history_in
from ordinoise.datasets import OrdinalDataset, load
from studies.rounds import reviewed
from studies.tour import Tour, main

SET, N_ROWS, RATE, BUDGET, N_AGAIN, N_ROUNDS = "computer", 800, 0.08, 60, 20, 3
AUDIT = "ordinoise audit ratings.csv --target stars --learner mlp"


@dataclass
class Reviewer:
    """A person who errs in 5 % of the rows, and counts how often."""

    true: Ints
    n_classes: int
    rng: np.random.Generator
    n_wrong: int = 0

    def settle(self, folder: Path) -> None:
        """Grade the rows of the last plan."""
        record = read_record(folder)
        rows = [one.row for one in read_plans(folder, record)[-1].rows]
        given = reviewed(self.true[rows], self.n_classes, self.rng)
        self.n_wrong = int((given != self.true[rows]).sum())
        self._store(folder, dict(zip(rows, given.tolist(), strict=True)))

    def decide(self, folder: Path) -> int:
        """Decide rightly where two looks differ; their number."""
        record = read_record(folder)
        looks = history_in(folder, record).repeats[len(record.repeats) :]
        differing = [one.row for one in looks if one.is_differing]
        self._store(folder, {row: int(self.true[row]) for row in differing})
        return len(differing)

    def _store(self, folder: Path, grades: dict[int, int]) -> None:
        record = read_record(folder)
        with open_decisions(folder, record) as store:
            for row, grade in grades.items():
                store.decide("Ann", row, record.classes[grade])


class Transcript(Tour):
    """A tour that shows sentences only, not the tables that the commands print."""

    def show(self, command: str, output: str, most: int = 40) -> None:
        """Add a command with its output."""
        untitled = re.sub(r"^The \d+ most suspicious (?:.*\n)+?(?=┏)", "", output, flags=re.MULTILINE)
        super().show(command, "\n".join(line for line in untitled.splitlines() if line[:1] not in "┏┃┡│└"), most)


def write_ratings(folder: Path, data_dir: Path | None) -> tuple[Ints, int]:
    """Write ratings.csv with wrong stars among the right ones; the ranks of the right ones, and their number."""
    data = load(SET, data_dir)
    assert isinstance(data, OrdinalDataset)
    rows = np.random.default_rng(0).permutation(len(data.labels))[:N_ROWS]
    true, n_classes = data.labels[rows], int(data.labels.max()) + 1
    given = corrupt(true, inverse_decay(n_classes, RATE), np.random.default_rng(0))
    features = np.asarray(data.features, dtype=np.float64)[rows]
    columns = {f"x{at + 1}": features[:, at] for at in range(features.shape[1])}
    pl.DataFrame(columns | {"stars": given + 1}).write_csv(folder / "ratings.csv")
    return true, n_classes


def wrong_left(folder: Path, true: Ints) -> tuple[int, int]:
    """Wrong grades that nobody settled yet, and settled ones that are wrong."""
    record = read_record(folder)
    settled = {one.row: record.classes.index(one.grade) for one in history_in(folder, record).settled}
    given = pl.read_csv(Path(record.source))["stars"].to_numpy() - 1
    open_rows = np.setdiff1d(np.arange(len(true)), list(settled))
    own = sum(grade != true[row] for row, grade in settled.items())
    return int((given != true)[open_rows].sum()), int(own)


def tour(docs: Path, folder: Path, data_dir: Path | None, browser: Browser) -> None:  # noqa: ARG001 - as `main` calls it
    steps = Transcript(folder, data_dir)
    true, n_classes = write_ratings(folder, data_dir)
    reviewer = Reviewer(true, n_classes, np.random.default_rng(2))
    given = pl.read_csv(folder / "ratings.csv")["stars"].to_numpy() - 1
    n_wrong = int((given != true).sum())
    steps.say(f"`ratings.csv` has {N_ROWS} rows with one to five stars, {n_wrong} of them wrong. Which?")
    steps.run(f"{AUDIT} --out round-0")
    lines = []
    for number in range(N_ROUNDS + 1):
        place = folder / f"round-{number}"
        record, (n_open, n_own) = read_record(place), wrong_left(place, true)
        value = "" if record.wrong is None else f"{record.wrong:.0f}"
        span = f"{record.wrong_low:.0f} to {record.wrong_high:.0f}"
        own = f"{record.settled_wrong:.1f}" if record.repeats else ""
        lines.append((str(number), str(len(record.settled)), value, span, str(n_open), own, str(n_own)))
        if number == N_ROUNDS:
            break
        is_last = number == N_ROUNDS - 1
        steps.run(f"ordinoise next round-{number} --budget {BUDGET}" + " --spot-check" * is_last)
        reviewer.settle(place)
        steps.say(f"The reviewer settles these {BUDGET} rows, {reviewer.n_wrong} of them wrongly, and looks again:")
        steps.run(f"ordinoise next round-{number} --repeat --budget {N_AGAIN}")
        reviewer.settle(place)
        n_differing = reviewer.decide(place)
        steps.say(
            f"{n_differing} of {N_AGAIN} answers differ and are decided once more, together. Then the next audit:"
        )
        steps.run(f"{AUDIT} --reviewed round-{number} --out round-{number + 1}")
    steps.say("Are at most 20 % of the grades wrong? The gate counts what the last review settled:")
    steps.run(
        f"ordinoise check ratings.csv --target stars --learner mlp --max-wrong 0.2 --reviewed round-{N_ROUNDS - 1}"
    )
    columns = (
        "rounds", "settled", "wrong among the others, counted", "95 % range or interval", "truly",
        "wrong among the settled, estimated", "truly",
    )  # fmt: skip
    steps.lines += [markdown(TextTable("Wrong grades before and after each round", columns, tuple(lines))), ""]
    steps.say(f"All commands together took {steps.seconds:.0f} seconds on {os.cpu_count()} cores.")
    (docs / "_measured" / "rounds-tour.md").write_text("\n".join(steps.lines))
    print(f"{docs / '_measured' / 'rounds-tour.md'}: {steps.seconds:.0f} seconds of commands")


if __name__ == "__main__":
    main(__doc__, tour)
