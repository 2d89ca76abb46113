"""The report on several raters: what it says, and that it shows a stranger's cells without running them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.ratings import RATERS, write_long
from ordinoise.app.records.ratings import RatersRecord
from ordinoise.app.report.rater_words import agreement_words
from ordinoise.app.report.raters import SECTIONS, Counts, contents_of, write_raters_report
from ordinoise.app.verbs.raters import find_consensus
from ordinoise.app.verbs.ratings_files import ratings_record, report_counts
from ordinoise.app.verbs.request import RatingsRequest


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[RatersRecord, Counts]:
    path = write_long(tmp_path_factory.mktemp("ratings") / "<i>long.csv", 40)
    consensus = find_consensus(RatingsRequest(path, item="id", rater="who", grade="stars"))
    return ratings_record(consensus, 30, "0" * 64), report_counts(consensus)


def _page(folder: Path, record: RatersRecord, counts: Counts) -> str:
    write_raters_report(folder / "page.html", record, counts)
    return (folder / "page.html").read_text()


def test_the_page_needs_nothing_else_and_runs_only_its_own_script(
    found: tuple[RatersRecord, Counts], tmp_path: Path
) -> None:
    page = _page(tmp_path, *found)
    assert page.count("<script") == 1
    assert "script-src 'sha256-" in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "&lt;script&gt;document.title" in page
    assert "&lt;b&gt;Cy&lt;/b&gt;" in page
    assert "<b>Cy" not in page
    assert "<i>long" not in page
    assert "\x1b" not in page
    assert all(f'id="{name}"' in page for name in SECTIONS)


def test_the_page_names_every_rater_every_measure_and_every_doubt(found: tuple[RatersRecord, Counts]) -> None:
    record, counts = found
    contents = contents_of(record, counts)
    assert {line["rater"] for line in contents["rater_lines"]} == set(RATERS)
    assert len(contents["matrices"]) == len(RATERS)
    assert len(contents["agreement_lines"]) == 6
    assert len(contents["doubts"]) == len(record.noise.doubts)
    assert [row["item"].item for row in contents["items"]] == [item.item for item in record.suspects]
    guesser = next(line for line in record.raters if line["rater"] == "=Dee()")
    assert guesser["guessing"] == max(line["guessing"] for line in record.raters)
    assert f"{counts.unanimous} items have the same grade" in " ".join(contents["lead"])


def test_a_small_matrix_has_true_grades_in_rows(found: tuple[RatersRecord, Counts]) -> None:
    record, counts = found
    names = [str(line["rater"]) for line in record.raters]
    for small in contents_of(record, counts)["matrices"]:
        matrix = record.noise.matrices[names.index(small["name"])]
        assert [strength for strength, _ in small["cells"]] == [round(100 * value) for row in matrix for value in row]
        assert [at for at, (_, is_right) in enumerate(small["cells"]) if is_right] == [0, 5, 10, 15]


@pytest.mark.parametrize(
    ("alpha", "words"),
    [
        ((0.9, 0.85, 0.93), "can be relied on"),
        ((0.7, 0.6, 0.8), "tentative"),
        ((0.4, 0.3, 0.5), "should not be relied on"),
    ],
)
def test_agreement_is_judged_by_its_interval(
    found: tuple[RatersRecord, Counts], alpha: tuple[float, float, float], words: str
) -> None:
    record = replace(found[0], agreement=dict(found[0].agreement) | {"alpha_ordinal": alpha})
    assert words in agreement_words(record)


def test_without_two_grades_of_an_item_the_page_says_so(found: tuple[RatersRecord, Counts], tmp_path: Path) -> None:
    record = replace(found[0], agreement={}, n_raters=0, raters=found[0].raters[:1], suspects=())
    page = _page(tmp_path, record, found[1])
    assert "No item has two grades" in page
    assert "not known who gave which grade" in page
    assert "Every item has a verified grade." in page
