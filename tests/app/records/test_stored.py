"""Records that an earlier version wrote into its folders still open, and are written as they were."""

import json
from pathlib import Path
from typing import Any

import pytest

from ordinoise._plain import as_plain, of_plain
from ordinoise.app.records.audit import AuditRecord, read_record, write_record
from ordinoise.app.records.history import Settled
from ordinoise.app.records.model import ENVELOPE, Task, write_task
from ordinoise.app.records.plan import GAIN, REPEAT, SPOT_CHECK, read_plans, write_plan
from ordinoise.app.records.ratings import read_ratings_record, write_ratings_record
from ordinoise.app.records.stored import read_stored
from ordinoise.app.tables.reading import Reading

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
    before["columns"] = _with_spelling(before)
    before["oddities"] = [one | {"lines": []} for one in before["oddities"]]
    before |= (
        NEW | BY_RULES | {"suspects": [_as_now(one, is_given=True) for one in before["suspects"]], "format_version": 6}
    )
    assert _plain(tmp_path / "audit.json") == before


@pytest.mark.parametrize("no_header", [False, True])
def test_an_audit_of_before_knows_whether_its_file_has_a_header(tmp_path: Path, no_header: bool) -> None:
    content = _plain(STORED / "audit.json")
    content["settings"] |= {"no_header": no_header}
    (tmp_path / "audit.json").write_text(json.dumps(content))
    assert read_record(tmp_path).reading == Reading(has_header=not no_header)


def test_a_number_that_stood_on_a_fitted_matrix_is_not_shown_again(tmp_path: Path) -> None:
    content = _plain(STORED / "audit.json")
    content["noise"] |= {"source": "estimated"}
    (tmp_path / "audit.json").write_text(json.dumps(content))
    record = read_record(tmp_path)
    assert (record.stage, record.wrong, record.wrong_low, record.wrong_high) == ("nothing", None, None, None)
    assert {one.probability_wrong for one in record.suspects} == {None}
    assert record.suspects[0].suspicion == content["suspects"][0]["probability_wrong"]


NEW: dict[str, Any] = {
    "stage": "given", "by_matrix": None, "n_next": None, "count_doubts": [], "design_effect": 1.0, "graders": None, "by_lot": None,
}  # fmt: skip
"""What a record of today says beside what it said; the matrix of this one was given."""
BY_RULES = {"reading": as_plain(Reading())}


def _as_now(suspect: dict[str, Any], *, is_given: bool = False) -> dict[str, Any]:
    """A suspect of an earlier version, without probabilities that nobody verified."""
    suspicion, graded = suspect["probability_wrong"], suspect["posterior"]
    kept = {name: value for name, value in suspect.items() if name != "posterior"}
    unknown = {} if is_given else {"probability_wrong": None, "expected_distance": None}
    return _without_line(kept) | {"suspicion": suspicion, "graded": graded} | unknown


def _without_line(suspect: dict[str, Any]) -> dict[str, Any]:
    """A suspect of an earlier version, which did not know the lines of its file."""
    return suspect | {"line": None, "similar": [one | {"line": None} for one in suspect["similar"]]}


def _with_spelling(record: Any) -> list[Any]:
    """The columns of an earlier version, which did not keep how they were spelled."""
    return [column | {"spelling": None} for column in record["columns"]]


def test_plans_keep_their_rows_and_strata(audit: AuditRecord, tmp_path: Path) -> None:
    plans = read_plans(STORED, audit)
    assert [plan.kind for plan in plans] == [SPOT_CHECK, GAIN, REPEAT]
    for number, plan in enumerate(plans, start=1):
        write_plan(tmp_path, plan)
        before = _plain(STORED / f"next-{number}.json")
        before["stratum"] = before.pop("drawn")
        before["rows"] = [_as_now(one) for one in before["rows"]]
        assert _plain(tmp_path / f"next-{number}.json") == before
    assert plans[0].certificate(Settled(one.row, None, one.recorded) for one in plans[0].rows).n_checked == 3


def test_ratings_keep_every_entry(tmp_path: Path) -> None:
    record = read_ratings_record(STORED)
    assert record.suspects[0].grades
    write_ratings_record(tmp_path, record)
    before = _plain(STORED / "raters.json")
    before["suspects"] = [_without_line(one) | {"suspicion": 0.0, "graded": []} for one in before["suspects"]]
    before["columns"] = _with_spelling(before)
    assert _plain(tmp_path / "raters.json") == before | BY_RULES


def test_the_task_of_a_model_keeps_every_entry(tmp_path: Path) -> None:
    task = read_stored(STORED / "task.json", ENVELOPE, lambda plain: of_plain(Task, plain))
    assert task.categories
    write_task(tmp_path, task)
    before = _plain(STORED / "task.json")
    assert _plain(tmp_path / "task.json") == before | BY_RULES | {"columns": _with_spelling(before)}
