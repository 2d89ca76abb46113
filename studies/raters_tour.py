"""A tour from a table of ratings to a reviewed consensus and a model: a page with every output, and screenshots.

``python -m studies.raters_tour --docs docs [--data-dir DIR]``

Simulated raters grade real wines, so that the answers can be checked. Runs the commands in an empty folder, settles
twelve items in a browser, and writes ``_measured/raters-tour.md`` and ``_static/{raters,raters-review}-*.png`` below
the folder of the documentation.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import Browser

from ordinoise.app.records.ratings import read_ratings_record
from ordinoise.app.review.reasons import grade_keys
from ordinoise.noise import adjacent, corrupt, inverse_decay, uniform
from studies.tour import Tour, main, photograph, settle

N_WINES, N_EACH, N_DECISIONS = 500, 3, 12
HABITS = {
    "Ada": inverse_decay(4, 0.06),
    "Bo": inverse_decay(4, 0.10),
    "Cleo": adjacent(4, up=0.04, down=0.45),
    "Dan": adjacent(4, up=0.40, down=0.04),
    "Eve": uniform(4, rate=0.70),
    "Flo": inverse_decay(4, 0.08),
}
COLUMNS = ("--item", "wine", "--rater", "taster", "--grade", "stars")


def write_ratings(folder: Path) -> pl.Series:
    """Write ratings.csv, three grades 1 to 4 for each wine, and others.csv, other wines with their true grades.

    Returns the true grades by wine.
    """
    every = pl.read_csv(folder / "wine.csv").sample(fraction=1.0, shuffle=True, seed=0)
    wines, rest = every[:N_WINES], every[N_WINES:]
    rest.drop("grade").with_columns((rest["grade"].clip(4, 7) - 3).alias("stars")).write_csv(folder / "others.csv")
    truth = wines["grade"].clip(4, 7) - 3
    rng = np.random.default_rng(0)
    names = list(HABITS)
    chosen = np.stack([rng.permutation(len(names))[:N_EACH] for _ in range(N_WINES)])
    seen = np.column_stack([corrupt(truth.to_numpy() - 1, HABITS[name], rng) + 1 for name in names])
    about = wines.drop("grade").with_columns(pl.Series("wine", [f"w{at:03}" for at in range(N_WINES)]))
    rows = [
        {"wine": f"w{at:03}", "taster": names[who], "stars": int(seen[at, who])}
        for at in range(N_WINES)
        for who in sorted(chosen[at])
    ]
    pl.DataFrame(rows).join(about, on="wine", how="left").write_csv(folder / "ratings.csv")
    return truth


def share_right(folder: Path, name: str, truth: pl.Series) -> float:
    return float((pl.read_csv(folder / name)["grade"] == truth).mean())  # type: ignore[arg-type]


def majority_right(folder: Path, truth: pl.Series) -> float:
    """Share of wines whose commonest grade is right; the lower one in a tie."""
    votes = pl.read_csv(folder / "ratings.csv").group_by("wine").agg(pl.col("stars").mode().min()).sort("wine")
    return float((votes["stars"] == truth).mean())  # type: ignore[arg-type]


def true_keys(folder: Path, truth: pl.Series) -> list[str]:
    """The keys of the true grades of the first items to read again."""
    record = read_ratings_record(folder / "tasting")
    keys = grade_keys(record.classes)
    return [keys[record.classes.index(str(truth[item.row]))] for item in record.suspects[:N_DECISIONS]]


def tour(docs: Path, folder: Path, data_dir: Path | None, browser: Browser) -> None:
    steps = Tour(folder, data_dir)
    columns = " ".join(COLUMNS)
    steps.run("ordinoise data winequality-red --out wine.csv")
    steps.lines = []
    truth = write_ratings(folder)
    steps.say(
        f"`ratings.csv` has {N_EACH} grades from 1 to 4 stars for each of {N_WINES} red wines, one row per grade: the "
        "wine, the taster, the stars, and what is known about the wine. The tasters are simulated: Cleo grades too "
        "low, Dan too high, Eve mostly guesses."
    )
    steps.run(f"ordinoise raters ratings.csv {columns} --out tasting", most=60)
    vote, found = majority_right(folder, truth), share_right(folder, "tasting/consensus.csv", truth)
    steps.say(
        f"Here the truth is known: {found:.0%} of the consensus grades are right, {vote:.0%} of the majority votes. "
        "`tasting/report.html` shows how far the tasters agree, who grades higher, lower or carelessly, and "
        "which wines divide them. Those are the ones to taste again:"
    )
    photograph(browser, f"file://{folder}/tasting/report.html#raters", docs / "_static" / "raters.png")
    with steps.served("ordinoise review tasting --reviewer Ann --no-browser") as address:
        photograph(browser, address, docs / "_static" / "raters-review.png")
        page = browser.new_page()
        settle(page, address, true_keys(folder, truth))
        page.click("#finish-button")
        page.click("#export")
        page.wait_for_selector("#export-result code")
        page.close()
    right = share_right(folder, "tasting/consensus.reviewed.csv", truth)
    steps.say(
        f"{N_DECISIONS} wines were settled there, one key each, and the reviewed consensus written to "
        f"`tasting/consensus.reviewed.csv`: {right:.0%} are right now. The decisions also teach about the tasters:"
    )
    steps.run(f"ordinoise raters ratings.csv {columns} --trusted tasting --out second", most=1)
    again = share_right(folder, "second/consensus.csv", truth)
    steps.say(
        f"{again:.0%} are right. A model learns from the same table. The grades of a wine stay together in every fold, "
        "the names of wines and tasters are no features, and the settled wines are trusted:"
    )
    steps.run(
        "ordinoise fit ratings.csv --target stars --item wine --rater taster --reviewed tasting --out tasting-model"
    )
    steps.say("How good is it on wines that nobody tasted? Here their true grades are known:")
    steps.run("ordinoise evaluate tasting-model others.csv --trusted")
    steps.say("To grade new wines it needs neither names nor tasters:")
    steps.run("ordinoise predict tasting-model others.csv --out graded.csv")
    steps.say(f"All commands together took {steps.seconds:.0f} seconds on {os.cpu_count()} cores.")
    (docs / "_measured" / "raters-tour.md").write_text("\n".join(steps.lines))
    print(f"{docs / '_measured' / 'raters-tour.md'}: {steps.seconds:.0f} seconds of commands")


if __name__ == "__main__":
    main(__doc__, tour)
