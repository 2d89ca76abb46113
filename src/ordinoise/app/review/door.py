"""The way from the command line into the browser: a code that works once, in a file that only this user can read."""

from __future__ import annotations

import hmac
import os
import secrets
import shutil
import tempfile
import threading
from pathlib import Path

SECONDS_OPEN = 60.0  # for a browser to start; a round number, chosen by no run

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}"><title>Review</title>
<p><a href="{address}">Continue to the review</a></p></html>
"""


class Door:
    """A code that admits one browser to the review page.

    Every user of a computer can read the command line of every process on it, so a browser is started with the path of
    a file instead of an address with a secret. The file leads to the page and is removed once it did, or after
    `SECONDS_OPEN`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._code: str | None = None
        self._folder: Path | None = None

    def open(self, origin: str) -> str:
        """Write the file with a new code; returns its URI.

        Parameters
        ----------
        origin : str
            Address of the server, without a path.
        """
        self.close()
        folder = Path(tempfile.mkdtemp(prefix="ordinoise-review-"))  # readable by this user only
        with self._lock:
            self._folder, self._code = folder, secrets.token_urlsafe(32)
            file = folder / "review.html"
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as page:
                page.write(PAGE.format(address=f"{origin}/?code={self._code}"))
        expiry = threading.Timer(SECONDS_OPEN, self._expire, [self._code])
        expiry.daemon = True
        expiry.start()
        return file.as_uri()

    def admits(self, code: str) -> bool:
        """Whether this is the code in the file; it is not the second time."""
        with self._lock:
            is_it = self._code is not None and hmac.compare_digest(code.encode(errors="replace"), self._code.encode())
        if is_it:
            self.close()
        return is_it

    def close(self) -> None:
        """Forget the code and remove the file."""
        with self._lock:
            folder, self._folder, self._code = self._folder, None, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _expire(self, code: str) -> None:
        if code == self._code:
            self.close()
