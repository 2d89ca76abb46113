"""The hidden folder of a run: only the same work continues in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.out_of_core.parts import request_for, table, written
from ordinoise.app.out_of_core import work
from ordinoise.app.out_of_core.learning import survey_of, work_on
from ordinoise.app.verbs.request import Request


def _stopped(request: Request, place: Path) -> None:
    with work_on(request, place, lambda _: None) as begun:
        (begun.folder / "plan.json").write_text("of another version")
        raise KeyboardInterrupt


def test_what_an_older_version_left_behind_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request, place = request_for(written(tmp_path / "data", table(120)[0], 2)), tmp_path / "out"
    with monkeypatch.context() as older:
        older.setattr(work, "LAYOUT", work.LAYOUT - 1)
        with pytest.raises(KeyboardInterrupt):
            _stopped(request, place)
    left = next(entry for entry in tmp_path.iterdir() if entry.name.startswith(".out"))
    with work_on(request, place, lambda _: None) as own:
        survey_of(request, own, lambda _: None)
        assert own.folder != left
    assert (left / "plan.json").read_text() == "of another version"
