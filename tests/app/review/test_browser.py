"""Whole reviews in a browser: by keyboard, across reloads, tabs and dead servers, no decision is lost."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Route, expect

from app.review.pages import FAINT_TEXTS, NAMELESS, ReviewPage
from app.review.sample import CLASSES, noise_of, sample_audit
from app.review.server import Server
from browser import browser
from ordinoise._text import NOTHING, percent
from ordinoise.app.records.audit import AuditRecord, Similar, Suspect
from ordinoise.app.records.plan import Plan, write_plan
from ordinoise.app.review import RefitOutcome, in_words, open_decisions
from ordinoise.app.tables import read_text
from ordinoise.noise import Noise


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def server(audit: Path, chromium: Browser) -> Iterator[Server]:
    server = Server(audit)
    yield server
    server.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context()
    yield context
    context.close()


@pytest.mark.slow
def test_the_file_of_the_command_line_leads_to_the_page_once(
    server: Server, context: BrowserContext, audit: Path
) -> None:
    tab = ReviewPage(context, server.file)
    assert tab.page.url.partition("#")[0] == f"{server.origin}/"
    row = tab.row
    tab.press("s")
    tab.saved()
    assert _kept(audit) == {row: None}
    # Neither the file nor the address in the history leads in again, also not into another browser.
    with pytest.raises(Error, match="ERR_FILE_NOT_FOUND"):
        context.new_page().goto(server.file)
    assert tab.complaints == []


def _kept(audit: Path) -> dict[int, str | None]:
    """Grade by row, None for a skip, as it is on disk."""
    with open_decisions(audit) as store:
        return {row: state.grade for row, state in store.states().items() if state.status != "open"}


def _key_and_grade(suspect: Suspect, turn: int) -> tuple[str, str | None]:
    choices = (
        ("a", suspect.suggested),
        ("k", suspect.recorded),
        (suspect.suggested, suspect.suggested),
        ("s", None),
        ("5", "5"),
    )
    return choices[turn % len(choices)]


def test_a_whole_review_by_keyboard_with_a_reload_in_the_middle(
    server: Server, context: BrowserContext, audit: Path, record: AuditRecord
) -> None:
    tab = ReviewPage(context, server.address)
    assert "token" not in tab.page.url
    suspects = {suspect.row: suspect for suspect in record.suspects}
    wanted: dict[int, str | None] = {}
    for turn in range(20):
        row = tab.row
        assert row not in wanted
        key, wanted[row] = _key_and_grade(suspects[row], turn)
        tab.press(key)
        if turn % 7 == 3:
            # What the page calls saved is on disk, seen from outside.
            tab.saved()
            assert _kept(audit) == wanted
        if turn == 9:
            tab.press("u")
            expect(tab.page.locator("#status")).to_contain_text("Undone")
            assert tab.row == row
            tab.press(key)
            tab.saved()
            tab.page.reload()
            tab.ready()
            tab.progress("8 of 20 settled · 2 skipped")
    tab.saved()
    assert tab.is_finished
    assert _kept(audit) == wanted
    expect(tab.page.locator("#finish-title")).to_have_text("All rows are decided")
    _finish(tab, audit, wanted, record)
    assert tab.complaints == []


def _finish(tab: ReviewPage, audit: Path, wanted: dict[int, str | None], record: AuditRecord) -> None:
    tab.page.click("#export")
    expect(tab.page.locator("#export-result code")).to_have_text(str(audit.parent / "wine.reviewed.csv"))
    grades = read_text(audit.parent / "wine.reviewed.csv")["quality"].to_list()
    recorded = read_text(audit.parent / "wine.csv")["quality"].to_list()
    assert grades == [wanted.get(row) or grade for row, grade in enumerate(recorded)]
    tab.page.click("#refit")
    expect(tab.page.locator("#refit-result")).to_contain_text("The interval is 64% narrower than before.")
    expect(tab.page.locator("#refit-result svg")).to_be_visible()


@pytest.mark.slow
def test_the_page_writes_shares_as_the_reports_do(server: Server, context: BrowserContext, record: AuditRecord) -> None:
    tab = ReviewPage(context, server.address)
    shares = [
        0,
        1e-6,
        0.0004,
        0.0006,
        0.0123,
        0.05,
        0.0996,
        0.1,
        0.126,
        0.82,
        0.9891,
        0.991,
        0.996,
        0.9994,
        0.9995,
        0.9999,
        1,
    ]
    script = "async (shares) => shares.map((await import('/static/dom.js')).percent)"
    assert tab.page.evaluate(script, shares) == [percent(share) for share in shares]
    assert tab.page.evaluate(script, [None]) == [NOTHING]
    probabilities = {suspect.row: suspect.suspicion for suspect in record.suspects}
    assert tab.page.inner_text("#row-probability") == f"{probabilities[tab.row]:.2f} suspicion"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [(None, 0.2), (0.2, None), (None, None)],
)
def test_a_share_that_too_few_rows_left_open_is_not_drawn_as_none(
    before: float | None, after: float | None, server: Server, context: BrowserContext
) -> None:
    unknown = Noise(np.eye(6), source="too few rows", class_shares=np.full(6, 1 / 6))
    first, second = (unknown if rate is None else noise_of(rate, None) for rate in (before, after))
    outcome = RefitOutcome(first, second, 20)
    done = {"status": "done", "seconds": 1, **outcome.to_dict(), "words": in_words(outcome, CLASSES)}
    tab = ReviewPage(context, server.address)
    tab.press(*["a"] * 20)
    tab.saved()
    tab.page.route("**/api/refit", lambda route: route.fulfill(json=done))
    tab.page.click("#refit")
    result = tab.page.locator("#refit-result")
    expect(result).to_contain_text("too few rows to estimate")
    drawn = [(text, rate) for text, rate in (("before", before), ("now", after)) if rate is not None]
    expect(result.locator("circle")).to_have_count(len(drawn))
    for text, _ in drawn:
        expect(result.locator("svg")).to_have_attribute("aria-label", f"Share of wrong labels: {text} 20%")
    expect(result.locator("table")).to_have_count(0 if after is None else 1)
    # A change from a matrix that nobody knew is none.
    assert result.locator("small").all_inner_texts() == ([] if after is None else [""] * 36)
    assert tab.complaints == []


@pytest.mark.slow
def test_a_share_that_is_known_as_a_range_has_a_line_and_no_dot(server: Server, context: BrowserContext) -> None:
    ranged = replace(noise_of(0.2, None), answer="trusting", rate_range=(0.05, 0.3))
    outcome = RefitOutcome(noise_of(0.2, (0.1, 0.3)), ranged, 20)
    done = {"status": "done", "seconds": 1, **outcome.to_dict(), "words": in_words(outcome, CLASSES)}
    tab = ReviewPage(context, server.address)
    tab.press(*["a"] * 20)
    tab.saved()
    tab.page.route("**/api/refit", lambda route: route.fulfill(json=done))
    tab.page.click("#refit")
    result = tab.page.locator("#refit-result")
    expect(result).to_contain_text("New estimate: between 5.0% and 30.0% of the labels are wrong; more cannot be told")
    expect(result.locator("svg")).to_have_attribute("aria-label", "Share of wrong labels: before 20%, now 5.0% to 30%")
    expect(result.locator("circle")).to_have_count(1)
    expect(result.locator("line.span")).to_have_count(2)
    assert tab.complaints == []


@pytest.mark.slow
def test_two_tabs_at_once_and_two_reviewers(
    server: Server, context: BrowserContext, chromium: Browser, audit: Path
) -> None:
    ann, again = ReviewPage(context, server.address), ReviewPage(context, server.address)
    other = chromium.new_context()
    bob = ReviewPage(other, server.address, "Bob")
    rows = [ann.row]
    assert again.row == bob.row == rows[0]
    for _ in range(4):
        ann.press("a")
        again.press("ArrowLeft", "ArrowRight", "k")
        bob.press("s")
    for tab in (ann, again, bob):
        tab.saved()
    with open_decisions(audit) as store:
        assert len(store.history()) == 12
        assert {event.reviewer for event in store.history()} == {"Ann", "Bob"}
        n_settled = sum(state.status == "settled" for state in store.states().values())
        n_skipped = sum(state.status == "skipped" for state in store.states().values())
    words = f"{n_settled} of 20 settled" + (f" · {n_skipped} skipped" if n_skipped else "")
    for tab in (ann, again, bob):
        tab.progress(words)
    bob.page.goto(f"{server.origin}/#row={rows[0]}")
    bob.page.reload()
    bob.ready()
    with open_decisions(audit) as store:
        differs = next(grade for grade in "345678" if grade != store.state(rows[0]).grade)
    bob.press(differs)
    expect(ann.page.locator("#progress-text")).to_contain_text("1 disputed")
    ann.page.select_option("#filter-status", "disputed")
    assert ann.row == rows[0]
    expect(ann.page.locator("#verdicts")).to_contain_text(f"Reviewers disagree; the latest grade, {differs}, is used.")
    assert [*ann.complaints, *again.complaints, *bob.complaints] == []
    other.close()


@pytest.mark.slow
def test_a_server_killed_in_the_middle_costs_no_decision(server: Server, context: BrowserContext, audit: Path) -> None:
    tab = ReviewPage(context, server.address)
    for _ in range(4):
        tab.press("a")
    tab.saved()
    before = _kept(audit)
    server.kill()
    row = tab.row
    tab.press("k")
    expect(tab.page.locator("#alert")).to_contain_text(
        "The server does not respond. 1 decision or note is not saved yet"
    )
    assert tab.status == "1 change not saved yet"
    assert tab.page.locator(f'#list [data-row="{row}"]').get_attribute("data-status") == "pending"
    tab.progress("4 of 20 settled")
    tab.press("s", "a")
    assert _kept(audit) == before
    server.start()
    tab.saved()
    expect(tab.page.locator("#alert")).to_be_hidden()
    assert len(_kept(audit)) == 7
    # Keys faster than the server answers, and a death among them.
    tab.press("a", "k", "a", "s", "a")
    server.kill()
    tab.press("k", "a")
    server.start()
    tab.saved()
    tab.progress("12 of 20 settled · 2 skipped")
    with open_decisions(audit) as store:
        assert len(store.history()) == 14 == len(_kept(audit))


@pytest.mark.slow
def test_what_a_closed_tab_could_not_save_is_saved_by_the_next(
    server: Server, context: BrowserContext, audit: Path
) -> None:
    tab = ReviewPage(context, server.address)
    server.kill()
    row = tab.row
    tab.press("7")
    expect(tab.page.locator("#alert")).to_be_visible()
    tab.page.close()
    assert _kept(audit) == {}
    server.start()
    ReviewPage(context, server.address).saved()
    assert _kept(audit) == {row: "7"}


@pytest.mark.slow
def test_the_page_never_says_saved_before_the_server_did(server: Server, context: BrowserContext, audit: Path) -> None:
    tab = ReviewPage(context, server.address)
    held: list[Route] = []
    tab.page.route("**/api/decide", lambda route: held.append(route))
    row = tab.row
    tab.press("7")
    tab.until(lambda: bool(held))
    assert (tab.status, _kept(audit)) == ("Saving…", {})
    sentence = json.dumps({"error": "decisions must be a sound store, got 'disk full'"})
    held.pop().fulfill(status=503, body=sentence)
    expect(tab.page.locator("#alert")).to_contain_text("disk full")
    tab.until(lambda: bool(held))
    held.pop().fulfill(status=403, body="{}")
    expect(tab.page.locator("#alert")).to_contain_text("restarted at another address")
    assert tab.status == "1 change not saved yet"
    tab.until(lambda: bool(held))
    # The answer is lost on the way, though the decision was kept: it is sent again, and kept once.
    held[0].fetch()
    held.pop().abort()
    tab.page.unroute("**/api/decide")
    tab.saved()
    with open_decisions(audit) as store:
        assert [(event.row, event.grade) for event in store.history()] == [(row, "7")]


@pytest.mark.slow
def test_filters_notes_names_and_history(
    server: Server, context: BrowserContext, record: AuditRecord, audit: Path
) -> None:
    tab = ReviewPage(context, server.address)
    first = record.suspects[0]
    tab.press("n")
    tab.page.keyboard.type("seen 5 times, u and s are letters")
    tab.press("Control+Enter")
    tab.saved()
    tab.press("a")
    tab.saved()
    tab.press("ArrowLeft")
    assert tab.row == first.row
    assert tab.page.input_value("#note") == "seen 5 times, u and s are letters"
    tab.page.click("#history summary")
    expect(tab.page.locator("#history-list li")).to_have_count(2)
    tab.press("/")
    tab.page.keyboard.type("SEEN 5")
    expect(tab.page.locator("#found")).to_have_text("1 of 20 rows")
    tab.page.fill("#filter-text", "nothing has this")
    expect(tab.page.locator("#empty")).to_be_visible()
    tab.page.click("#reset-filter")
    tab.page.select_option("#filter-status", "open")
    expect(tab.page.locator("#list li")).to_have_count(19)
    grade = record.suspects[1].recorded
    tab.page.select_option("#filter-status", "all")
    tab.page.select_option("#filter-grade", grade)
    expect(tab.page.locator("#list li")).to_have_count(sum(one.recorded == grade for one in record.suspects))
    tab.page.click("#reviewer")
    tab.page.fill("#name-field", "Bob")
    tab.press("Enter")
    expect(tab.page.locator("#name-dialog")).to_be_hidden()
    tab.press("u")
    expect(tab.page.locator("#status")).to_have_text("Nothing to undo")
    tab.page.select_option("#filter-grade", "")
    tab.page.select_option("#filter-status", "unseen")
    expect(tab.page.locator("#list li")).to_have_count(20)
    tab.press("?")
    expect(tab.page.locator("#help-dialog")).to_be_visible()
    tab.press("s", "Escape")
    assert list(_kept(audit)) == [first.row]
    assert tab.complaints == []


def _grade_of(near: Similar) -> str:
    return f"recorded {near.recorded}" if near.settled is None else f"settled {near.settled}"


def test_text_from_the_file_stays_text(server: Server, context: BrowserContext, record: AuditRecord) -> None:
    tab = ReviewPage(context, server.address)
    place = next(at for at, suspect in enumerate(record.suspects) if "<script>" in (suspect.cells[5] or ""))
    tab.press(*["ArrowRight"] * place)
    expect(tab.page.locator("#texts p")).to_have_text(record.suspects[place].cells[5] or "")
    assert tab.page.title() == "Review of wine.csv"
    assert tab.page.locator("#texts script, #texts b").count() == 0
    suspect = record.suspects[place]
    [word], [near] = suspect.words, suspect.similar
    expect(tab.page.locator("#texts mark")).to_have_text((suspect.cells[5] or "")[word.start : word.end])
    expect(tab.page.locator("#texts mark")).to_have_class("for" if word.value > 0 else "against")
    expect(tab.page.locator(".speaks.for")).to_contain_text(f"For {suspect.suggested}: alcohol {suspect.cells[0]}")
    expect(tab.page.locator(".speaks.against")).to_contain_text(f"For {suspect.recorded}: color")
    expect(tab.page.locator(".neighbor .which")).to_have_text(f"Row {near.row}: {_grade_of(near)}")
    image = tab.page.locator("#pictures img")
    expect(image).to_have_js_property("naturalWidth", 96)
    assert tab.complaints == []


@pytest.mark.slow
def test_ten_rows_of_text_are_settled_with_their_words_in_sight(
    server: Server, context: BrowserContext, audit: Path, record: AuditRecord
) -> None:
    tab = ReviewPage(context, server.address)
    for suspect in record.suspects[:10]:
        expect(tab.page.locator("#row-title")).to_have_text(f"Row {suspect.row}")
        [word], [near] = suspect.words, suspect.similar
        expect(tab.page.locator("#similar-rows .which")).to_have_text(f"Row {near.row}: {_grade_of(near)}")
        expect(tab.page.locator("#texts mark")).to_have_text((suspect.cells[5] or "")[word.start : word.end])
        tab.press("a")
        tab.saved()
    assert _kept(audit) == {suspect.row: suspect.suggested for suspect in record.suspects[:10]}
    assert tab.complaints == []


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("width", [390, pytest.param(1360, marks=pytest.mark.slow)])
def test_it_can_be_read_and_reached_in_any_light_and_width(
    chromium: Browser, shared: Server, scheme: Literal["light", "dark"], width: int
) -> None:
    context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 844})
    tab = ReviewPage(context, shared.address)
    for step in ("row", "finish", "list"):
        if step == "finish":
            tab.page.click("#finish-button")
        if step == "list" and width == 390:
            tab.page.click("#show-list")
        assert tab.page.evaluate(FAINT_TEXTS) == []
        assert tab.page.evaluate(NAMELESS) == []
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Server]:
    """A server for tests that only look."""
    folder = tmp_path_factory.mktemp("wine")
    sample_audit(folder)
    server = Server(folder / "audit")
    yield server
    server.close()


@pytest.mark.slow
def test_decisions_that_wait_keep_their_order_while_the_clock_goes_backwards(
    server: Server, context: BrowserContext, audit: Path
) -> None:
    tab = ReviewPage(context, server.address)
    row = tab.row
    context.route("**/api/decide", lambda route: route.abort())
    tab.page.evaluate("() => { let now = 2e12; Date.now = () => (now -= 6e4); }")
    for key in ("5", "6", "7"):
        assert tab.row == row
        tab.press(key, "ArrowLeft")
    tab.page.on("dialog", lambda dialog: dialog.accept())  # the page warns of decisions that are not saved
    tab.page.reload()
    tab.ready()
    context.unroute("**/api/decide")
    tab.saved()
    with open_decisions(audit) as store:
        assert [event.grade for event in store.history(row)] == ["5", "6", "7"]


@pytest.mark.slow
def test_a_spot_check_is_decided_without_a_look_at_the_record(
    audit: Path, record: AuditRecord, chromium: Browser
) -> None:
    chosen = record.suspects[:3]
    plan = Plan("spot check", record.digest, 0.95, chosen, sizes=(60,), stratum=(0, 0, 0))
    write_plan(audit, plan)
    server = Server(audit)
    context = chromium.new_context()
    tab = ReviewPage(context, server.address)
    for number, suspect in enumerate(chosen):
        assert tab.row == suspect.row
        expect(tab.page.locator("#row-place")).to_contain_text("spot check")
        assert tab.page.locator(".tag").count() == 0
        assert "%" not in tab.page.inner_text("#ladder")
        tab.press("a", "k")  # there is nothing to accept or to keep
        assert tab.row == suspect.row
        tab.press(suspect.suggested if number else suspect.recorded)
    tab.saved()
    tab.page.click("#finish-button")
    expect(tab.page.locator("#certificates")).to_contain_text("3 checked, 2 wrong: at most")
    assert tab.page.evaluate(FAINT_TEXTS) == []
    assert tab.complaints == []
    context.close()
    server.close()
