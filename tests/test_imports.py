"""What a part loads when it is imported: the ground floor and `--help` stay light."""

import json
import subprocess
import sys

import pytest

HEAVY = ["torch", "lightgbm", "numba", "matplotlib", "sklearn", "scipy"]


def _loaded(code: str) -> tuple[set[str], float]:
    """Heavy packages loaded by `code` in a fresh interpreter, and the seconds it took."""
    probe = f"import time; start = time.perf_counter()\n{code}\nimport sys, json\n"
    probe += f"print(json.dumps([[name for name in {HEAVY} if name in sys.modules], time.perf_counter() - start]))"
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    names, seconds = json.loads(result.stdout.splitlines()[-1])
    return set(names), seconds


@pytest.mark.parametrize("module", ["noise", "levels", "losses", "scoring.metrics", "scoring.bounds", "datasets"])
def test_the_ground_floor_loads_numpy_only(module: str) -> None:
    loaded, _ = _loaded(f"import ordinoise.{module}")
    assert loaded == set()


def test_help_loads_nothing_heavy() -> None:
    loaded, _ = _loaded(
        "import ordinoise.app.cli, contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    ordinoise.app.cli.app(['--help'])"
    )
    assert loaded == set()


def test_the_package_names_everything_it_offers() -> None:
    import ordinoise

    for name in ordinoise.__all__:
        assert getattr(ordinoise, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ordinoise.nothing
