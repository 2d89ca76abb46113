"""Any order of what reviewers, tabs, crashes and a full disk do: nothing acknowledged is lost, exports equal the log."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.review.client import Client
from app.review.sample import CLASSES, sample_audit
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.review.decisions import DECISIONS, DecisionStore
from ordinoise.app.rounds.next import plan_next
from ordinoise.app.tables import read_text

N_ROWS, N_SUSPECTS = 24, 6
N_EXAMPLES = int(os.environ.get("ORDINOISE_EXAMPLES", "8"))
"""Runs of the machine; more of them find rarer orders."""
PEOPLE, TABS = ("Ann", "Bob"), 2


class Review(RuleBasedStateMachine):
    """The review of a small audit, beside a plain model: a list of the acknowledged events."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="review-model-"))
        self.record: AuditRecord = sample_audit(self.home, N_SUSPECTS, n_rows=N_ROWS)
        self.folder = self.home / "audit"
        self.rows = [one.row for one in self.record.suspects]
        self.acknowledged: list[dict[str, Any]] = []
        self.tabs: list[Client] = []
        self.is_full = False

    @initialize()
    def start(self) -> None:
        self._write_labels()
        self.tabs = [Client(self.folder) for _ in range(TABS)]

    def teardown(self) -> None:
        for tab in self.tabs:
            tab.close()
        shutil.rmtree(self.home, ignore_errors=True)

    # What people do ------------------------------------------------------------------------------------

    @rule(
        tab=st.integers(0, TABS - 1), who=st.sampled_from(PEOPLE), place=st.integers(0, N_SUSPECTS - 1),
        grade=st.sampled_from((*CLASSES, None)),
    )  # fmt: skip
    def decide(self, tab: int, who: str, place: int, grade: str | None) -> None:
        body = {"row": self.rows[place], "grade": grade, "reviewer": who, "key": secrets.token_hex(8)}
        self._write(tab, "/api/decide", body, "skip" if grade is None else "grade")

    @rule(
        who=st.sampled_from(PEOPLE),
        grades=st.lists(st.sampled_from(CLASSES), min_size=3, max_size=N_SUSPECTS),
        exports=st.booleans(),
    )
    def decide_many(self, who: str, grades: list[str], exports: bool) -> None:
        for place, grade in enumerate(grades):
            body = {"row": self.rows[-1 - place], "grade": grade, "reviewer": who, "key": secrets.token_hex(8)}
            self._write(place % TABS, "/api/decide", body, "grade")
        if exports:
            self.export(0)

    @rule(tab=st.integers(0, TABS - 1), who=st.sampled_from(PEOPLE))
    def undo(self, tab: int, who: str) -> None:
        self._write(tab, "/api/undo", {"reviewer": who, "key": secrets.token_hex(8)}, "undo")

    @rule(tab=st.integers(0, TABS - 1), who=st.sampled_from(PEOPLE), place=st.integers(0, N_SUSPECTS - 1))
    def note(self, tab: int, who: str, place: int) -> None:
        body = {"row": self.rows[place], "note": "x" * 3900, "reviewer": who, "key": secrets.token_hex(8)}
        self._write(tab, "/api/note", body, "note")

    @precondition(lambda self: self.acknowledged)
    @rule(tab=st.integers(0, TABS - 1))
    def send_again(self, tab: int) -> None:
        """A page that missed the answer sends its decision once more: the same event, not another."""
        last = self.acknowledged[-1]
        if last["path"] == "/api/undo" and last["id"] is None:
            return
        answer = self.tabs[tab].post(last["path"], last["body"])
        assert answer.status_code == (503 if self.is_full and answer.status_code == 503 else 200), answer.text
        if answer.status_code == 200:
            assert answer.json()["event"]["id"] == last["id"]

    # What happens --------------------------------------------------------------------------------------

    @rule(tab=st.integers(0, TABS - 1))
    def end(self, tab: int) -> None:
        """The process of a tab's server is gone without a word, and another one starts."""
        store = self.tabs[tab].app.state.desk.store
        store._connection.interrupt()
        self.tabs[tab].close()
        self.tabs[tab] = Client(self.folder)
        self._limit(self.tabs[tab])

    @rule()
    def end_all(self) -> None:
        """The machine loses its power: only what is in the files is there, without a checkpoint of the log."""
        copy = self.home / "copy"
        copy.mkdir()
        for file in self.folder.glob(f"{DECISIONS}*"):
            shutil.copy(file, copy / file.name)
        for tab in self.tabs:
            tab.close()
        for file in self.folder.glob(f"{DECISIONS}*"):
            file.unlink()
        for file in copy.iterdir():
            if not file.name.endswith("-shm"):
                shutil.copy(file, self.folder / file.name)
        shutil.rmtree(copy)
        self.is_full = False
        self.tabs = [Client(self.folder) for _ in range(TABS)]

    @rule(who=st.sampled_from(PEOPLE), stays=st.booleans())
    def fill(self, who: str, stays: bool) -> None:
        """The disk is full while somebody writes; perhaps it has room again."""
        self._set_full(True)
        for place in range(4):
            self.note(place % TABS, who, place)
        self._set_full(stays)

    @rule()
    def make_room(self) -> None:
        self._set_full(False)

    @precondition(lambda self: not self.is_full)
    @rule(budget=st.integers(1, 4))
    def next_round(self, budget: int) -> None:
        """More rows are planned; servers start anew to show them."""
        try:
            _, plan = plan_next(self.folder, budget=budget)
        except ValueError as error:
            if "must have rows that are not settled" not in str(error):
                raise
            return
        self.rows += [one.row for one in plan.rows if one.row not in self.rows]
        for at, tab in enumerate(self.tabs):
            tab.close()
            self.tabs[at] = Client(self.folder)

    @rule(tab=st.integers(0, TABS - 1))
    def export(self, tab: int) -> None:
        answer = self.tabs[tab].post("/api/export")
        assert answer.status_code == 200, answer.text
        found = answer.json()
        written = Path(found["path"])
        was, now = read_text(self.home / "wine.csv"), read_text(written)
        written.unlink()
        settled = self._settled()
        wanted = [settled.get(row, grade) for row, grade in enumerate(was["quality"])]
        assert now["quality"].to_list() == wanted
        assert now.drop("quality").equals(was.drop("quality"))
        n_changed = sum(was["quality"][row] != grade for row, grade in settled.items())
        assert (found["n_changed"], found["n_kept"]) == (n_changed, len(settled) - n_changed)

    # What must hold ------------------------------------------------------------------------------------

    @invariant()
    def everything_acknowledged_is_in_the_file(self) -> None:
        if not self.tabs:
            return
        with sqlite3.connect(f"file:{self.folder / DECISIONS}?mode=ro", uri=True) as connection:
            stored = connection.execute("SELECT id, key, kind, row, grade FROM events ORDER BY id").fetchall()
        connection.close()
        kept = [one for one in self.acknowledged if one["id"] is not None]
        assert [(one[0], one[1]) for one in stored] == [(one["id"], one["body"]["key"]) for one in kept]
        assert [one[2] for one in stored] == [one["kind"] for one in kept]

    @invariant()
    def every_tab_shows_the_state_that_follows(self) -> None:
        settled = self._settled()
        for tab in self.tabs:
            states = tab.app.state.desk.store.states()
            assert {row: one.grade for row, one in states.items() if one.grade is not None} == settled

    # The model -----------------------------------------------------------------------------------------

    def _write(self, tab: int, path: str, body: dict[str, Any], kind: str) -> None:
        answer = self.tabs[tab].post(path, body)
        if self.is_full and answer.status_code == 503:
            assert "must be an undamaged, writable file" in answer.json()["error"]
            return
        assert answer.status_code == 200, answer.text
        event = answer.json()["event"]
        self.acknowledged.append(
            {"id": None if event is None else event["id"], "kind": kind, "path": path, "body": body}
        )

    def _settled(self) -> dict[int, str]:
        """The latest grade of every row, by the acknowledged events alone."""
        valid: list[tuple[str, int, str | None]] = []
        for one in self.acknowledged:
            body, who = one["body"], one["body"]["reviewer"]
            if one["kind"] == "undo":
                mine = [at for at, (name, _, _) in enumerate(valid) if name == who]
                if mine:
                    del valid[mine[-1]]
            elif one["kind"] != "note":
                valid.append((who, body["row"], body["grade"]))
        latest: dict[int, dict[str, str | None]] = {}
        for who, row, grade in valid:
            of_row = latest.setdefault(row, {})
            of_row.pop(who, None)
            of_row[who] = grade
        found = {row: [grade for grade in of_row.values() if grade is not None] for row, of_row in latest.items()}
        return {row: grades[-1] for row, grades in found.items() if grades}

    def _set_full(self, is_full: bool) -> None:
        self.is_full = is_full
        for tab in self.tabs:
            self._limit(tab)

    def _limit(self, tab: Client) -> None:
        """Hold SQLite to the size that the file has, as a full disk does."""
        store: DecisionStore = tab.app.state.desk.store
        pages = store._execute("PRAGMA page_count") if self.is_full else 2**30
        store._execute(f"PRAGMA max_page_count = {pages}")

    def _write_labels(self) -> None:
        """labels.csv of the audit, which the next round is planned from."""
        names = ["row", "recorded", "suggested", "suspicion", *(f"graded_{grade}" for grade in CLASSES)]
        grades = read_text(self.home / "wine.csv")["quality"]
        lines = [",".join([str(row), grade, CLASSES[0], "0.5", *["0.2"] * 5, "0"]) for row, grade in enumerate(grades)]
        (self.folder / "labels.csv").write_text("\n".join([",".join(names), *lines]) + "\n")


TestReview = Review.TestCase
TestReview.settings = settings(
    max_examples=N_EXAMPLES, stateful_step_count=40, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
