"""The pages in docs/: what they name exists, what they show runs, what they claim and no other test checks holds."""

import ast
import doctest
import importlib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ordinoise
from mlflow_double import MLflowDouble
from ordinoise.app.cli import app
from studies import evidence

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted({ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md"), *DOCS.glob("decisions/*.md")})
MODULES = re.findall(r"automodule:: (\S+)", (DOCS / "api.md").read_text())
# What a page may import and an environment may lack.
OPTIONAL = {"torch", "onnx", "onnxscript", "onnxruntime", "dask", "distributed", "pandas", "pyarrow"}
OPTIONAL |= {"mlflow", "cleanlab", "coral_pytorch", "crowdkit", "dlordinal", "mord", "skordinal", "statsmodels"}
# Each section of these pages stands alone, so that a missing package leaves the others to be run.
IN_SECTIONS = {"coming-from"}


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


def test_every_step_of_the_courses_is_where_the_page_says() -> None:
    """CONTRIBUTING names a file and a function or class in each line of the course of an audit and of a fit."""
    courses = re.findall(r"^```text\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.M | re.S)
    assert len(courses) == 2
    for course in courses:
        assert len(course.splitlines()) < 30
        for line in course.splitlines():
            path, name = line.split()[:2]
            tree = ast.parse((ROOT / "src" / "ordinoise" / path).read_text())
            assert name in {getattr(node, "name", "") for node in tree.body}, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_on_a_page_exists(page: Path) -> None:
    for text in _quoted(page):
        path, colons, name = text.partition("::")
        if colons and path.startswith("tests/"):
            assert name in _tests_in(ROOT / path), f"{page.name} names {text}"


def test_every_section_of_the_theory_from_the_model_on_names_a_test() -> None:
    sections = re.split(r"^## ", (DOCS / "theory.md").read_text(), flags=re.M)[3:]
    without = [section.splitlines()[0] for section in sections if "`tests/" not in section]
    assert without == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_dotted_name_on_a_page_exists(page: Path) -> None:
    words = [*_quoted(page), *re.findall(r"\{(?:func|class)\}`([\w.]+)`", page.read_text())]
    for name in filter(re.compile(r"ordinoise(\.\w+)+$").match, words):
        assert _resolves(name), f"{page.name} names {name}"


def _resolves(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    if "torch" in module:
        pytest.importorskip("torch")
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


@pytest.mark.page
def test_the_documentation_builds_and_has_every_public_name_and_every_verb(tmp_path: Path) -> None:
    shown = _built_names(tmp_path)
    public = {f"{module}.{name}" for module in MODULES for name in importlib.import_module(module).__all__}
    assert sorted(public - shown) == []
    commands = (tmp_path / "html" / "cli.html").read_text()
    assert [verb for verb in app if not verb.startswith("-") and f"ordinoise {verb}" not in commands] == []


def test_every_name_of_the_package_is_in_the_reference_and_the_public_names_are_few() -> None:
    pytest.importorskip("torch")
    names = {name for module in MODULES for name in importlib.import_module(module).__all__}
    assert set(ordinoise.__all__) <= names
    assert len(names) <= 100


def _documented(module: str) -> Iterator[str]:
    """The module and, for a package, the modules that its names come from."""
    loaded = importlib.import_module(module)
    origins = {getattr(getattr(loaded, name), "__module__", module) for name in loaded.__all__}
    yield from sorted({module, *(origin for origin in origins if origin.startswith("ordinoise."))})


@pytest.mark.page
@pytest.mark.parametrize("module", MODULES)
def test_examples_in_the_reference_run(module: str) -> None:
    for name in _documented(module):
        assert doctest.testmod(importlib.import_module(name)).failed == 0


@dataclass(frozen=True)
class Part:
    """A page or a section of one, whose blocks share their names."""

    name: str
    text: str

    @property
    def blocks(self) -> list[tuple[str, str | None]]:
        """Code, and the output shown right below it."""
        pairs = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", self.text, flags=re.S)
        return [(code, output or None) for code, output in pairs]

    @property
    def needs(self) -> set[str]:
        """Packages that the blocks import and that may be missing."""
        nodes = [node for code, _ in self.blocks for node in ast.walk(ast.parse(code))]
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        return {part for name in names for part in name.split(".")} & OPTIONAL


def _parts() -> Iterator[Part]:
    for page in sorted(DOCS.glob("*.md")):
        name, text = page.stem, page.read_text()
        titles_and_texts = re.split(r"^## (.*)$", text, flags=re.M)[1:] if name in IN_SECTIONS else [name, text]
        for title, body in zip(titles_and_texts[::2], titles_and_texts[1::2], strict=True):
            if "```python" in body:
                yield Part(name if title == name else f"{name}: {title}", body)


def _words_and_numbers(text: str) -> tuple[list[str], list[float]]:
    number = r"-?\d+(?:\.\d*)?"
    return re.sub(number, " # ", text).split(), [float(found) for found in re.findall(number, text)]


def _agree(printed: str, shown: str) -> bool:
    """Whether the words are the same and the numbers nearly so: another processor may round otherwise."""
    (words, numbers), (shown_words, shown_numbers) = _words_and_numbers(printed), _words_and_numbers(shown)
    pairs = zip(numbers, shown_numbers, strict=False)
    return words == shown_words and all(abs(one - other) <= 0.06 + 0.1 * abs(other) for one, other in pairs)


@pytest.mark.page
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.parametrize("part", list(_parts()), ids=lambda part: part.name)
def test_the_code_on_a_page_runs_and_prints_what_the_page_shows(
    part: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if "mlflow" in part.needs and importlib.util.find_spec("mlflow") is None:
        monkeypatch.setitem(sys.modules, "mlflow", MLflowDouble())
    for package in sorted(part.needs):
        pytest.importorskip(package, reason=f"{part.name} needs {package}, which is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    names: dict[str, Any] = {"__name__": "page"}
    if part.name.partition(":")[0] in IN_SECTIONS or "mlflow" in part.needs:
        warnings.simplefilter("ignore")  # what other libraries have to say about each other
    for code, output in part.blocks:
        exec(compile(code, part.name, "exec"), names)
        printed = capsys.readouterr().out
        assert output is None or _agree(printed, output), f"{part.name} shows\n{output}\nbut printed\n{printed}"


def test_no_block_of_code_escapes_the_test_above() -> None:
    count = sum(page.read_text().count("```python") for page in DOCS.glob("*.md"))
    assert sum(len(part.blocks) for part in _parts()) == count


# Doors --------------------------------------------------------------------------------------------------

DOORS = ("judges", "notebooks", "datasets", "label-studio", "spreadsheets", "scikit-learn", "mlflow", "onnx", "images")


@pytest.mark.parametrize("door", DOORS)
def test_a_door_is_a_short_page_with_a_picture_and_something_to_run(door: str) -> None:
    text = (DOCS / f"{door}.md").read_text()
    pictures = re.findall(r"```\{image\} (\S+)", text)
    assert pictures
    assert all((DOCS / picture).exists() for picture in pictures)
    assert re.search(r"^```(python|sh)$", text, flags=re.M)
    assert len(text.split()) <= 600


def test_pictures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in (DOCS / "_static").glob("*.png")}
    assert {name: size for name, size in sizes.items() if size > 150_000} == {}


def test_every_docstring_can_be_read_alone() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    leaning = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'name', '')}"
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, documented) and (ast.get_docstring(node) or "").startswith("The same")
    ]
    assert leaning == []


# Evidence -----------------------------------------------------------------------------------------------


def test_every_study_is_a_piece_of_the_evidence_and_every_piece_can_be_given() -> None:
    runnable = {path.stem for path in (ROOT / "studies").glob("*.py") if '__name__ == "__main__"' in path.read_text()}
    runnable |= {path.parent.name for path in (ROOT / "studies").glob("*/__main__.py")}
    run = {name for command in evidence.PIECES for name in re.findall(r"studies\.(\w+)", command)}
    assert runnable - {"evidence"} == run
    for page in evidence.PIECES.values():
        assert (DOCS / f"{page}.md").exists()


def test_the_list_of_runs_on_the_page_is_that_of_the_table() -> None:
    assert (DOCS / "_measured" / "evidence.md").read_text() == evidence.page(evidence.runs())


# Commands -----------------------------------------------------------------------------------------------


def _commands(page: Path) -> Iterator[tuple[str, bool]]:
    """Commands on a page, and whether they stand in a block, where they must be whole."""
    text = page.read_text()
    for language, block in re.findall(r"^```(sh|console)\n(.*?)^```", text, flags=re.S | re.M):
        for line in block.replace("\\\n", " ").splitlines():
            if language == "sh" or line.startswith("$ "):
                yield line.removeprefix("$ ").split(" #")[0].split(" > ")[0].strip(), True
    yield from ((text, False) for text in _quoted(page))


def _source_of_study(module: str) -> str:
    path = ROOT / module.replace(".", "/")
    return (path / "__main__.py" if path.is_dir() else path.with_suffix(".py")).read_text()


def _options(words: list[str]) -> set[str]:
    return {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}


def _check_verb(words: list[str], *, is_whole: bool) -> None:
    """The verb is there and knows its options; a whole command can be read."""
    if is_whole:
        app.parse_args(words, print_error=False, exit_on_error=False)
        return
    node = app
    while words and words[0] in set(node):
        node, words = node[words[0]], words[1:]
    if node is app:
        assert not words or words[0].isupper(), f"no verb {words[0]}"
        return
    names = {name for argument in node.assemble_argument_collection() for name in argument.names} if words else set()
    assert _options(words) - names == set()


@pytest.mark.parametrize(
    "page", sorted({ROOT / "README.md", *PAGES, *DOCS.glob("_measured/*.md")}), ids=lambda page: page.name
)
def test_every_command_on_a_page_can_be_given(page: Path) -> None:
    for command, is_whole in _commands(page):
        program, *words = shlex.split(command, posix=False) or [""]
        if program == "ordinoise":
            _check_verb(words, is_whole=is_whole)
        elif words and words[0] == "-m" and re.match(r"studies\.[a-z]", words[1]):  # studies.NAME stands for any
            source = _source_of_study(words[1])
            names = [option.lstrip("-").replace("-", "_") for option in _options(words[2:])]
            assert [
                name for name in names if not re.search(rf'"--{name.replace("_", "-")}"|\b{name}: ', source)
            ] == [], command
        elif program == "make" and words and words[0].islower():
            assert f"\n{words[0]}:" in (ROOT / "Makefile").read_text(), command


def test_the_page_on_the_command_line_is_made_from_the_program_itself() -> None:
    assert ".. cyclopts:: ordinoise.app.cli:app" in (DOCS / "cli.md").read_text()
