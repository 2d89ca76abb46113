"""The studies of harm: what they count, on a few rows."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from studies import counts, harm, real, small


def outcome(default: float, answer: str = "corrected", *, holds: bool = True, in_doubt: bool = False) -> harm.Outcome:
    return harm.Outcome(0.5, 0.4, default, answer, in_doubt, holds, holds, 0.9)


def test_the_summary_counts_harm_what_is_kept_and_what_holds() -> None:
    found = {
        ("logistic", "inverse decay .15", 5): [outcome(0.4), outcome(0.45, "cautious", holds=False, in_doubt=True)],
        ("logistic", "perceived", 5): [outcome(0.52, "trusting", holds=False), outcome(0.5, "trusting")],
        ("hidden causes", "clean", 5): [outcome(0.5, holds=False)],
        ("sharp", "region too low", 5): [outcome(0.5, "trusting", holds=False)],
    }
    console = Console(width=200)
    with console.capture() as shown:
        harm.show_summary(console, found)
    text = shown.get()
    assert "worst +0.0100 (logistic, perceived, 5 grades)" in text
    assert "75% of the gain of always correcting is kept; answered corrected in 50% of the runs" in text
    assert "without hidden causes: the range of the rate holds or a doubt is raised in 60% of the runs" in text
    assert "without hidden causes and regions too low: the range of the rate holds or a doubt is raised in 75%" in text


def test_every_setting_is_a_world_with_a_recording() -> None:
    for overlap, recording, n_classes in harm.SETTINGS:
        rng = np.random.default_rng(0)
        world = harm.world(overlap, n_classes, 300, rng)
        recorded = harm.RECORDINGS[recording](world, rng)
        share = (recorded != world.labels).mean()
        assert set(recorded) <= set(range(n_classes))
        assert (share == 0) == (recording == "clean"), (overlap, recording)


@pytest.mark.slow
def test_clean_and_noisy_labels_are_counted() -> None:
    wrong, low, high, _ = counts.run("normal", "clean", 3000, 0)
    assert wrong == 0
    assert low < 1 < high
    wrong, low, high, in_doubt = counts.run("logistic", "inverse decay .15", 3000, 0)
    assert wrong > 1000
    assert low <= wrong <= high or in_doubt


def test_texts_have_one_drawn_rating_and_the_grade_of_all(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    with gzip.open(tmp_path / "text" / "tweets.csv.gz", "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "ratings"])
        for i in range(60):
            rows.writerow(
                [
                    i,
                    f"good words number {i % 7}" if i % 2 else f"bad words number {i % 5}",
                    "3 4 3" if i % 2 else "-3 -4 0",
                ]
            )
    texts, recorded, true = real.texts(tmp_path, "tweets", np.random.default_rng(0))
    assert {(text.startswith("good"), int(grade)) for text, grade in zip(texts, true, strict=True)} == {
        (True, 4),
        (False, 1),
    }
    assert set(recorded[true == 4]) == {4}
    assert set(recorded[true == 1]) == {0, 2}


def test_simulated_small_tables_have_three_grades_and_the_signal_they_name() -> None:
    drawn = {name: small.rows_of(name, None, np.random.default_rng(0)) for name in ("weak", "nothing", "codes")}
    for features, grades in drawn.values():
        assert np.ptp(np.bincount(grades, minlength=3)) <= 2
        assert len(features) == len(grades)
    found = {name: abs(np.corrcoef(drawn[name][0][:, 0], drawn[name][1])[0, 1]) for name in ("weak", "nothing")}
    assert found["weak"] > 0.3 > 0.1 > found["nothing"]
    assert (drawn["codes"][0].sum(axis=1) == 2).all()
