"""Which files a command depends on, so that a change elsewhere leaves what it printed fresh."""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ASK_GIT_ONLY = ("studies.sources", "studies.evidence")


def sources(command: str) -> list[str]:
    """Files of the package and the studies that a command depends on, by the imports in them.

    Studies that start the command line as a process depend on the whole package.
    """
    if verb := re.match(r"ordinoise (\w+)", command):
        return sorted(_files({f"ordinoise.app.cli.{verb[1]}"}).values())
    found = re.match(r"python -m (studies\.\w+)", command)
    if found is None:
        return ["src", *re.findall(r"examples/\S+", command)]
    files = _files({found[1], f"{found[1]}.__main__"})
    starters = (name for name in files if name.startswith("studies") and name not in ASK_GIT_ONLY)
    is_whole = any("subprocess" in (ROOT / files[name]).read_text() for name in starters)
    return ["src"] * is_whole + sorted(file for file in files.values() if not (is_whole and file.startswith("src")))


def package_state(module: str) -> str:
    """A name for what a module of the studies imports of the package, as it is in the working tree."""
    files = sorted(file for file in _files({module}).values() if file.startswith("src"))
    return hashlib.sha256(b"".join((ROOT / file).read_bytes() for file in files)).hexdigest()[:12]


def git(*words: str) -> str:
    """What git says about the checkout."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@cache
def _graph() -> Any:
    """Who imports whom. A name that a package loads on first use is an import of the module that it lives in."""
    import grimp  # of import-linter

    graph = grimp.build_graph("ordinoise", "studies", cache_dir=None, exclude_type_checking_imports=True)
    for package in sorted(name for name in graph.modules if _origins(name)):
        for importer in graph.find_modules_that_directly_import(package):
            for name in _names(importer, package) & _origins(package).keys():
                graph.add_import(importer=importer, imported=_home(package, name))
    return graph


@cache
def _origins(module: str) -> dict[str, str]:
    """The names that a package loads on first use, and the module below it that each comes from."""
    is_package = (ROOT / _file(module)).name == "__init__.py"
    return getattr(import_module(module), "_ORIGINS", {}) if is_package else {}


def _home(package: str, name: str) -> str:
    """The module that a name lives in, through packages that load it from another."""
    module = package
    while name in _origins(module):
        module = f"{module}.{_origins(module)[name]}"
    return module


def _names(importer: str, package: str) -> set[str]:
    """The names that a module imports from a package."""
    tree = ast.parse((ROOT / _file(importer)).read_text())
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == package)
    return {alias.name for node in found for alias in node.names}


def _files(names: set[str]) -> dict[str, str]:
    """The file of each of these modules, as far as they exist, and of every module that they import."""
    graph = _graph()
    modules = names & graph.modules
    return {name: _file(name) for name in modules.union(*(graph.find_upstream_modules(one) for one in modules))}


def _file(module: str) -> str:
    """The file of a module; the folder of one that holds data alone."""
    path = ("src/" if module.startswith("ordinoise") else "") + module.replace(".", "/")
    return next(file for file in (f"{path}/__init__.py", f"{path}.py", path) if (ROOT / file).exists())
