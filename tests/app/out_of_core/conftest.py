from pathlib import Path

import pytest

from ordinoise.app.out_of_core.files import MAX_ROWS
from undrawn import undrawn as undrawn


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An estimate works beside the current folder, and a test that is killed leaves that work behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(MAX_ROWS, "1")  # the command line reads small folders in parts too
