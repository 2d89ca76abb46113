import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Deadlines measure the machine, not the code.
settings.register_profile("ordinoise", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("ordinoise")

# A shell that starts the tests in the background has them ignore Ctrl-C, which some tests are about.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data; tests that need it are skipped, with a word, where there is none."""
    folder = Path(os.environ.get("ORDINOISE_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not (folder / "paper").is_dir():
        pytest.skip(f"no real data: ORDINOISE_DATA or {folder} must hold the data sets")
    return folder
