"""Grades, cells, names and notes that are written to run as a script, in a real browser: none of them runs.

Every page is opened twice: under its Content Security Policy, where an attempt would be reported, and without it, where
it would succeed.
"""

import csv
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from app.report.cases import findings
from app.review.pages import ReviewPage
from app.review.sample import sample_audit
from app.review.server import Server
from browser import browser
from ordinoise.app.records.audit import (
    AuditRecord,
    Contribution,
    Similar,
    WordContribution,
    read_record,
    write_record,
)
from ordinoise.app.report.page import write_report
from ordinoise.app.review import open_decisions
from ordinoise.columns.findings import ColumnFindings

RUN = "window.__xss=(window.__xss||0)+1"
GRADES = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"\"><svg onload='{RUN}'>",
    f"javascript:{RUN}",
    f"'-({RUN})-'",
    f"${{{RUN}}}`",
)
PAYLOADS = (
    *GRADES,
    f"</script><script>{RUN}</script>",
    f"</textarea></title></style><script>{RUN}</script>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'>",
    f"<a href=\"javascript:{RUN}\" autofocus onfocus='{RUN}' id=status>x</a>",
    f'<details open ontoggle="{RUN}"><input autofocus onfocus="{RUN}">',
    f"<style>@import 'javascript:{RUN}';*{{animation:x 1s}}</style><b onanimationstart={RUN}>",
    f"{{{{ cycler.__init__.__globals__ }}}} {{% print({RUN}) %}} {{{{constructor.constructor('{RUN}')()}}}}",
    f"\uff1cscript\uff1e{RUN}\uff1c/script\uff1e \u202e<script>{RUN}</script>\u2028//\u2029\ufeff",
    f"<scr\0ipt>{RUN}</scr\0ipt><math><mi//xlink:href='data:x,<script>{RUN}</script>'>",
    f"--><!--<img src=x onerror={RUN}//--!>]]><![CDATA[<script>{RUN}</script>",
    f"<base href=//evil.invalid/><meta http-equiv=refresh content='0;url=javascript:{RUN}'><link rel=stylesheet href=//evil.invalid>",
    f"__proto__ constructor {RUN}",
)
FILE_NAME = f'<img src=x onerror="{RUN}">\'`.csv'
WATCH = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.__violations.push(event.violatedDirective + " " + event.sample));
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(params=[pytest.param(False, marks=pytest.mark.slow), True], ids=["policy", "no policy"])
def context(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    context = chromium.new_context(bypass_csp=request.param)
    context.set_default_timeout(15_000)
    context.add_init_script(WATCH)
    yield context
    context.close()


def _hostile(folder: Path) -> AuditRecord:
    """The sample with every text of it replaced."""
    record = sample_audit(folder, n_suspects=6)
    source = Path(record.source).rename(folder / FILE_NAME)
    named = dict(zip(record.classes, GRADES, strict=True))
    columns = tuple(
        replace(column, name=name.replace("\0", ""), note=name)  # a file with the character 0 is no table
        for column, name in zip(record.columns, PAYLOADS[::-1], strict=False)
    )
    target = [column.role for column in columns].index("target")
    cells = [
        tuple(
            named[suspect.recorded] if at == target else PAYLOADS[(3 * place + at) % len(PAYLOADS)]
            for at in range(len(columns))
        )
        for place, suspect in enumerate(record.suspects)
    ]
    suspects = tuple(
        replace(
            suspect,
            recorded=named[suspect.recorded],
            suggested=named[suspect.suggested],
            cells=own,
            contributions=tuple(Contribution(column.name, 1 - at) for at, column in enumerate(columns)),
            words=tuple(WordContribution(column.name, 1.0, 0, len(own[at])) for at, column in enumerate(columns)),
            similar=(Similar(1, GRADES[0], own),),
        )
        for suspect, own in zip(record.suspects, cells, strict=True)
    )
    with source.open(newline="") as file:
        rows = [[*row[:target], named[row[target]], *row[target + 1 :]] for row in list(csv.reader(file))[1:]]
    with source.open("w", newline="") as file:
        csv.writer(file).writerows([[column.name for column in columns], *rows])
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    hostile = replace(
        record,
        source=str(source),
        digest=digest,
        target=columns[target].name,
        classes=GRADES,
        columns=columns,
        suspects=suspects,
    )
    write_record(folder / "audit", hostile)
    return read_record(folder / "audit")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    record = _hostile(tmp_path)
    with open_decisions(tmp_path / "audit", record) as store:
        for place, suspect in enumerate(record.suspects):
            store.decide(PAYLOADS[-1 - place][:60], suspect.row, GRADES[place])
            store.decide(PAYLOADS[place][:60], suspect.row, GRADES[place - 1])
            store.write_note(PAYLOADS[place][:60], suspect.row, "\n".join(PAYLOADS))
    server = Server(tmp_path / "audit")
    yield server
    server.close()


def _nothing_ran(page: Page) -> None:
    page.wait_for_timeout(100)
    assert page.evaluate("[window.__xss, window.__violations]") == [None, []]


def test_no_cell_runs_on_the_review_page(server: Server, context: BrowserContext) -> None:
    dialogs: list[str] = []
    asked: set[str] = set()
    context.on("dialog", lambda dialog: dialogs.append(dialog.message))
    context.on("request", lambda request: asked.add(request.url))
    tab = ReviewPage(context, server.address, reviewer=PAYLOADS[1])
    page = tab.page
    for turn in range(3):
        page.locator("#list button").nth(turn).click()
        page.fill("#note", PAYLOADS[turn])
        page.locator("#note").blur()
        page.click("#history > summary")
        expect(page.locator("#history-list li").first).to_be_visible()
        _nothing_ran(page)
        page.locator(".rung").nth(turn).click()
        tab.saved()
    page.click("#finish-button")
    page.click("#export")
    expect(page.locator("#export-result")).to_contain_text(".reviewed.csv")
    _nothing_ran(page)
    page.click("#back")
    page.select_option("#filter-grade", GRADES[0])
    page.fill("#filter-text", PAYLOADS[0])
    _nothing_ran(page)
    page.reload()
    tab.ready()
    _nothing_ran(page)
    assert page.evaluate("document.scripts.length") == 1
    assert page.locator("iframe, base, object, embed, style, [onerror], [onload], [srcdoc]").count() == 0
    assert dialogs == tab.complaints == []
    assert {url for url in asked if not url.startswith(server.origin)} == set()


@pytest.mark.slow
def test_no_cell_runs_in_the_report(context: BrowserContext, tmp_path: Path) -> None:
    columns = [
        ColumnFindings(PAYLOADS[6], "number", "feature", 1, 200, PAYLOADS[7]),
        ColumnFindings(PAYLOADS[8], "category", "feature", 0, 3, PAYLOADS[9]),
        ColumnFindings(PAYLOADS[10], "number", "target", 0, 6),
        *(ColumnFindings(name, "text", "ignored", 0, 300, name) for name in PAYLOADS[11:]),
    ]
    found = findings(
        6,
        classes=GRADES,
        columns=columns,
        cells=[PAYLOADS[at] for at in range(len(columns))],
        curves={PAYLOADS[1]: [1.0, 0.7], PAYLOADS[2]: [1.2, 0.9]},
        source=f"/data/{FILE_NAME}",
        target=PAYLOADS[10],
        settings={PAYLOADS[3]: PAYLOADS[4], "order": list(GRADES)},
    )
    found = replace(found, heading=f"Audit of {FILE_NAME}", weights={PAYLOADS[5]: 1.0})
    write_report(tmp_path / "report.html", found)
    dialogs: list[str] = []
    complaints: list[str] = []
    asked: set[str] = set()
    page = context.new_page()
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.add(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    _nothing_ran(page)
    page.get_by_label("Find", exact=True).fill("script")
    for header in page.locator("#rows th button, #rows th").all()[:4]:
        header.click()
    for chosen in page.locator("select").all():
        chosen.select_option(index=1)
    page.mouse.move(300, 300)
    _nothing_ran(page)
    assert page.locator("iframe, base, object, embed, [onerror], [onload], [srcdoc]").count() == 0
    assert dialogs == complaints == []
    assert {url for url in asked if url != (tmp_path / "report.html").as_uri()} == set()
