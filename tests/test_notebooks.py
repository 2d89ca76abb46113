"""The notebooks of the documentation run, print what they show, and hold nothing that was not run."""

import ast
from pathlib import Path
from typing import Any

import pytest

from test_docs import _agree

nbformat = pytest.importorskip("nbformat")
NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def _cells(path: Path) -> list[Any]:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _printed(cell: Any) -> str:
    return "".join(one.text for one in cell.outputs if one.output_type == "stream")


def _shown(cell: Any) -> list[list[str]]:
    """The kinds of everything that a cell shows: pictures, tables, text."""
    return [sorted(one.data) for one in cell.outputs if one.output_type != "stream"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_as_it_ran_from_top_to_bottom(path: Path) -> None:
    cells = _cells(path)
    for cell in cells:
        ast.parse(cell.source)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell.outputs for cell in cells)
    kinds = {one.output_type for cell in cells for one in cell.outputs}
    assert kinds <= {"stream", "display_data", "execute_result"}  # no error
    assert all(one.get("name") != "stderr" for cell in cells for one in cell.outputs)  # and no warning


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's own parts
def test_a_notebook_prints_what_it_shows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.delenv("MPLBACKEND", raising=False)  # the kernel's own draws into the cell
    notebook = nbformat.read(path, as_version=4)
    stored = _cells(path)
    nbclient.NotebookClient(notebook, timeout=600).execute()
    for now, was in zip((one for one in notebook.cells if one.cell_type == "code"), stored, strict=True):
        assert _agree(_printed(now), _printed(was)), f"{path.stem} has\n{_printed(was)}\nbut printed\n{_printed(now)}"
        assert _shown(now) == _shown(was)
