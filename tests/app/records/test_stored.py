"""Records that an earlier version wrote into its folders still open, and are written as they were."""

import json
from pathlib import Path
from typing import Any

import pytest

from ordinoise._plain import of_plain
from ordinoise.app.records.audit import AuditRecord, read_record, write_record
from ordinoise.app.records.history import Settled
from ordinoise.app.records.model import ENVELOPE, Task, write_task
from ordinoise.app.records.plan import GAIN, REPEAT, SPOT_CHECK, read_plans, write_plan
from ordinoise.app.records.ratings import read_ratings_record, write_ratings_record
from ordinoise.app.records.stored import read_stored

STORED = Path(__file__).parent / "stored"


def _plain(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def audit() -> AuditRecord:
    return read_record(STORED)


def test_an_audit_keeps_every_entry(audit: AuditRecord, tmp_path: Path) -> None:
    assert {one.reviewer for one in audit.settled} == {"Ada", "Ben"}
    assert audit.spot_check is not None
    assert sum(one.is_differing for one in audit.repeats) == 1
    assert audit.suspects[0].similar[0].cells[0] is not None
    write_record(tmp_path, audit)
    before = _plain(STORED / "audit.json")
    before["settled"] = [one | {"drawn": "chosen"} for one in before["settled"]]
    assert _plain(tmp_path / "audit.json") == before


def test_plans_keep_their_rows_and_strata(audit: AuditRecord, tmp_path: Path) -> None:
    plans = read_plans(STORED, audit)
    assert [plan.kind for plan in plans] == [SPOT_CHECK, GAIN, REPEAT]
    for number, plan in enumerate(plans, start=1):
        write_plan(tmp_path, plan)
        before = _plain(STORED / f"next-{number}.json")
        before["stratum"] = before.pop("drawn")
        assert _plain(tmp_path / f"next-{number}.json") == before
    assert plans[0].certificate(Settled(one.row, None, one.recorded) for one in plans[0].rows).n_checked == 3


def test_ratings_keep_every_entry(tmp_path: Path) -> None:
    record = read_ratings_record(STORED)
    assert record.suspects[0].grades
    write_ratings_record(tmp_path, record)
    assert _plain(tmp_path / "raters.json") == _plain(STORED / "raters.json")


def test_the_task_of_a_model_keeps_every_entry(tmp_path: Path) -> None:
    task = read_stored(STORED / "task.json", ENVELOPE, lambda plain: of_plain(Task, plain))
    assert task.categories
    write_task(tmp_path, task)
    assert _plain(tmp_path / "task.json") == _plain(STORED / "task.json")
