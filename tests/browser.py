"""A browser for tests that need one: Debian's Chromium, never one that is downloaded."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

PATIENCE_MS = 15_000
"""How long a page may take: Playwright's own 5 seconds are too few where other tests run on the same processors."""


def chromium_path() -> str | None:
    """The Chromium of this computer: ORDINOISE_CHROMIUM, or the first on the path; None where there is none."""
    named = os.environ.get("ORDINOISE_CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless browser; the test is skipped, with a word, where there is none."""
    path = chromium_path()
    if path is None:
        pytest.skip("no Chromium: install Debian's chromium, or name one in ORDINOISE_CHROMIUM")
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE_MS)
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            yield started
        finally:
            started.close()
