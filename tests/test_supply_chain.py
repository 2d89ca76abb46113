"""What the package stands on and what it never does: floors and reasons of dependencies, no unpickling, no text run as code."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ordinoise"
MODULES = sorted(SOURCE.rglob("*.py"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = {name: group for name, group in PYPROJECT["project"]["optional-dependencies"].items() if name != "all"}
REQUIRED = [*PYPROJECT["project"]["dependencies"], *(wanted for group in EXTRAS.values() for wanted in group)]

# Modules that run what a file holds, and calls that do or may.
FORBIDDEN_MODULES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "yaml"}
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "runpy.run_path"),
    *("joblib.load", "joblib.dump", "torch.save", "torch.hub.load", "jinja2.Template"),
}
FORBIDDEN_METHODS = {"read_pickle", "to_pickle", "all_gather_object", "broadcast_object_list", "gather_object"}
FORBIDDEN_IN_PAGES = re.compile(r"\beval\(|\bnew Function\b|\bdocument\.write\b")
# A call that is allowed with these arguments only: its own default would unpickle, or leave markup unescaped.
DEMANDED = {"torch.load": "weights_only", "jinja2.Environment": "autoescape"}
# An argument that may be given as False only.
DANGEROUS = {"allow_pickle", "shell"}

MODULE_OF = {"scikit-learn": "sklearn", "xgboost-cpu": "xgboost"}
# torch.onnx writes its graphs with it.
NOT_IMPORTED_BY_US = {"onnxscript"}
# There in every notebook, where alone it is imported.
IN_NOTEBOOKS = {"IPython"}


# No pickle, no eval --------------------------------------------------------------------------------------


def _origins(tree: ast.AST) -> dict[str, str]:
    """What each imported name of a module stands for, with its dots."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _full_name(node: ast.expr, origins: dict[str, str]) -> str:
    """`np.load` as numpy.load; the method of a value as `.method`."""
    if isinstance(node, ast.Name):
        return origins.get(node.id, node.id).removeprefix("builtins.")
    return f"{_full_name(node.value, origins)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def _is_true(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _faults_of_a_call(call: ast.Call, name: str) -> Iterator[str]:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if name in DEMANDED and not _is_true(given.get(DEMANDED[name])):
        yield f"{name} without {DEMANDED[name]}=True"
    for argument in DANGEROUS & set(given):
        value = given[argument]
        if not (isinstance(value, ast.Constant) and value.value is False):
            yield f"{name} with {argument}"


