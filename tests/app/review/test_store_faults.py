"""Keys that are used twice, a clock that goes backwards, and files that cannot be written."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from pathlib import Path

import pytest

from app.review.client import Client
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.review import DecisionStore
from ordinoise.app.review.decisions import ReusedKeyError, StoreError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "decisions.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[DecisionStore]:
    with DecisionStore(path) as store:
        yield store


@pytest.mark.parametrize("other", ["row", "grade", "reviewer", "skip", "note", "undo"])
def test_a_key_used_again_with_other_content_is_refused(other: str, store: DecisionStore) -> None:
    store.decide("Ann", 3, "5", key="one-key-1")
    again: dict[str, Callable[[], object]] = {
        "row": lambda: store.decide("Ann", 4, "5", key="one-key-1"),
        "grade": lambda: store.decide("Ann", 3, "6", key="one-key-1"),
        "reviewer": lambda: store.decide("Bob", 3, "5", key="one-key-1"),
        "skip": lambda: store.decide("Ann", 3, None, key="one-key-1"),
        "note": lambda: store.write_note("Ann", 3, "5", key="one-key-1"),
        "undo": lambda: store.undo("Ann", key="one-key-1"),
    }
    with pytest.raises(ReusedKeyError, match="key must be new for every action, got 'one-key-1', which event 1 has"):
        again[other]()
    assert [(event.row, event.grade) for event in store.history()] == [(3, "5")]


def test_a_clock_that_goes_backwards_changes_no_order(store: DecisionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    class Backwards:
        seconds = 2_000_000_000

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            cls.seconds -= 86_400
            return datetime.fromtimestamp(cls.seconds, tz)

    monkeypatch.setattr("ordinoise.app.review.decisions.datetime", Backwards)
    for grade in ("3", "4", "5"):
        store.decide("Ann", 1, grade)
    store.decide("Bob", 1, "6")
    times = [event.time for event in store.history()]
    assert times == sorted(times, reverse=True)
    assert (store.state(1).grade, store.state(1).grades) == ("6", (("Ann", "5"), ("Bob", "6")))
    assert len(store.history(after=3)) == 1
    store.undo("Ann")
    assert store.state(1).grades == (("Ann", "4"), ("Bob", "6"))


def test_a_read_only_file_is_one_sentence_and_loses_nothing(store: DecisionStore) -> None:
    store.decide("Ann", 1, "5")
    store._connection.execute("PRAGMA query_only = 1")
    for write in (
        lambda: store.decide("Ann", 1, "6"),
        lambda: store.undo("Ann"),
        lambda: store.write_note("Ann", 1, "x"),
    ):
        with pytest.raises(
            StoreError, match=r"decisions must be an undamaged, writable file, got .*readonly"
        ) as refusal:
            write()
        assert "\n" not in str(refusal.value)
    assert store.state(1).grade == "5"


def test_a_file_on_a_read_only_disk_is_refused_with_a_sentence(path: Path) -> None:
    with DecisionStore(path) as store:
        store.decide("Ann", 1, "5")
    opening = f"from ordinoise.app.review import DecisionStore; DecisionStore({str(path)!r})"
    script = f'mount --bind {path.parent} {path.parent} && mount -o remount,ro,bind {path.parent} && exec {sys.executable} -c "{opening}"'
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("no right to mount a disk")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True)
    assert "StoreError: decisions must be an undamaged, writable file, got " in done.stderr, done.stderr
    with DecisionStore(path) as store:
        assert store.state(1).grade == "5"


def test_the_page_is_told_of_a_key_used_again(client: Client, record: AuditRecord) -> None:
    row = record.suspects[0].row
    body = {"row": row, "grade": "5", "reviewer": "Ann", "key": "one-key-1"}
    assert [client.post("/api/decide", body).status_code for _ in range(2)] == [200, 200]
    for action, changed in (("decide", {"grade": "6"}), ("note", {"note": "x"}), ("undo", {})):
        answer = client.post(f"/api/{action}", body | changed)
        assert answer.status_code == 409
        assert answer.json()["error"].startswith("key must be new for every action, got 'one-key-1'")
    assert len(client.get(f"/api/history/{row}").json()["events"]) == 1
