"""The report page: whole, safe, small and readable by every kind of reader."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from app.report.cases import DOUBTS, findings, too_few_rows, with_noise
from app.report.pages import Page
from ordinoise.app.records.audit import WordContribution
from ordinoise.app.report import contents
from ordinoise.app.report.contents import Findings
from ordinoise.app.report.page import report_html, write_report
from ordinoise.app.report.suspects import _pieces
from ordinoise.app.report.words import shortened
from ordinoise.columns.findings import ColumnFindings
from ordinoise.noise import Doubt

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"' =1+1 \u202eback\u202c שלום $x_1$ \x00\x1b </style>&amp;"
)
LIMIT = 2_000_000


@cache
def hostile_html() -> str:
    return report_html(_hostile())


def _hostile() -> Findings:
    """Findings with a text that would like to be something else in every place that a file can fill."""
    column = ColumnFindings(HOSTILE, "category", "feature", 0, 3, HOSTILE)
    target = ColumnFindings(HOSTILE + "2", "text", "target", 0, 3)
    found = findings(
        3,
        120,
        cautions=(HOSTILE,),
        classes=[HOSTILE, "שלום", "$5 & more"],
        columns=[column, target],
        cells=[HOSTILE, "1"],
        source="/tmp/\udcff" + HOSTILE,
        target=HOSTILE,
        learner=HOSTILE,
        settings={HOSTILE: HOSTILE, "order": [HOSTILE]},
        digest=HOSTILE,
        ordinoise=HOSTILE,
        curves={HOSTILE: [1.0, 0.5, 0.7]},
    )
    found = replace(found, heading=HOSTILE, weights={HOSTILE: 1.0})
    return with_noise(found, doubts=(*DOUBTS, Doubt("few-samples", HOSTILE), Doubt(HOSTILE, HOSTILE)))


@pytest.fixture(scope="module")
def html() -> str:
    return report_html(findings())


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_nothing_on_the_page_comes_from_elsewhere(page: Page, html: str) -> None:
    for element in page.elements:
        for name in ("src", "href", "xlink:href", "action", "data", "srcset"):
            assert element.attributes.get(name, "#").startswith("#"), element
        assert not {"link", "iframe", "object", "embed", "base", "form"} & {element.tag}
    assert "@import" not in html
    assert set(re.findall(r"url\((.)", html)) <= {"#"}


def test_only_the_scripts_own_hash_may_run(page: Page) -> None:
    (script,) = page.all("script")
    (policy,) = [meta for meta in page.all("meta") if meta.attributes.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256("".join(script.pieces).encode()).digest()).decode()
    assert policy.attributes["content"].startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}';" in policy.attributes["content"]


def test_texts_of_a_file_stay_texts() -> None:
    page = Page(hostile_html())
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert not [key for element in page.elements for key in element.attributes if key.startswith("on")]
    assert page.rows_of("rows")[0][-1].text.startswith("<script>alert(1)</script><img src=x onerror=alert(2)>\"' =1+1")


def test_words_of_a_text_are_marked_where_they_stand() -> None:
    text = "good  <b>phone</b>,\n good \U0001f408 screen, bad \u202e battery " + "x" * 300
    suspect = findings(cells=["1", "red", "3", text]).record.suspects[0]
    words = [
        WordContribution("id", value, *found.span())
        for value, found in zip((1, 2, -1, 3), re.finditer("good|screen|bad|x+", text), strict=False)
    ]
    shown = shortened(text, 60)
    pieces = _pieces("id", replace(suspect, words=tuple(words)), text, shown)
    assert "".join(piece for piece, _ in pieces) == shown
    assert [piece for piece in pieces if piece[1]] == [
        ("good", "for"),
        ("good", "for"),
        ("screen", "against"),
        ("bad", "for"),
    ]
    assert _pieces("weight", suspect, "1", "1") == (("1", ""),)


def test_marks_that_turn_text_round_and_control_characters_are_replaced() -> None:
    html = hostile_html()
    html.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", html)
    assert "\ufffdback\ufffd" in html


def test_a_long_cell_is_cut_and_whole_on_asking_and_a_missing_one_says_so() -> None:
    columns = [ColumnFindings(name, "text", "feature", 0, 9) for name in ("a", "b")]
    page = Page(report_html(findings(columns=columns, cells=["word " * 300, None])))
    *_, long, missing = page.rows_of("rows")[0]
    assert len(long.text) <= 200
    assert long.text.endswith("…")
    assert len(long.attributes["title"]) == 1500
    assert (missing.text, missing.attributes["class"]) == ("missing", "missing")


@pytest.mark.slow
def test_the_page_stays_small_whatever_the_file_holds() -> None:
    # Characters that take five bytes once escaped, and letters that take three.
    cell = "<&\"'長い文" * 500
    columns = [ColumnFindings(f"{place} {cell * 3}", "text", "feature", 0, 9, cell) for place in range(400)]
    html = report_html(findings(4, columns=columns, cells=[cell] * 400, classes=[f"{k}{cell}" for k in range(4)]))
    assert len(html.encode()) < LIMIT
    assert "370 more columns are in suspects.csv" in html


def test_the_size_does_not_grow_with_the_rows(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST_ROWS", 1000)
    many = report_html(findings(n_rows=20_000))
    assert len(many) < 1.05 * len(html)
    assert "Drawn from one row in 20." in many
    expected = [int(text.replace(",", "")) for text in re.findall("≈ ([0-9,]+)", many)]
    assert sum(expected) == pytest.approx(20_000, abs=5)
    assert "Drawn from" not in html


def test_the_same_findings_give_the_same_page(html: str, tmp_path: Path) -> None:
    write_report(tmp_path / "report.html", findings())
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == html
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_lines_of_the_matrix_are_true_grades(page: Page) -> None:
    first, second, *_ = page.rows_of("heat")
    # The matrix of the case has 15% one grade too low, 5% one too high.
    assert [cell.text for cell in first[:3]] == ["1", "95 86–100", "5.0 4.5–5.5"]  # noqa: RUF001
    assert [cell.text for cell in second[:3]] == ["2", "15 14–16", "80 72–88"]  # noqa: RUF001
    assert [cell.attributes.get("class") for cell in second[1:4]] == [None, "right", None]


def test_a_stronger_color_is_a_more_frequent_error(page: Page) -> None:
    rows = page.rows_of("heat")
    strengths = [int(cell.attributes["style"].removeprefix("--v:").rstrip("%")) for cell in rows[1][1:4]]
    assert strengths == [100, 80, 33]


def test_the_hundred_most_suspicious_rows_come_in_order(page: Page) -> None:
    found = findings().record.suspects
    rows = page.rows_of("rows")
    assert [int(row[0].text) for row in rows] == list(range(1, 101))
    assert [int(row[1].text) for row in rows] == [suspect.row for suspect in found[:100]]
    assert [(row[2].text, row[3].text) for row in rows] == [(one.recorded, one.suggested) for one in found[:100]]
    assert "The first 100 of 120 listed in suspects.csv" in page.one("main").text


def test_the_target_is_no_column_of_its_own_among_the_suspects(page: Page) -> None:
    headers = [cell.text for cell in page.all("th") if "thead" in cell.parents and "aria-sort" not in cell.attributes]
    assert any(text.startswith("weight") for text in headers)
    assert not any(text.startswith("stars") for text in headers)


def test_headings_go_down_one_step_at_a_time_and_the_contents_lead_to_them(page: Page) -> None:
    levels = [int(heading.tag[1]) for heading in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    targets = [link.attributes["href"][1:] for link in page.all("a") if "nav" in link.parents]
    assert targets == [heading.attributes["id"] for heading in page.all("h2")]


def test_no_id_is_there_twice_and_every_reference_leads_somewhere(html: str, page: Page) -> None:
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    referred = re.findall(r"(?:url\(|href=\")#([\w-]+)", html)
    referred += [element.attributes["aria-labelledby"] for element in page.all("section")]
    assert set(referred) <= set(ids)


def test_tables_are_tables_and_pictures_say_what_they_show(page: Page) -> None:
    assert len(page.all("table")) == len(page.all("caption")) == 5
    assert all(cell.attributes.get("scope") in {"row", "col", "colgroup"} for cell in page.all("th"))
    pictures = page.all("svg")
    assert len(pictures) == 5
    for picture in pictures:
        assert picture.attributes["role"] == "img"
        assert re.search(r"\d", picture.attributes["aria-label"])
    assert page.all("html")[0].attributes["lang"] == "en"


def test_what_can_scroll_can_be_reached_by_keyboard_and_has_a_name(page: Page) -> None:
    scrolling = [element for element in page.elements if "scroll" in element.attributes.get("class", "").split()]
    assert len(scrolling) == 10
    for element in scrolling:
        assert element.attributes["tabindex"] == "0"
        assert element.attributes["role"] == "region"
        assert element.attributes["aria-label"]


def test_pictures_take_their_colors_from_the_style_sheet(html: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", html, re.S)
    assert not re.search(r"(fill|stroke): ?#", "".join(drawings))
    used, known = set(re.findall(r"var\(--(\w[\w-]*)\)", html)), set(re.findall(r"--(\w[\w-]*):", html))
    assert used <= known


@pytest.fixture(scope="module")
def given() -> Page:
    curves = {"empty": [], "broken": [np.nan, np.inf], "good": [2.0, np.nan, 1.0]}
    found = findings(curves=curves)
    return Page(report_html(with_noise(found, source="given", interval=None, rate_interval=None)))


def test_thresholds_are_given_in_the_grades_of_the_file(page: Page) -> None:
    # The case draws its rows evenly, with grades 1 to 5 in the middle of their stretches.
    (found,) = re.findall(
        r"thresholds between grades are at ([\d.]+), ([\d.]+), ([\d.]+) and ([\d.]+)\.", page.one("main").text
    )
    assert [float(place) for place in found] == pytest.approx([1.5, 2.5, 3.5, 4.5], abs=0.1)


def test_a_given_matrix_is_called_given(given: Page) -> None:
    text = given.one("main").text
    assert text.count("The noise matrix was given, not estimated from these rows.") == 3
    assert "no intervals are known" in text
    assert "As certain as the given matrix." in text


def test_too_few_rows_are_called_so_and_no_share_is_shown() -> None:
    page = Page(report_html(too_few_rows(40)))
    text = page.one("main").text
    assert "There are too few rows to estimate how many of 40 grades are wrong." in text
    assert "So the labels are used as they are." in text
    assert "no intervals are known" in text
    assert "Unknown." in text
    assert "was given" not in text
    assert "every grade is recorded right" not in text
    assert not any("gauge" in element.attributes.get("class", "") for element in page.elements)
    assert not any("two or more off" in cell.text for cell in page.all("th"))


def test_curves_without_a_number_are_left_out(given: Page) -> None:
    (curves,) = [picture for picture in given.all("svg") if "epoch or round" in picture.text]
    assert curves.attributes["aria-label"] == "good is best after 3 steps of 3."
    assert "broken" not in curves.text


def test_few_rows_and_a_matrix_without_an_inverse_leave_out_what_needs_one() -> None:
    rows = np.array([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3]])
    page = Page(report_html(findings(3, 8, matrix=np.vstack([rows, 2 * rows[1] - rows[0]]))))
    assert "The noise matrix has no inverse" in page.one("main").text
    assert not any("observed frequency" in picture.text for picture in page.all("svg"))


def test_clean_labels_make_a_page_too() -> None:
    page = Page(report_html(findings(matrix=np.eye(5), suspects=(), curves={})))
    text = page.one("main").text
    assert "There is no sign that any of 300 grades is wrong." in text
    assert "The learners kept no curves." in text
    assert "No row is suspicious enough to list." in text


def test_an_estimate_without_slips_is_no_matrix_beside_a_range() -> None:
    found = findings(matrix=np.eye(5), wrong=None, wrong_low=0.0, wrong_high=90.0)
    trusting = with_noise(found, answer="trusting", reason="no slips were found", rate_range=(0.0, 0.3))
    page = Page(report_html(trusting))
    assert "Between 0 and 90 of 300 grades are wrong" in page.one("main").text
    assert not page.rows_of("heat")
    links = [element.attributes.get("href") for element in page.all("a")]
    assert "#certainty" in links
    assert "#matrix" not in links
    assert "#directions" not in links
    assert "#matrix" in [one.attributes.get("href") for one in Page(report_html(found)).all("a")]


@pytest.mark.slow
def test_many_grades_make_a_page() -> None:
    html = report_html(findings(31, 900, n_suspects=5))
    assert len(html.encode()) < LIMIT
    assert len(Page(html).rows_of("heat")) == 31


def test_columns_say_what_became_of_them(page: Page) -> None:
    rows = [[cell.text for cell in row] for row in page.rows_of("plain")]
    assert ["id", "text", "ignored", "300", "0", "every value is different"] in rows


def test_cautions_about_the_table_stand_in_the_opening() -> None:
    page = report_html(findings(3, 120, cautions=("column 'id' looks like a name; --ignore id skips it",)))
    opening = page[page.index('id="found"') : page.index('id="matrix"')]
    assert "column &#39;id&#39; looks like a name; --ignore id skips it." in opening
    assert "Careful" not in report_html(findings(3, 120))
