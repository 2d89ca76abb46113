"""Warnings that point at the line of the user's program, whatever stands between it and the cause."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from types import FrameType
from typing import Any, ParamSpec, TypeVar

PASSED_OVER = ("ordinoise", "sklearn", "joblib")
"""Packages whose lines are not the user's."""

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class _Place:
    """The user's line, and what other threads have said in its name."""

    file: str
    line: int
    names: dict[str, Any]
    said: set[str] = field(default_factory=set)


_waiting: ContextVar[_Place | None] = ContextVar("waiting", default=None)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line that called this package, so that Python shows the same words once for each such line."""
    waiting = _waiting.get()
    if waiting is not None:
        if message in waiting.said:
            return
        waiting.said.add(message)
    place = waiting or _place(sys._getframe(1))
    registry = place.names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        message, category, place.file, place.line, place.names.get("__name__", "<unknown>"), registry
    )  # fmt: skip


def renamed(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: keyword arguments under their former names still work in this release, with a warning."""

    def keeping(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in new_names.keys() & kwargs.keys():
                warn_caller(f"{old}= is called {new_names[old]}= now, and will go with the next release", FutureWarning)
                kwargs[new_names[old]] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return keeping


def for_caller(function: Callable[P, R]) -> Callable[P, R]:
    """`function` to be run in other threads, whose warnings point at the line that waits for it and come once."""
    place = _waiting.get() or _place(sys._getframe(1))

    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        token = _waiting.set(place)
        try:
            return function(*args, **kwargs)
        finally:
            _waiting.reset(token)

    return run


def _place(frame: FrameType) -> _Place:
    """The nearest line that is the user's."""
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED_OVER:
        frame = frame.f_back
    return _Place(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
