"""Small files that ask for much are refused in little memory and time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.bombs import BOMBS, Bomb, refusal

QUICK = ("4000 keys", "a claim of", "cells without places", "rules that")


@pytest.mark.parametrize(
    "bomb",
    [pytest.param(one, id=one.name, marks=() if one.name.startswith(QUICK) else pytest.mark.slow) for one in BOMBS],
)
def test_a_small_file_that_asks_for_much_is_refused_cheaply(bomb: Bomb, tmp_path: Path) -> None:
    for module in bomb.needs:
        pytest.importorskip(module)
    found = refusal(bomb, tmp_path)
    assert found.is_cheap, found
