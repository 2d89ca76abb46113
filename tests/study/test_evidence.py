"""Commands are run once, two at a time, and those that measure time alone."""

import threading
import time

import pytest

from studies import evidence


def test_a_commit_that_cannot_change_a_print_leaves_it_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    def fresh(command: str, later: str, dirty: bool = False) -> bool:
        monkeypatch.setattr(evidence, "git", lambda *_: later)
        monkeypatch.setattr(evidence, "_are_same", lambda commit, _: commit == "HEAD" and not dirty)
        return evidence.is_fresh(evidence.Run(command, "0000000", "", ""))

    monkeypatch.setattr(evidence, "sources", lambda _: ["src"])
    monkeypatch.setattr(evidence, "UNCHANGED", {"aaaaaaa": ("", "of all"), "bbbbbbb": ("judge", "of judges")})
    assert fresh("noise", "aaaaaaa")
    assert not fresh("noise", "aaaaaaa\nbbbbbbb")
    assert fresh("judge", "aaaaaaa\nbbbbbbb")
    assert not fresh("judge", "aaaaaaa\nccccccc")
    assert not fresh("judge", "aaaaaaa", dirty=True)
    assert not fresh("judge", "")  # it differs, and nobody knows why


def test_commands_share_the_processors_and_those_that_measure_time_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = dict.fromkeys(["one", "two", "three speed", "four", "five speed", "fresh"], "learners")
    running, most, recorded = set[str](), dict[str, int](), list[str]()
    lock = threading.Lock()

    def execute(command: str) -> float | None:
        with lock:
            running.add(command)
            for each in running:
                most[each] = max(most.get(each, 0), len(running))
        time.sleep(0.2)
        with lock:
            running.remove(command)
        return None if command == "two" else 0.2

    monkeypatch.setattr(evidence, "PIECES", pieces)
    monkeypatch.setattr(evidence, "execute", execute)
    monkeypatch.setattr(evidence, "record", lambda command, _: recorded.append(command))
    monkeypatch.setattr(evidence, "runs", lambda: {name: evidence.Run(name, "", "", "") for name in pieces})
    monkeypatch.setattr(evidence, "is_fresh", lambda run: run.command == "fresh")
    monkeypatch.setattr("sys.argv", ["evidence", "--workers", "2"])
    with pytest.raises(SystemExit, match="1 commands failed"):
        evidence.main()
    assert set(most) == set(pieces) - {"fresh"}
    assert (most["one"], most["three speed"], most["five speed"]) == (2, 1, 1)
    assert sorted(recorded[:2]) == ["four", "one"]
    assert recorded[2:] == ["three speed", "five speed"]
    recorded.clear()
    monkeypatch.setattr("sys.argv", ["evidence", "--minutes", "0"])
    evidence.main()
    assert recorded == []
