"""The command line called in this process: its words and its exit code, without the cost of a new one."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


def run(*words: str | Path) -> Result:
    """``ordinoise WORDS`` in the current folder."""
    from ordinoise.app.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([*map(str, words)])
        except SystemExit as ending:
            code = int(ending.code or 0)
    return Result(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def few_models() -> Iterator[None]:
    """Verbs fit two models per candidate instead of twenty: enough for tests of files and words."""
    from ordinoise import OrdinalClassifier
    from ordinoise.app.verbs import fit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit, "OrdinalClassifier", partial(OrdinalClassifier, n_folds=2, n_rounds=1))
        yield


def files_below(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder with its content."""
    return {os.path.relpath(path, folder): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
