"""Contracts for import-linter: names with an underscore belong to the package, or to the class, that they stand in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output

PUBLIC = frozenset({"_replace", "_asdict", "_make", "_fields", "_getframe"})
"""Names of the standard library that are public in spite of their underscore."""


class PrivateContract(Contract):
    """``a.b._c`` may be imported from inside ``a.b`` only."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        """Every import of a private module from outside its package."""
        broken = sorted(
            (importer, module)
            for module in graph.modules
            if (package := _owner(module)) is not None
            for importer in graph.find_modules_that_directly_import(module)
            if importer != package and not importer.startswith(f"{package}.")
        )
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line per import."""
        for importer, module in check.metadata["broken"]:
            output.print_error(f"{importer} imports {module}", bold=False)


def _owner(module: str) -> str | None:
    """The package that a private module, or anything below it, belongs to; None for all others."""
    parts = module.split(".")
    private = next((at for at, part in enumerate(parts) if part.startswith("_")), None)
    return None if not private else ".".join(parts[:private])


class OwnContract(Contract):
    """``a._b`` is used, and ``a._b`` or ``a.b_`` set, by the class of ``a`` only."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        """Every use or assignment from outside the class."""
        broken = [
            f"{path}:{node.lineno} {ast.unparse(node)}"
            for path in sorted(Path("src").rglob("*.py"))
            for node in _foreign(ast.parse(path.read_text()))
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line per use."""
        for line in check.metadata["broken"]:
            output.print_error(line, bold=False)


def _foreign(node: ast.AST, own: frozenset[str] = PUBLIC) -> Iterator[ast.Attribute]:
    """Attributes with an underscore that are not of the class around; `own` are its objects and attributes."""
    if isinstance(node, ast.Module):  # names of other libraries are their own affair
        imports = [found for found in ast.walk(node) if isinstance(found, ast.Import)]
        own |= {f"import {alias.name.partition('.')[0]}" for found in imports for alias in found.names}
    if isinstance(node, ast.ClassDef):
        own |= _attributes(node)
    if isinstance(node, ast.Attribute):
        is_set = not isinstance(node.ctx, ast.Load) and node.attr.endswith("_")
        is_private = (node.attr.startswith("_") or is_set) and not node.attr.startswith("__")
        base, package = ast.unparse(node.value), ast.unparse(node).partition(".")[0]
        if is_private and not own & {node.attr, f"{base}.", f"import {package}"}:
            yield node
    for child in ast.iter_child_nodes(node):
        yield from _foreign(child, own)


def _attributes(cls: ast.ClassDef) -> set[str]:
    """What a class calls its own; objects with a dot behind them."""
    found = {"self.", "cls.", "super()."}
    for node in ast.walk(cls):
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
            found.add(node.attr)
        elif isinstance(node, ast.AnnAssign):
            found.add(ast.unparse(node.target))
        elif isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("cls("):
            found |= {f"{ast.unparse(target)}." for target in node.targets}
    return found