def _imported(tree: ast.AST) -> set[str]:
    """The top-level packages that a module imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {name.partition(".")[0] for name in found}


def faults(code: str) -> list[str]:
    """Everything in a module that could run what data holds."""
    tree = ast.parse(code)
    origins = _origins(tree)
    found = [f"import of {name}" for name in sorted(_imported(tree) & FORBIDDEN_MODULES)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):  # also where it is only handed on, as in map(eval, texts)
            name = _full_name(node, origins)
            if name in FORBIDDEN_CALLS or name.rpartition(".")[2] in FORBIDDEN_METHODS:
                found.append(name)
        elif isinstance(node, ast.Call):
            found.extend(_faults_of_a_call(node, _full_name(node.func, origins)))
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_unpickles_or_runs_text(module: Path) -> None:
    assert faults(module.read_text()) == []


def test_no_script_of_a_page_runs_text() -> None:
    pages = [path for path in SOURCE.rglob("*") if path.suffix in {".js", ".html", ".j2"}]
    assert [path.name for path in pages if FORBIDDEN_IN_PAGES.search(path.read_text())] == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "def load():\n    import cloudpickle as safe",
        "import marshal, shelve",
        "from yaml import safe_load",
        "eval('1')",
        "list(map(eval, texts))",
        "import builtins\nfrom builtins import exec as run\nrun('1')",
        "import joblib as j\nj.load(path)",
        "from joblib import load\nload(path)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "import numpy as np\nnp.load(path, allow_pickle=trusted)",
        "import torch\ntorch.load(path)",
        "from torch import load as read\nread(path, weights_only=False)",
        "import pandas\npandas.read_pickle(path)",
        "from jinja2 import Environment\nEnvironment(loader=loader)",
        "import jinja2\njinja2.Environment(autoescape=False)",
        "from jinja2 import Template\nTemplate(text)",
        "import subprocess\nsubprocess.run(line, shell=True)",
    ],
)
def test_every_way_to_run_data_is_seen(code: str) -> None:
    assert faults(code)


@pytest.mark.parametrize(
    "code",
    [
        "model.eval()",
        "import re\nre.compile('a')",
        "import sqlite3\nsqlite3.connect(path)",
        "import numpy as np\nnp.load(path, allow_pickle=False)",
        "import torch\ntorch.load(path, weights_only=True)",
        "from jinja2 import Environment\nEnvironment(autoescape=True)",
        "import json\njson.load(file)",
    ],
)
def test_what_only_looks_alike_passes(code: str) -> None:
    assert faults(code) == []


# Dependencies --------------------------------------------------------------------------------------------


def _name(wanted: str) -> str:
    return re.split(r"[\[<>=~!; ]", wanted)[0]


def _module(name: str) -> str:
    return MODULE_OF.get(name, name.replace("-", "_"))


def _rows() -> dict[str, list[str]]:
    """The cells beside each dependency in the tables of docs/dependencies.md."""
    lines = (ROOT / "docs" / "dependencies.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines if line.startswith("| ")]
    return {name: rest for name, *rest in cells}


@pytest.mark.parametrize("wanted", REQUIRED, ids=_name)
def test_a_dependency_has_a_floor_and_nothing_else(wanted: str) -> None:
    assert re.fullmatch(r"[\w-]+(\[[\w,]+\])?>=\d+(\.\d+)+", wanted), (
        "a ceiling or a pin would fight with other packages"
    )


@pytest.mark.parametrize("wanted", REQUIRED, ids=_name)
def test_a_dependency_has_its_floor_and_a_reason_on_the_page(wanted: str) -> None:
    floor, reason = _rows()[_name(wanted)][:2]
    assert floor == wanted.partition(">=")[2]
    assert len(reason.split()) >= 3


def test_the_page_lists_nothing_that_is_not_required() -> None:
    assert set(_rows()) - {"dependency"} == {_name(wanted) for wanted in REQUIRED}


def test_the_page_says_which_extra_brings_a_dependency() -> None:
    of_extras = {_name(wanted): extra for extra, group in EXTRAS.items() for wanted in group}
    listed = {name: cells[2].strip("`") for name, cells in _rows().items() if name in of_extras}
    assert listed == of_extras


def test_the_extra_all_names_every_other() -> None:
    (everything,) = PYPROJECT["project"]["optional-dependencies"]["all"]
    assert set(re.findall(r"\w+", everything)) - {"ordinoise"} == set(EXTRAS)


def test_the_oldest_set_is_the_floors() -> None:
    printed = subprocess.run([sys.executable, ROOT / "tools/oldest"], capture_output=True, text=True, check=True).stdout
    floors = dict(line.split("==") for line in printed.splitlines())
    assert floors.pop("pandas"), "users hand in its frames"
    assert floors == {_name(wanted): wanted.partition(">=")[2] for wanted in REQUIRED}


def test_what_is_required_is_imported_and_what_is_imported_is_required() -> None:
    imported = {module: _imported(ast.parse(module.read_text())) for module in MODULES}
    contestants = {_module(_name(wanted)) for wanted in PYPROJECT["dependency-groups"]["bench"]}
    ours = {_module(_name(wanted)) for wanted in REQUIRED}
    outside = set().union(*imported.values()) - sys.stdlib_module_names - {"ordinoise"}
    assert ours - outside == NOT_IMPORTED_BY_US
    assert outside - ours <= contestants | IN_NOTEBOOKS
    for module, names in imported.items():
        assert not names & contestants - ours or "contestants" in module.parts, f"{module} imports a contestant"


# Workflows -----------------------------------------------------------------------------------------------

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_keep_no_credentials(workflow: Path) -> None:
    text = workflow.read_text()
    used = re.findall(r"uses: (.+)", text)
    assert used
    assert [line for line in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    assert "permissions:\n  contents: read" in text


def test_the_same_action_has_the_same_commit_everywhere() -> None:
    pins = {pin for path in WORKFLOWS for pin in re.findall(r"uses: (\S+ # \S+)", path.read_text())}
    assert len({pin.partition("@")[0] for pin in pins}) == len(pins)


def test_the_release_is_built_apart_from_the_tests_from_tools_with_hashes() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    build = workflow.partition("\n  build:")[2].partition("\n  publish:")[0]
    assert re.findall(r"run: (.+)", build) == ["make release"]
    target = (ROOT / "Makefile").read_text().partition("\nrelease:")[2].partition("\n\n")[0]
    assert "tools/setup" not in target
    assert "--require-hashes --only-binary=:all: --no-deps --requirement tools/release.txt" in target
    assert "build --no-isolation" in target


@pytest.mark.parametrize("name", ["release.txt", "actionlint.txt"])
def test_every_tool_of_the_workflows_has_a_hash_and_no_address(name: str) -> None:
    text = (ROOT / "tools" / name).read_text()
    wanted = [line for line in text.splitlines() if not line.startswith(" ")]
    assert all(re.fullmatch(r"[\w-]+==[\w.]+( ; .+)? \\", line) for line in wanted)
    assert text.count("--hash=sha256:") >= len(wanted)
    assert "://" not in text


def test_what_installs_a_system_package_says_so_first() -> None:
    setup = (ROOT / "tools" / "setup").read_text()
    said, done = setup.index('say "installing the system package chromium'), setup.index("apt-get install")
    assert said < done
    assert "SYSTEM_PACKAGES" in (ROOT / "Makefile").read_text()
