"""Names of a package that load their module on first use, so that a command loads only what it needs."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from typing import Any

LazyNames = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def lazy_names(package: str, origins: Mapping[str, str]) -> LazyNames:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names live in the modules of `origins`.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    origins : mapping of str to str
        Public name, and the module below the package that defines it.
    """

    def load(name: str) -> Any:
        if name not in origins:
            near = difflib.get_close_matches(name, origins, n=1, cutoff=0.6)
            advice = f"; did you mean {near[0]!r}?" if near else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{advice}")
        return getattr(importlib.import_module(f"{package}.{origins[name]}"), name)

    names = sorted(origins)
    return load, lambda: names, names
