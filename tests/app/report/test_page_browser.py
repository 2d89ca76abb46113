"""The report in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request

from app.report.cases import findings
from browser import browser
from ordinoise.app.report.page import write_report

WORDS = ["poor", "fair", "good", "very good", "a grade with quite a long name"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, findings(classes=WORDS))
    return path


@pytest.fixture(scope="module")
def started() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def opened(started: Browser, report: Path) -> Iterator[Page]:
    with started.new_page(viewport={"width": 1200, "height": 900}) as page:
        page.goto(report.as_uri())
        yield page


def column(page: Page, place: int) -> list[str]:
    """Texts of a column of the suspicious rows that can be seen."""
    cells = f"document.querySelectorAll('#rows tbody tr:not([hidden]) > :nth-child({place})')"
    texts: list[str] = page.evaluate(f"Array.from({cells}, cell => cell.innerText.trim())")
    return texts


def header(page: Page, title: str) -> Any:
    return page.get_by_role("columnheader", name=re.compile(f"^{title}"))


def test_nothing_is_asked_of_the_network_and_nothing_is_complained_of(started: Browser, report: Path) -> None:
    asked: list[Request] = []
    complaints: list[str] = []
    with started.new_page() as page:
        page.on("request", lambda request: asked.append(request))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(report.as_uri())
        page.get_by_label("Find", exact=True).fill("red")
    assert [request.url for request in asked] == [report.as_uri()]
    assert complaints == []


def test_rows_are_sorted_by_keyboard(opened: Page) -> None:
    ranks = column(opened, 1)
    header(opened, "Row").get_by_role("button").focus()
    opened.keyboard.press("Enter")
    rows = [int(text) for text in column(opened, 2)]
    assert rows == sorted(rows)
    assert header(opened, "Row").get_attribute("aria-sort") == "ascending"
    assert header(opened, "Rank").get_attribute("aria-sort") is None
    opened.keyboard.press("Space")
    assert [int(text) for text in column(opened, 2)] == rows[::-1]
    assert header(opened, "Row").get_attribute("aria-sort") == "descending"
    header(opened, "Rank").get_by_role("button").press("Enter")
    assert column(opened, 1) == ranks


@pytest.mark.slow
def test_grades_are_sorted_by_rank_and_shares_by_size(opened: Page) -> None:
    header(opened, "Recorded").get_by_role("button").click()
    recorded = [WORDS.index(text) for text in column(opened, 3)]
    assert recorded == sorted(recorded)
    assert len(set(recorded)) > 2
    header(opened, "Suspicion").get_by_role("button").click()
    shares = [float(text) for text in column(opened, 5)]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.slow
def test_missing_numbers_go_last_either_way(opened: Page) -> None:
    for direction in (1, -1):
        header(opened, "weight").get_by_role("button").click()
        cells = column(opened, 9)
        numbers = [float(text) for text in cells if text != "missing"]
        assert 0 < len(numbers) < len(cells)
        assert numbers == sorted(numbers, key=lambda value: direction * value)
        assert set(cells[len(numbers) :]) == {"missing"}


def test_rows_are_filtered_by_text_and_by_grade_and_the_number_is_announced(opened: Page) -> None:
    status = opened.get_by_role("status")
    assert status.inner_text() == "Showing 100 of 100 rows"
    colors = column(opened, 10)
    opened.get_by_label("Find", exact=True).press_sequentially("BLUE")
    assert set(column(opened, 10)) == {"Blue"}
    assert status.inner_text() == f"Showing {colors.count('Blue')} of 100 rows"
    opened.get_by_label("Recorded", exact=True).select_option("good")
    both = column(opened, 3)
    assert set(both) == {"good"}
    assert status.inner_text() == f"Showing {len(both)} of 100 rows"
    opened.get_by_role("button", name="Show all").click()
    assert len(column(opened, 1)) == 100
    assert opened.get_by_label("Find", exact=True).input_value() == ""


def test_without_a_script_all_rows_are_there_and_no_filter_is_offered(started: Browser, report: Path) -> None:
    with started.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(report.as_uri())
        assert page.locator("#rows tbody tr").count() == 100
        assert not page.get_by_label("Find", exact=True).is_visible()
        assert page.locator("#rows thead button:enabled").count() == 0


def test_the_page_is_never_wider_than_the_window(opened: Page) -> None:
    for width in (320, 390, 800, 1300):
        opened.set_viewport_size({"width": width, "height": 800})
        assert opened.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.slow
def test_the_dark_scheme_applies_on_screens_and_not_on_paper(opened: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.body).color"
    hill = "getComputedStyle(document.querySelector('svg [style*=\"fill: var(--g0)\"]')).fill"
    seen = []
    for scheme, medium in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        opened.emulate_media(color_scheme=scheme, media=medium)  # type: ignore[arg-type]
        seen.append([opened.evaluate(color) for color in (ground, ink, hill)])
    assert seen[0][0] == "rgb(250, 249, 247)"
    assert seen[1][0] == "rgb(18, 22, 27)"
    assert seen[2][0] == "rgb(255, 255, 255)"
    assert seen[0][1:] == seen[2][1:]
    assert not set(seen[0]) & set(seen[1])


@pytest.mark.slow
def test_the_first_stop_of_the_keyboard_skips_to_the_report(opened: Page) -> None:
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.textContent") == "Skip to the report"
    assert opened.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    opened.keyboard.press("Enter")
    assert opened.evaluate("location.hash") == "#main"


@pytest.mark.slow
def test_it_prints_upright_and_its_rows_across(opened: Page) -> None:
    sheets = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", opened.pdf())
    is_wide = [float(width) > float(height) for width, height in sheets]
    # The rows lie across; what comes before and after them stands upright.
    assert is_wide[0] is False
    assert is_wide[-1] is False
    assert any(is_wide)


def test_reasons_are_in_sight_on_a_usual_screen_with_short_grades(started: Browser, tmp_path: Path) -> None:
    """Long titles of numbers had pushed them beyond the edge."""
    write_report(tmp_path / "report.html", findings())
    with started.new_page(viewport={"width": 1200, "height": 900}) as page:
        page.goto((tmp_path / "report.html").as_uri())
        edge, table = page.locator("#rows thead th.why").bounding_box(), page.locator(".tall").bounding_box()
        assert edge is not None
        assert table is not None
        assert edge["x"] + edge["width"] <= table["x"] + table["width"]


@pytest.mark.slow
def test_paper_holds_forty_rows_and_says_so(opened: Page) -> None:
    opened.emulate_media(media="print")
    assert opened.locator("#rows tbody tr:visible").count() == 40
    assert opened.get_by_text("Printed here: the first 40.").is_visible()
