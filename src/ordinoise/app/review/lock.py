"""One server per audit: a lock on a file in the folder of the audit, which says who holds it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ordinoise._files import takes_lock
from ordinoise._validation import complain

LOCK = "review.lock"
LONGEST_HOLDER = 200  # bytes of the lock file that an error message shows


@contextmanager
def held(folder: str | os.PathLike[str], address: str) -> Iterator[None]:
    """Hold the lock of an audit; refuses if another process holds it.

    The system releases the lock when its process ends, however it ends. The file stays: if it were removed, two
    processes could hold locks on two files of the same name.

    Parameters
    ----------
    folder : path
        Folder written by ``ordinoise audit``.
    address : str
        Address of the server, without its secret.
    """
    descriptor = _opened(Path(folder) / LOCK)
    try:
        # Without locks, as on Windows: exports are exclusive there too, and SQLite has locks of its own.
        if takes_lock(descriptor) is False:
            holder = os.pread(descriptor, LONGEST_HOLDER, 0) if hasattr(os, "pread") else b""
            got = f"{holder.decode(errors='replace').strip() or 'another process'} for {str(folder)!r}"
            raise complain("folder", "be reviewed by one server at a time", got, "use that page, or stop it first")
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} at {address}\n".encode())
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    rule = f"hold a lock file {LOCK!r}"
    try:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags, 0o644)
    except OSError as error:
        raise complain("folder", rule, f"{error.strerror} in {str(path.parent)!r}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise complain("folder", rule, f"a pipe or device in {str(path.parent)!r}", "remove it")
    return descriptor
