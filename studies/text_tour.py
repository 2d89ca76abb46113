"""Reviews with stars, from a CSV file to fixed grades and a model: a page with every output, and screenshots.

``python -m studies.text_tour --docs docs [--data-dir DIR]``

Sentences of product reviews with the average stars of 20 people, some of them turned over, so that the answers can be
checked; without the data folder, reviews put together from word lists. Runs the commands in an empty folder, settles
ten rows in a browser, and writes ``_measured/text-tour.md`` and ``_static/text-review-*.png`` below the folder of the
documentation.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import Browser

from ordinoise.app.records.audit import read_record
from ordinoise.app.review.reasons import grade_keys
from studies.text import texts_of
from studies.tour import Tour, main, photograph, settle

N_REVIEWS, N_OTHERS, N_DECISIONS = 1600, 400, 10
TURNED = 0.06  # share of the reviews whose stars are turned over; a round number
N_FIRST = 50  # suspects that are checked
OPINIONS = ("awful broken refund useless", "weak slow flimsy dull", "plain usual okay average",
            "good solid handy pleasant", "superb perfect love flawless")  # fmt: skip
THINGS = "the battery of this phone|the screen of this camera|the sound of the speakers|the zipper of the bag"


def reviews(data_dir: Path | None) -> tuple[list[str], list[int]]:
    """Texts and their stars."""
    rng = np.random.default_rng(0)
    wanted = N_REVIEWS + N_OTHERS
    if data_dir is not None and (data_dir / "text").is_dir():
        found = texts_of(data_dir, "amazon_snippets", rng, wanted)
        return found.texts, (found.true[:, 0] + 1).tolist()
    stars = rng.integers(5, size=wanted)
    things = THINGS.split("|")
    texts = [
        f"{rng.choice(things)} is {' and '.join(rng.choice(OPINIONS[grade].split(), 2))}, no. {at}"
        for at, grade in enumerate(stars)
    ]
    return texts, (stars + 1).tolist()


def write_reviews(folder: Path, data_dir: Path | None) -> list[int]:
    """Write reviews.csv, where some stars are turned over, and others.csv; the right stars of the former."""
    texts, stars = reviews(data_dir)
    rng = np.random.default_rng(1)
    can_turn = np.flatnonzero(np.array(stars[:N_REVIEWS]) != 3)
    turned = set(rng.choice(can_turn, round(TURNED * N_REVIEWS), replace=False).tolist())
    given = [6 - star if at in turned else star for at, star in enumerate(stars[:N_REVIEWS])]
    pl.DataFrame({"review": texts[:N_REVIEWS], "stars": given}).write_csv(folder / "reviews.csv")
    pl.DataFrame({"review": texts[N_REVIEWS:], "stars": stars[N_REVIEWS:]}).write_csv(folder / "others.csv")
    return stars[:N_REVIEWS]


def wrong_rows(folder: Path, true: list[int], name: str = "reviews.csv") -> set[int]:
    """Rows of a file whose stars are not the right ones."""
    given = pl.read_csv(folder / name)["stars"].to_list()
    return {row for row, star in enumerate(given) if star != true[row]}


def true_keys(folder: Path, true: list[int]) -> list[str]:
    """The keys of the average stars of the first suspects."""
    record = read_record(folder / "audit")
    keys = grade_keys(record.classes)
    return [keys[record.classes.index(str(true[one.row]))] or "k" for one in record.suspects[:N_DECISIONS]]


def tour(docs: Path, folder: Path, data_dir: Path | None, browser: Browser) -> None:
    data_dir = data_dir or (Path(os.environ["ORDINOISE_DATA"]) if "ORDINOISE_DATA" in os.environ else None)
    steps = Tour(folder, data_dir)
    true = write_reviews(folder, data_dir)
    wrong = wrong_rows(folder, true)
    steps.say(
        f"`reviews.csv` has {N_REVIEWS:,} sentences of product reviews with one to five stars. {len(wrong)} of them "
        "were entered by somebody who took one star for the best: five became one, two became four. The column of text "
        "is found by itself, and `--rank-by large_error` puts stars first that are off by two or more:"
    )
    steps.run("ordinoise audit reviews.csv --target stars --rank-by large_error --out audit", most=60)
    first = [one.row for one in read_record(folder / "audit").suspects[:N_FIRST]]
    steps.say(
        f"Of the first {N_FIRST} suspects {np.mean([row in wrong for row in first]):.0%} have the stars turned over, "
        f"of all reviews {len(wrong) / N_REVIEWS:.0%}. `audit/report.html` and the review page show the words that "
        "speak for the suggested stars, and against them:"
    )
    with steps.served("ordinoise review audit --reviewer Ann --no-browser") as address:
        photograph(browser, address, docs / "_static" / "text-review.png")
        page = browser.new_page()
        settle(page, address, true_keys(folder, true))
        page.click("#finish-button")
        page.click("#export")
        page.wait_for_selector("#export-result code")
        page.close()
    left = wrong_rows(folder, true, "reviews.reviewed.csv")
    steps.say(
        f"{N_DECISIONS} reviews were read there and settled by one key each: {len(wrong) - len(left)} had wrong stars, "
        "which `reviews.reviewed.csv` has right. A model that trusts these decisions:"
    )
    steps.run("ordinoise fit reviews.csv --target stars --reviewed audit --out model")
    steps.say("How good is it on other reviews, whose stars are right?")
    steps.run("ordinoise evaluate model others.csv --trusted")
    steps.run("ordinoise predict model others.csv --out graded.csv")
    steps.say(f"All commands together took {steps.seconds:.0f} seconds on {os.cpu_count()} cores.")
    (docs / "_measured" / "text-tour.md").write_text("\n".join(steps.lines))
    print(f"{docs / '_measured' / 'text-tour.md'}: {steps.seconds:.0f} seconds of commands")


if __name__ == "__main__":
    main(__doc__, tour)
