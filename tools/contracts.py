"""A contract for import-linter: a module with an underscore belongs to the package that it stands in."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


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
