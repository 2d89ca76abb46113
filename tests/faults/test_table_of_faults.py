"""Every test that docs/faults.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def test_every_row_names_a_test_that_exists() -> None:
    rows = [line for line in (ROOT / "docs" / "faults.md").read_text().splitlines() if line.startswith("| ")]
    named = NAMED.findall("\n".join(rows))
    assert len(named) > 50
    absent = [
        (file, name)
        for file, name in named
        if not (ROOT / file).is_file() or f"def {name}(" not in (ROOT / file).read_text() + "def ("
    ]
    assert absent == []
