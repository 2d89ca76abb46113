"""Reviews of items that several people graded: every grade on the page, decisions that come back as verified grades."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from app.cli.command import run
from app.cli.test_raters import check_import_format
from app.ratings import export_of, write_export
from app.review.client import Client
from app.review.pages import FAINT_TEXTS, NAMELESS, ReviewPage
from app.review.server import Server
from browser import browser
from ordinoise.app.records.history import Settled
from ordinoise.app.records.ratings import RatedItem, RatersRecord, read_ratings_record
from ordinoise.app.review import open_decisions
from ordinoise.app.review.reasons import item_reasons
from ordinoise.app.verbs.review import refit_of


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of ratings and what was found in it."""
    folder = tmp_path_factory.mktemp("made")
    write_export(folder / "export.json", 30)
    done = run("raters", folder / "export.json", "--order", "low,fair,good,best", "--out", folder / "raters")
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def rated(made: Path, tmp_path: Path) -> Path:
    """A copy of the folder of the raters."""
    copy = tmp_path / "raters"
    copy.mkdir()
    for path in (made / "raters").iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


def _settle(folder: Path, grades: dict[int, str]) -> RatersRecord:
    record = read_ratings_record(folder)
    with open_decisions(folder, record) as store:
        for row, grade in grades.items():
            store.decide("Ann", row, grade)
    return record


def _other(record: RatersRecord, item: RatedItem) -> str:
    return next(grade for grade in record.classes if grade != item.recorded)


def test_the_page_gets_every_grade_of_an_item_and_who_gave_it(rated: Path) -> None:
    client = Client(rated)
    overview, page = client.get("/api/audit").json(), client.get("/").text
    client.close()
    assert "graded items" in page
    tasks = {str(task["id"]): task for task in export_of(30)}
    assert overview["is_ratings"]
    for item in overview["items"]:
        given = [one for one in tasks[item["item"]]["annotations"] if not one["was_cancelled"]]
        assert item["grades"] == [one["result"][0]["value"]["choices"][0] for one in given]
        by = [one["completed_by"] for one in given]
        assert item["raters"] == [one["email"] if isinstance(one, dict) else str(one) for one in by]


def test_reasons_tell_the_spread_and_who_guesses(rated: Path) -> None:
    record = read_ratings_record(rated)
    item = next(one for one in record.suspects if len(set(one.grades)) > 1 and "dee@example.org" in one.raters)
    lines = [
        dict(line) | {"guessing": 0.9 if line["rater"] == "dee@example.org" else 0.0, "severity": 0.0}
        for line in record.raters
    ]
    words = item_reasons(RatersRecord(**{**record.__dict__, "raters": tuple(lines)}), item)
    ranks = [record.classes.index(grade) for grade in item.grades]
    assert words[0].startswith(
        f"{len(ranks)} grades from {record.classes[min(ranks)]} to {record.classes[max(ranks)]}; the consensus "
    )
    assert words[1:] == ["dee@example.org guesses 90% of the time, so this grade counts little."]


def test_settled_items_are_written_as_a_consensus_and_as_tasks_for_label_studio(rated: Path) -> None:
    record = read_ratings_record(rated)
    changed, kept = record.suspects[:2]
    _settle(rated, {changed.row: _other(record, changed), kept.row: kept.recorded})
    client = Client(rated)
    written = client.post("/api/export", {}).json()
    client.close()
    assert (written["n_changed"], written["n_kept"]) == (1, 1)
    before, after = (pl.read_csv(path, infer_schema=False) for path in (rated / "consensus.csv", written["path"]))
    assert after["item"].to_list() == before["item"].to_list()
    assert after["grade"].item(changed.row) == _other(record, changed)
    assert after["confidence"].item(changed.row) == "1.0"
    assert "verified" in after["flags"].item(kept.row)
    others = [row for row in range(before.height) if row not in (changed.row, kept.row)]
    assert after[others].equals(before[others])
    [path] = written["also"]
    tasks = json.loads(Path(path).read_text())
    check_import_format(tasks)
    prediction = tasks[changed.row]["predictions"][0]
    assert prediction["score"] == 1.0
    assert prediction["model_version"].endswith(", reviewed")
    assert prediction["result"][0]["value"] == {"choices": [_other(record, changed)]}


def test_a_consensus_that_was_edited_is_not_exported(rated: Path) -> None:
    _settle(rated, {0: "low"})
    with (rated / "consensus.csv").open("a") as file:
        file.write("more,low,1,low,low,1,,\n")
    client = Client(rated)
    answer = client.post("/api/export", {})
    client.close()
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("consensus.csv must be unchanged")
    assert not list(rated.glob("*reviewed*"))


def test_decisions_come_back_as_verified_grades(made: Path, rated: Path, tmp_path: Path) -> None:
    record = read_ratings_record(rated)
    first = record.suspects[0]
    _settle(rated, {first.row: _other(record, first)})
    words = ("--order", "low,fair,good,best", "--trusted", rated, "--out", tmp_path / "again")
    done = run("raters", made / "export.json", *words)
    assert done.code == 0, done.err
    again = pl.read_csv(tmp_path / "again" / "consensus.csv", infer_schema=False)
    assert again["grade"].item(first.row) == _other(record, first)
    assert again["flags"].item(first.row).split()[0] == "verified"
    outcome = refit_of(rated)([Settled(first.row, first.recorded, _other(record, first))])
    after = read_ratings_record(tmp_path / "again").noise
    assert abs(outcome.after.matrix - after.matrix).max() < 1e-12
    assert abs(outcome.before.matrix - record.noise.matrix).max() < 1e-12


@pytest.fixture
def server(rated: Path) -> Iterator[Server]:
    server = Server(rated)
    yield server
    server.close()


@pytest.mark.slow
def test_items_are_settled_by_keyboard_and_hostile_cells_stay_text(server: Server, rated: Path) -> None:
    record = read_ratings_record(rated)
    with browser() as chromium:
        tab = ReviewPage(chromium.new_context(), server.address)
        page, first = tab.page, record.suspects[0]
        expect(page.locator("#row-title")).to_have_text(f"Item {first.item}")
        for rater, grade in zip(first.raters, first.grades, strict=True):
            expect(page.locator(f'.rung[data-grade="{grade}"] .tag.rater', has_text=rater)).to_have_count(1)
        chosen = record.classes.index(_other(record, first))
        tab.press(str(chosen + 1))
        expect(page.locator("#row-title")).to_have_text(f"Item {record.suspects[1].item}")
        tab.press("a", "s")
        tab.saved()
        assert page.evaluate(FAINT_TEXTS) == []
        assert page.evaluate(NAMELESS) == []
        assert page.title() != "owned"
        page.click("#finish-button")
        page.click("#export")
        expect(page.locator("#export-result")).to_contain_text("label-studio.reviewed.json")
        assert tab.complaints == []
    with open_decisions(rated, record) as store:
        found = {row: state.grade for row, state in store.states().items()}
    second, third = record.suspects[1:3]
    assert found == {first.row: record.classes[chosen], second.row: second.recorded, third.row: None}
