import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from studies.accuracy import METRICS, summary, write_csv, write_markdown
from studies.accuracy.pages import short_table
from study_results import stored

ERRORS = (0.3, 0.5, 0.4)


def test_a_line_has_mean_and_spread_over_the_splits() -> None:
    (line,) = summary([stored("network, known", error, split=split) for split, error in enumerate(ERRORS)])
    assert (line.dataset, line.noise, line.entry, line.n_splits) == ("boston", "uniform", "network, known", 3)
    assert line.means["mean_absolute_error"] == pytest.approx(np.mean(ERRORS))
    assert line.sds["mean_absolute_error"] == pytest.approx(np.std(ERRORS, ddof=1))
    assert line.means["quadratic_weighted_kappa"] == pytest.approx(1 - np.mean(ERRORS))


def test_one_fit_with_two_decisions_gives_two_entries_with_one_time() -> None:
    lines = summary([stored("lightgbm", (0.5, 0.4), score=0.3)])
    assert {line.entry: line.means["mean_absolute_error"] for line in lines} == {
        "lightgbm, mode": 0.5,
        "lightgbm, median": 0.4,
    }
    assert [line.means["fit_seconds"] for line in lines] == [0.5, 0.5]
    assert [line.means["ranked_probability_score"] for line in lines] == [0.3, 0.3]


def test_sets_noises_and_cuts_are_kept_apart() -> None:
    results = [
        stored("mord", 0.1),
        stored("mord", 0.2, noise="none"),
        stored("mord", 0.3, dataset="california", cut="equal_width"),
        stored("mord", 0.4, dataset="california", cut="equal_frequency"),
    ]
    assert [(*line.block, line.means["mean_absolute_error"]) for line in summary(results)] == [
        ("boston", "uniform", 0.1),
        ("boston", "none", 0.2),
        ("california, equal width", "uniform", 0.3),
        ("california, equal frequency", "uniform", 0.4),
    ]


def test_what_was_not_measured_is_not_a_number() -> None:
    (line,) = summary([stored("rounded regression", 0.3)])
    assert np.isnan(line.means["ranked_probability_score"])
    assert np.isnan(line.sds["mean_absolute_error"])


def test_the_csv_holds_the_summary(tmp_path: Path) -> None:
    results = [stored("lightgbm", (0.5, 0.4), split=split, score=0.25) for split in range(2)]
    results += [stored("rounded regression", 0.3)]
    write_csv(results, tmp_path / "table.csv")
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert [row["entry"] for row in rows] == ["lightgbm, mode", "lightgbm, median", "rounded regression"]
    assert [float(row["mean_absolute_error"]) for row in rows] == [0.5, 0.4, 0.3]
    assert [row["ranked_probability_score"] for row in rows] == ["0.25", "0.25", ""]
    assert [row["mean_absolute_error_sd"] for row in rows] == ["0", "0", ""]
    assert set(METRICS) < set(rows[0])


def page(tmp_path: Path) -> str:
    results = [
        stored(name, error + 0.1 * (dataset == "toy"), dataset=dataset, noise=noise)
        for name, error in {
            "network, known": 0.1,
            "network, estimated": 0.2,
            "mord": 0.3,
            "skordinal SVOR": 0.4,
        }.items()
        for dataset in ("boston", "toy")
        for noise in ("uniform", "none")
    ]
    write_markdown(results, tmp_path / "page.md")
    return (tmp_path / "page.md").read_text()


def test_the_page_has_a_table_for_each_noise_and_says_how_all_were_set(tmp_path: Path) -> None:
    text = page(tmp_path)
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert [heading.split(":")[0] for heading in headings] == [
        "# Accuracy under label noise",
        "## Mean ranks, noisy labels",
        "## Mean ranks, clean labels",
        "## Uniform noise",
        "## Clean labels",
        "## Processor seconds of a fit",
        "## Settings",
    ]
    assert "- mord: LogisticAT(): alpha 1." in text
    assert "boston (404 rows)" in text


def test_the_page_marks_entries_that_are_given_the_matrix_and_the_best_of_the_rest(tmp_path: Path) -> None:
    text = page(tmp_path)
    assert "| network, known * | 0.100 (-) | 0.200 (-) |" in text
    assert "| network, estimated | **0.200** (-) | **0.300** (-) |" in text


def test_every_table_of_the_page_is_a_rectangle(tmp_path: Path) -> None:
    for part in page(tmp_path).split("\n\n"):
        if part.startswith("|"):
            assert len({line.count("|") for line in part.splitlines()}) == 1


def test_an_entry_with_fewer_splits_says_so_and_is_not_called_the_best(tmp_path: Path) -> None:
    results = [
        stored(name, error, dataset=dataset, split=split)
        for name, error in (("ordinoise", 0.3), ("mord", 0.5), ("corn", 0.4))
        for dataset in ("boston", "car")
        for split in (0, 1)
    ]
    results += [stored("autogluon", 0.2, dataset=dataset) for dataset in ("boston", "car")]
    write_markdown(results, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "| autogluon, median (1 of 2 splits) | 0.200 (-) | 0.200 (-) |" in text
    assert "| autogluon, median (1 of 2 splits) | 2 | -0.100 |" in text
    assert "| ordinoise | **0.300** (0.000) | **0.300** (0.000) |" in text
    assert "| AutoGluon, 60 seconds, median (1 of 2 splits) | - | -.100 |" in short_table(
        [*results, *(replace(one, trial=one.trial | {"noise": "none"}) for one in results)]
    )


def test_the_page_says_so_when_sets_were_thinned(tmp_path: Path) -> None:
    for rows, words in ((None, 0), (2000, 2)):
        write_markdown([stored("mord", 0.3, max_rows=rows)], tmp_path / "page.md")
        assert (tmp_path / "page.md").read_text().count("2000") == words


def test_a_page_of_too_little_to_rank_has_no_ranks(tmp_path: Path) -> None:
    write_markdown([stored("mord", 0.3)], tmp_path / "page.md")
    assert "rank" not in (tmp_path / "page.md").read_text().split("## ", 1)[1]


def test_the_short_table_goes_from_the_front_door_to_the_farthest_behind_and_names_missing_ranks() -> None:
    errors = {"ordinoise": 0.3, "mord": 0.5, "corn": 0.4, "network, known": 0.1, "boosting, trusting": 0.35}
    results = [
        stored(name, error, dataset=dataset, noise=noise)
        for name, error in errors.items()
        for dataset in ("boston", "car", "toy")
        for noise in ("uniform", "none")
        if (name, dataset) != ("boosting, trusting", "toy")
    ]
    _, _, *rows = short_table(results).splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[0] for row in cells] == [
        "`OrdinalClassifier()`",
        "`OrdinalBoostingClassifier()`, trusting",
        "coral-pytorch, CORN",
        "mord",
    ]
    assert [row[1] for row in cells] == ["1.00", "-", "2.00", "3.00"]
    assert [row[2:4] for row in cells][:2] == [["", ""], [".050", ".050 to .050"]]
