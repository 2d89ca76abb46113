"""The report on a judge in a real browser: light, dark and narrow."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from browser import browser
from ordinoise.app.report.judge import judge_html, lead
from ordinoise.noise import corrupt, inverse_decay
from ordinoise.scoring import Judgment, judge


def judgment(n_systems: int = 3, n_rows: int = 400) -> Judgment:
    rng = np.random.default_rng(0)
    human = rng.integers(0, 5, n_rows)
    names = np.array(
        ["alpha", "a system with quite a long name of its own <b>", "\u05d0\u05d1\u05d2", *map(str, range(97))]
    )
    people = [int(grade) if row % 2 else None for row, grade in enumerate(human)]
    return judge(
        corrupt(human, inverse_decay(5, 0.1), random_state=1),
        people,
        names[rng.integers(0, n_systems, n_rows)],
        random_state=0,
    )


def test_the_lead_names_the_best_system_and_what_is_clear() -> None:
    found = judgment()
    best = max(found.systems, key=lambda one: one.mean.value)
    assert f"{best.system[:10]}" in lead(found)
    assert ("No difference" in lead(found)) == (not any(one.is_clear for one in found.differences))
    assert f"{best.mean.value:.2f}" in lead(found)
    alone = judgment(n_systems=1)
    assert lead(alone).startswith("People would give these outputs")


def test_a_system_that_nobody_graded_stands_in_the_table_with_a_dash() -> None:
    rng = np.random.default_rng(0)
    human, system = rng.integers(0, 3, 900), np.array(["a", "b", "c"]).repeat(300)
    people = [int(grade) if row % 3 and row < 600 else None for row, grade in enumerate(human)]
    found = judge(corrupt(human, inverse_decay(3, 0.1), random_state=1), people, system, random_state=0)
    assert [one.human_mean is None for one in found.systems] == [False, False, True]
    assert '<td class="num">–</td>' in judge_html("scores.csv", found)  # noqa: RUF001


@pytest.mark.slow
def test_many_systems_stay_a_small_page_that_says_what_is_left_out() -> None:
    page = judge_html("scores.csv", judgment(45, 900))
    assert len(page) < 500_000
    assert "more systems in judge.json" in page
    assert "more pairs in judge.json" in page


@pytest.mark.slow
def test_the_page_fits_its_window_and_asks_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(judge_html("scores.csv", judgment()), encoding="utf-8")
    windows: list[tuple[int, Literal["light", "dark"]]] = [(1000, "light"), (1000, "dark"), (360, "light")]
    asked: list[str] = []
    with browser() as running:
        for width, scheme in windows:
            with running.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme) as page:
                page.on("request", lambda request: asked.append(request.url))
                page.on("console", lambda message: asked.append(message.text))
                page.goto(path.as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.locator("svg[role=img][aria-label]").count() == 2
                assert page.locator("b").count() == 0
                shares = page.locator("table", has_text="or a higher one").locator("tbody td").all_inner_texts()
                assert [text.split("\n")[0][-1] for text in shares] == ["%"] * 3 * 4
    assert asked == [path.as_uri()] * len(windows)
