"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ordinoise._validation import complain

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside it, then rename it into place."""
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to under a temporary name; it is renamed once all is on disk, and removed on failure."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def own_folder(argument: str, path: Path, marks: set[str]) -> None:
    """Make a folder for results, or check that an existing one is ours: empty, or with a file of `marks`."""
    path.mkdir(parents=True, exist_ok=True)
    names = {entry.name for entry in path.iterdir()}
    if names and not names & marks:
        raise complain(argument, "be a new folder or one of an earlier run", repr(str(path)), "nothing was written")


@contextmanager
def new_folder(argument: str, path: Path) -> Iterator[Path]:
    """A folder to write to under a temporary name; it is renamed once all is written, and removed on failure."""
    refuse_existing(argument, path)
    if not path.absolute().parent.is_dir():
        raise complain(argument, "lie in a folder that exists", repr(str(path)))
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.absolute().parent))
    try:
        yield folder
        folder.chmod(0o755)
        refuse_existing(argument, path)
        folder.rename(path)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            got = f"{str(path)!r}: {error.strerror}"
            raise complain(argument, "be a place with room to write", got, "nothing was written") from None
        raise


def refuse_existing(argument: str, path: Path) -> None:
    """Refuse a path that exists already."""
    if path.exists() or path.is_symlink():
        raise complain(argument, "not exist yet", repr(str(path)), "choose another, or remove it first")
