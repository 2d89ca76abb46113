"""Functions compiled by numba, with a cache on disk that may be missing, read-only or damaged."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_logger = logging.getLogger("ordinoise.compiling")
_told: set[str] = set()
SENTENCE = "some functions are compiled, which takes 10 to 30 seconds and happens once on this computer"


def compiled_and_kept(function: Callable[..., Any], **options: Any) -> Any:
    """`function`, compiled at its first call, or read from numba's cache.

    If the cache cannot be written (a read-only installation and home, a full disk) or read (a truncated file), the
    function is compiled again; the call never fails.
    """
    try:
        dispatcher = njit(**options, cache=True)(function)
    except RuntimeError:  # numba found no folder to write to
        return njit(**options)(function)
    _tolerate_failures(getattr(dispatcher, "_cache", None))
    return dispatcher


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to: a function is compiled once more for arrays that can be, and once is enough."""
    view: NDArray[Any] = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _tolerate_failures(cache: Any) -> None:
    """Make a cache drop what it cannot read, and ignore failures to write."""
    if not all(hasattr(cache, name) for name in ("load_overload", "save_overload", "flush")):
        return
    load, save = cache.load_overload, cache.save_overload

    def load_or_forget(*arguments: Any) -> Any:
        try:
            found = load(*arguments)
        except Exception:  # unpickling damaged data can raise anything
            _quietly(cache.flush)
            found = None
        if found is None and not _told:
            _told.add(SENTENCE)
            _logger.info(SENTENCE)
        return found

    cache.load_overload = load_or_forget
    cache.save_overload = lambda *arguments: _quietly(save, *arguments)


def _quietly(act: Callable[..., Any], *arguments: Any) -> None:
    try:
        act(*arguments)
    except Exception:  # errors of files, locks and pickling
        return
