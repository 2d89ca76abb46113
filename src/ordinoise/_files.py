"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ordinoise._validation import complain

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES)

MARK = ".ordinoise-run"
"""File in a folder that is being written: the process that writes it, and its computer."""


MOST_SETTINGS = 2**28
"""Bytes of a JSON file of ours, far above what any needs; a round number, chosen by no run."""


def regular_content(path: Path, most: int | None = None) -> bytes:
    """The bytes of a regular file with at most so many.

    Pipes and devices, and files that claim to be empty, such as those of /proc, are not opened: reading may never end.
    """
    if not path.is_file() or not 0 < path.stat().st_size <= (most or sys.maxsize):
        raise FileNotFoundError(path)
    return path.read_bytes()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside it, then rename it into place."""
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to under a temporary name; it is renamed once all is on disk, and removed on failure.

    What killed runs left behind for the same `path` is removed first.
    """
    _remove_left_over(path)
    temporary, opened = _locked_file(path)
    try:
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "posix":  # while it is locked
                temporary.replace(path)
        if os.name != "posix":  # where an open file cannot be renamed
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def own_folder(argument: str, path: Path, marks: set[str]) -> None:
    """Make a folder for results, or check that an existing one is ours: empty, or with a file of `marks`."""
    path.mkdir(parents=True, exist_ok=True)
    names = {entry.name for entry in path.iterdir()}
    if names and not names & marks:
        raise complain(argument, "be a new folder or one of an earlier run", repr(str(path)), "nothing was written")


@contextmanager
def new_folder(argument: str, path: Path) -> Iterator[Path]:
    """A folder to write to under a temporary name; it is renamed once all is written, and removed on failure.

    What killed runs left behind for the same `path` is removed first.
    """
    refuse_existing(argument, path)
    if not path.absolute().parent.is_dir():
        raise complain(argument, "lie in a folder that exists", repr(str(path)))
    _remove_left_over(path)
    folder = _temporary_name(path)
    folder.mkdir()
    try:
        (folder / MARK).write_text(f"{os.getpid()} {platform.node()}", encoding="utf-8")
        yield folder
        (folder / MARK).unlink(missing_ok=True)
        refuse_existing(argument, path)
        folder.rename(path)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            got = f"{str(path)!r}: {error.strerror}"
            raise complain(argument, "be a place with room to write", got, "nothing was written") from None
        raise


@contextmanager
def unfinished_folder(path: Path) -> Iterator[Path]:
    """A hidden place beside `path` for a folder of finished parts of the work; it stays if the work is stopped."""
    folder = unfinished(path)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def unfinished(path: Path) -> Path:
    """Where a stopped run leaves the finished parts of its work on `path`."""
    return path.absolute().parent / f".{path.name}-unfinished"


def _temporary_name(path: Path) -> Path:
    """A new hidden name beside `path`."""
    return path.absolute().parent / f".{path.name}-{secrets.token_hex(4)}"


def _locked_file(path: Path) -> tuple[Path, IO[bytes]]:
    """A new temporary file beside `path`, locked until it is closed: one without a lock is left over."""
    while True:
        temporary = _temporary_name(path)
        # The umask decides who may read it: modules such as tempfile do not ask it.
        file = temporary.open("xb")
        if takes_lock(file.fileno()) is not False and temporary.exists():
            return temporary, file
        file.close()  # another run took it for left over, in the moment before it was locked
        temporary.unlink(missing_ok=True)


def _remove_left_over(path: Path) -> None:
    """Remove the temporary files and folders of `path` whose runs were killed."""
    pattern = re.compile(rf"\.{re.escape(path.name)}-[0-9a-f]{{8}}")
    try:
        found = [entry for entry in path.absolute().parent.iterdir() if pattern.fullmatch(entry.name)]
    except OSError:  # a folder that can be written but not listed
        return
    for entry in found:
        if entry.is_symlink():
            continue
        if entry.is_dir() and _has_ended(entry / MARK):
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.is_file():
            _remove_unlocked(entry)


def _remove_unlocked(path: Path) -> None:
    """Remove a temporary file unless a process holds its lock, or might."""
    with suppress(OSError), path.open("rb") as file:
        if takes_lock(file.fileno()):
            path.unlink()


def _has_ended(mark: Path) -> bool:
    """Whether a mark names a process of this computer that no longer runs; False in doubt."""
    if os.name != "posix":  # elsewhere signal 0 would end the process
        return False
    try:
        process, computer = mark.read_text(encoding="utf-8").split(" ", 1)
        if computer == platform.node() and int(process) > 0:
            os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return False


if sys.platform == "win32":

    def takes_lock(descriptor: int) -> bool | None:  # noqa: ARG001 - as below
        """None: Windows has no such locks."""
        return None

else:
    import fcntl

    def takes_lock(descriptor: int) -> bool | None:
        """Whether the lock of an open file is ours now, until it is closed; None on a file system without locks."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True


def refuse_existing(argument: str, path: Path) -> None:
    """Refuse a path that exists already."""
    if path.exists() or path.is_symlink():
        raise complain(argument, "not exist yet", repr(str(path)), "choose another, or remove it first")
