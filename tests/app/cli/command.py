"""The command line called in this process: its words and its exit code, without the cost of a new one."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


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


def files_below(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder with its content."""
    return {os.path.relpath(path, folder): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
