"""Two rounds of audit and review that several modules look at; none of them may change the folder."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.cli.command import few_models
from app.cli.graded import GRADES, TRUE, write_graded
from ordinoise import inverse_decay
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.review.decisions import open_decisions
from ordinoise.app.rounds.history import history_for
from ordinoise.app.verbs.audit import audit_file
from ordinoise.app.verbs.request import Request
from undrawn import undrawn as undrawn


@pytest.fixture(scope="session")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit whose first suspects a perfect reviewer settled, and the audit after it."""
    folder = tmp_path_factory.mktemp("rounds")
    request = request_for(write_graded(folder / "table.csv"))
    _, first = audit_file(request, folder / "one")
    settle(folder / "one", first, 12)
    audit_file(request, folder / "two", history=history_for(folder / "one", request))
    return folder


@pytest.fixture(scope="module", name="few_models")
def fixture_of_few_models() -> Iterator[None]:
    """For modules about files and words: verbs fit two models per candidate."""
    with few_models():
        yield


def request_for(table: Path) -> Request:
    """An audit with a given matrix, which is faster than an estimated one."""
    matrix = table.with_name("noise.csv")
    np.savetxt(matrix, inverse_decay(4, 0.1), delimiter=",")
    return Request(table, target="quality", order=",".join(GRADES), learner="mlp", noise=str(matrix), jobs=1)


def settle(folder: Path, record: AuditRecord, n_rows: int) -> None:
    """Let a perfect reviewer settle the first suspects."""
    with open_decisions(folder, record) as store:
        for suspect in record.suspects[:n_rows]:
            store.decide("Ada", suspect.row, GRADES[TRUE[suspect.row]])
