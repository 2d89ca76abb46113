from __future__ import annotations

import pytest


@pytest.fixture
def no_data_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that names no data folder."""
    monkeypatch.delenv("ORDINOISE_DATA", raising=False)
