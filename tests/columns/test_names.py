from __future__ import annotations

import pytest

from ordinoise.columns.names import as_column, listed, meant


def test_capitals_and_blanks_do_not_hide_the_name_that_was_meant() -> None:
    assert meant("STARS ", ["price", " stars"]) == "did you mean ' stars'?"
    assert meant("quite another", ["price", "stars"]) == ""


def test_a_long_list_is_cut_short() -> None:
    assert listed(["a", 1]) == "'a', 1"
    assert listed(range(10), limit=2) == "0, 1 and 8 more"
    with pytest.raises(
        ValueError, match=r"^ignore must name a column of the file, got 'zz'; the columns are .* and 92 more$"
    ):
        as_column("ignore", "zz", [str(number) for number in range(100)])
