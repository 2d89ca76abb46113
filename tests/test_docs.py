"""The pages in docs/: what they name exists, what they show runs, what they claim and no other test checks holds."""

import ast
import doctest
import importlib
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted({ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md"), *DOCS.glob("decisions/*.md")})
MODULES = re.findall(r"automodule:: (\S+)", (DOCS / "api.md").read_text())


def _quoted(page: Path) -> list[str]:
    """What the page has between single backticks, outside fenced blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S))


def _tests_in(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


# What the pages name ------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_on_a_page_exists(page: Path) -> None:
    folders = {entry.name for entry in ROOT.iterdir() if entry.is_dir()} - {"demo", "results", "dist"}
    for text in _quoted(page):
        path = text.partition("::")[0]
        if "/" in path and path.split("/")[0] in folders:
            assert (ROOT / path).exists(), f"{page.name} names {path}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_on_a_page_exists(page: Path) -> None:
    for text in _quoted(page):
        path, colons, name = text.partition("::")
        if colons and path.startswith("tests/"):
            assert name in _tests_in(ROOT / path), f"{page.name} names {text}"


def test_every_section_of_the_theory_from_the_model_on_names_a_test() -> None:
    sections = re.split(r"^## ", (DOCS / "theory.md").read_text(), flags=re.M)[2:]
    without = [section.splitlines()[0] for section in sections if "`tests/" not in section]
    assert without == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_dotted_name_on_a_page_exists(page: Path) -> None:
    words = [*_quoted(page), *re.findall(r"\{(?:func|class)\}`([\w.]+)`", page.read_text())]
    for name in filter(re.compile(r"ordinoise(\.\w+)+$").match, words):
        assert _resolves(name), f"{page.name} names {name}"


def _resolves(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    return hasattr(importlib.import_module(module), attribute) or bool(importlib.util.find_spec(name))


def test_every_decision_is_linked_from_the_index() -> None:
    index = (DOCS / "decisions" / "index.md").read_text().splitlines()
    files = [path.stem for path in sorted((DOCS / "decisions").glob("0*.md"))]
    assert [line for line in index if re.match(r"\d{4}-", line)] == files


@pytest.mark.parametrize("page", sorted(DOCS.glob("decisions/0*.md")), ids=lambda page: page.stem)
def test_a_decision_has_its_number_and_three_parts(page: Path) -> None:
    headings = re.findall(r"^#+ .*", page.read_text(), flags=re.M)
    assert headings[0].startswith(f"# {page.name[:4]}: ")
    assert headings[1:] == ["## Context", "## Decision", "## Consequences"]


# What the pages show ------------------------------------------------------------------------------------


def _built_names(folder: Path) -> set[str]:
    """Names in the documentation, built for the purpose; any warning of Sphinx fails."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", f"{folder}/trees"]
    result = subprocess.run([*command, str(DOCS), f"{folder}/html"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return set(re.findall(r'id="(ordinoise\.[\w.]+)"', (folder / "html" / "api.html").read_text()))


def test_the_documentation_builds_and_its_reference_has_every_public_name(tmp_path: Path) -> None:
    shown = _built_names(tmp_path)
    public = {f"{module}.{name}" for module in MODULES for name in importlib.import_module(module).__all__}
    assert sorted(public - shown) == []


def _documented(module: str) -> Iterator[str]:
    """The module and, for a package, the modules that its names come from."""
    loaded = importlib.import_module(module)
    origins = {getattr(getattr(loaded, name), "__module__", module) for name in loaded.__all__}
    yield from sorted({module, *(origin for origin in origins if origin.startswith("ordinoise."))})


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_the_reference_run(module: str) -> None:
    for name in _documented(module):
        assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("page", ["learners", "pytorch"])
def test_the_code_on_a_page_runs(page: str) -> None:
    for code in re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), flags=re.S):
        exec(compile(code, f"{page}.md", "exec"), {})


def test_the_example_on_the_first_page_does_what_it_says() -> None:
    code = re.search(r"```python\n(.*?)```", (DOCS / "index.md").read_text(), flags=re.S)
    assert code
    names: dict[str, object] = {}
    exec(code[1], names)
    score = names["score"]
    assert score.observed > 0.3  # type: ignore[attr-defined]
    assert abs(score.value) < 5 * score.standard_error  # type: ignore[attr-defined]
