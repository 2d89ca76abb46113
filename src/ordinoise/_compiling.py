"""Compiled functions, kept on disk where there is a place for them, compiled anew where what was kept is bad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled_and_kept(function: Callable[..., Any], **options: Any) -> Any:
    """`function`, compiled at its first call, or read from numba's cache.

    A cache that cannot be written (a read-only installation and home, a full disk) or read (a file cut short) costs a
    compilation, never the call.
    """
    try:
        dispatcher = njit(**options, cache=True)(function)
    except RuntimeError:  # numba's word for no folder to write to
        return njit(**options)(function)
    _forgive(getattr(dispatcher, "_cache", None))
    return dispatcher


def _forgive(cache: Any) -> None:
    """Make a cache forget what it cannot read, and go on without what it cannot write."""
    if not all(hasattr(cache, name) for name in ("load_overload", "save_overload", "flush")):
        return
    load, save = cache.load_overload, cache.save_overload

    def load_or_forget(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except Exception:  # whatever unpickling garbage leads to
            _quietly(cache.flush)
            return None

    cache.load_overload = load_or_forget
    cache.save_overload = lambda *arguments: _quietly(save, *arguments)


def _quietly(act: Callable[..., Any], *arguments: Any) -> None:
    try:
        act(*arguments)
    except Exception:  # numba's cache fails in as many ways as files do
        return
