"""Whole paths in a browser: a new user from the file to the next audit, and two reviewers at once."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from app.cli.command import run
from app.cli.conftest import request_for
from app.cli.graded import GRADES, TRUE, write_graded
from app.review.pages import ReviewPage
from app.review.server import Server
from browser import browser
from ordinoise.app.records.audit import read_record
from ordinoise.app.review.reasons import grade_keys

pytestmark = pytest.mark.slow
WORDS = ("--target", "quality", "--order", ",".join(GRADES), "--learner", "mlp", "--jobs", "1")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a table and the matrix of its noise."""
    request_for(write_graded(tmp_path / "table.csv"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _command(page_text: str, verb: str) -> list[str]:
    """The words of the first command with this verb that the report names."""
    found = re.search(rf"ordinoise {verb} [^\n]*", page_text)
    assert found is not None, verb
    return found[0].split()[1:]


def _key_of(row: int) -> str:
    key = grade_keys(GRADES)[TRUE[row]]
    assert key is not None
    return key


def _open(tab: ReviewPage, server: Server, row: int) -> None:
    tab.page.goto(f"{server.origin}/#row={row}")
    tab.page.reload()
    tab.ready()
    assert tab.row == row


def _grade(tab: ReviewPage, server: Server, row: int, key: str) -> None:
    _open(tab, server, row)
    tab.press(key)
    tab.saved()


def test_a_new_user_goes_from_the_file_to_a_second_audit_by_what_the_report_says(
    folder: Path, chromium: Browser
) -> None:
    first = run("audit", "table.csv", *WORDS, "--noise", "noise.csv", "--out", "audit")
    assert first.code == 0, first.err
    assert "report.html" in first.out
    report = chromium.new_page()
    report.goto((folder / "audit" / "report.html").as_uri())
    said = report.inner_text("body")
    assert _command(said, "review") == ["review", "audit"]
    again = _command(said, "audit")
    planned = run("next", "audit", "--budget", "8")
    assert planned.code == 0, planned.err
    server = Server(folder / "audit")
    context = chromium.new_context()
    tab = ReviewPage(context, server.address, "Ann")
    for _ in range(8):
        expect(tab.page.locator("#row-place")).to_contain_text("to verify next")
        tab.press(_key_of(tab.row))
    tab.saved()
    tab.page.click("#finish-button")
    expect(tab.page.locator("#finish-words")).to_be_visible()
    tab.page.click("#export")
    expect(tab.page.locator("#export-result code")).to_contain_text("table.reviewed.csv")
    assert tab.complaints == []
    context.close()
    server.close()
    with (folder / "table.reviewed.csv").open() as file:
        assert len(list(csv.DictReader(file, delimiter=";"))) == len(TRUE)
    second = run(*again, "--jobs", "1")  # the report's command, with the options of the first audit
    assert second.code == 0, second.err
    assert "8 settled grades are used" in second.out
    report.goto((folder / "audit-next" / "report.html").as_uri())
    assert "Reviewed so far" in report.inner_text("body")
    report.close()


def test_two_reviewers_at_once_grade_blind_disagree_and_decide_together(folder: Path, chromium: Browser) -> None:
    assert run("audit", "table.csv", *WORDS, "--noise", "noise.csv", "--out", "audit").code == 0
    rows = run("next", "audit", "--budget", "6", "--json").json["rows"]
    server = Server(folder / "audit")
    contexts = [chromium.new_context() for _ in range(2)]
    ann, ben = (ReviewPage(one, server.address, name) for one, name in zip(contexts, ("Ann", "Ben"), strict=True))
    for own, other in zip(rows[:3], rows[3:], strict=True):  # in turns, each at rows of their own
        _grade(ann, server, own, _key_of(own))
        _grade(ben, server, other, _key_of(other))
    for tab in (ann, ben):
        expect(tab.page.locator("#progress-text")).to_contain_text("6 of", timeout=15_000)
    server.close()
    assert run("next", "audit", "--repeat", "--budget", "6").code == 0
    server = Server(folder / "audit")
    ann, ben = (ReviewPage(one, server.address, name) for one, name in zip(contexts, ("Ann", "Ben"), strict=True))
    wrong = ben.row
    for turn in range(6):
        expect(ben.page.locator("#row-place")).to_contain_text("shown again")
        assert ben.page.inner_text("#verdicts").strip() == ""  # nobody's earlier answer
        assert ben.page.locator("#history-list li").count() == 0
        key = grade_keys(GRADES)[(TRUE[wrong] + 1) % 4] if turn == 0 else _key_of(ben.row)
        assert key is not None
        ben.press(key)
    ben.saved()
    expect(ann.page.locator("#progress-text")).to_contain_text("1 disputed", timeout=15_000)
    _open(ann, server, wrong)
    expect(ann.page.locator("#verdicts")).to_contain_text("disagree")
    ann.press(_key_of(wrong))
    ann.saved()
    expect(ben.page.locator("#progress-text")).not_to_contain_text("disputed", timeout=15_000)
    assert [*ann.complaints, *ben.complaints] == []
    for context in contexts:
        context.close()
    server.close()
    words = (*WORDS, "--noise", "noise.csv", "--reviewed", "audit", "--out", "second")
    done = run("audit", "table.csv", *words)
    assert done.code == 0, done.err
    assert "6 rows were graded twice, blind; 1 differed" in " ".join(done.out.split())
    record = read_record(folder / "second")
    assert {one.again_by for one in record.repeats} == {"Ben"}
    assert {one.reviewer for one in record.repeats} == {"Ann", "Ben"}
    assert [one.row for one in record.repeats if one.is_differing] == [wrong]
    assert {one.row: one.grade for one in record.settled}[wrong] == GRADES[TRUE[wrong]]
