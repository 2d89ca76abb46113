from collections.abc import Iterator
from pathlib import Path

import pytest

from app.review.client import Client
from app.review.sample import sample_audit
from ordinoise.app.records.audit import AuditRecord


@pytest.fixture
def record(tmp_path: Path) -> AuditRecord:
    return sample_audit(tmp_path)


@pytest.fixture
def audit(record: AuditRecord, tmp_path: Path) -> Path:
    """The folder of an audit of tmp_path / wine.csv."""
    return tmp_path / "audit"


@pytest.fixture
def client(audit: Path) -> Iterator[Client]:
    client = Client(audit)
    yield client
    client.close()
