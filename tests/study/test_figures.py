"""Figures on the pages beside what commands printed."""

from pathlib import Path

import pytest

from studies import figures
from studies.evidence import PIECES
from studies.figures import Block, blocks, missing, path_of

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(figures, "PRINTED", tmp_path)
    path_of("python -m studies.one").write_text(
        "error 0.29849 (12 s), gain -0.0125, share 27.6%, rows 1,500.25, 1e-30\n"
    )
    return tmp_path


@pytest.mark.usefixtures("printed")
@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("| .298 | 0.2985 | .30 |", []),
        ("| .299 |", [".299"]),  # not rounded but raised
        ("| +.012 | .013 |", []),  # a half, either way
        ("28 % and 27.6% of 40 runs", []),
        ("29 %", ["29 %"]),
        ("1,500.3 rows, 95 % interval, 3 seeds", []),
        ("rank 4.77 of 32", ["4.77"]),
    ],
)
def test_a_figure_must_have_been_printed_as_it_is_rounded(text: str, absent: list[str]) -> None:
    assert missing(Block("page.md", ("python -m studies.one",), text)) == absent


@pytest.mark.usefixtures("printed")
def test_a_command_that_has_not_been_run_says_nothing() -> None:
    assert missing(Block("page.md", ("python -m studies.one", "python -m studies.two"), ".5")) is None


def test_blocks_are_found_in_both_kinds_of_comments(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Text .1\n% printed by a; b --c 2\n| .2 |\n% end of print\n"
        "<!-- printed by d -->\n.3\n<!-- end of print -->\nmore .4\n"
    )
    assert list(blocks(page)) == [
        Block("page.md", ("a", "b --c 2"), "| .2 |\n"),
        Block("page.md", ("d",), ".3\n"),
    ]


def test_the_figures_on_the_pages_are_those_that_were_printed() -> None:
    marked = [block for page in PAGES for block in blocks(page)]
    assert {command for block in marked for command in block.commands} <= set(PIECES)
    assert {(block.page, *block.commands): absent for block in marked if (absent := missing(block))} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_closed(page: Path) -> None:
    lines = page.read_text().splitlines()
    opened = sum(line.startswith(("% printed by", "<!-- printed by")) for line in lines)
    closed = sum(line.startswith(("% end of print", "<!-- end of print")) for line in lines)
    assert opened == closed == len(list(blocks(page)))
