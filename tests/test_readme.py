"""The README's code runs as it stands."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def _blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("block", _blocks(), ids=lambda block: block.splitlines()[0])
def test_code_block_runs(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, str(README), "exec"), {})
    trusted, known, estimated = (float(line) for line in capsys.readouterr().out.split())
    assert known > trusted
    assert estimated > trusted


def test_every_make_target_named_in_the_readme_exists() -> None:
    makefile = (README.parent / "Makefile").read_text()
    for target in re.findall(r"make ([a-z]+)", README.read_text()):
        assert f"\n{target}:" in makefile


def test_every_file_linked_from_the_readme_exists() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (README.parent / link).exists(), link
