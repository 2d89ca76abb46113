"""The compiler's cache damaged, or nowhere to keep it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ordinoise import _compiling
from ordinoise._compiling import compiled_and_kept

FIT = """
from ordinoise import OrdinalMLPClassifier
from ordinoise.datasets import synthetic
data = synthetic(50, random_state=0)
print(OrdinalMLPClassifier(max_iter=2, random_state=0).fit(data.features, data.labels).predict(data.features).sum())
"""


DAMAGED = """
import importlib.util, os, sys
from pathlib import Path
from ordinoise._compiling import compiled_and_kept

def called(module):
    spec = importlib.util.spec_from_file_location("doubling", module)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    function = compiled_and_kept(loaded.double)
    return function(21), sum(function.stats.cache_hits.values())

kind, module, cache = sys.argv[1], Path(sys.argv[2]), Path(os.environ["NUMBA_CACHE_DIR"])
said = [called(module), called(module)]
for damage in (lambda content: content[: len(content) // 2], lambda _: b"", lambda _: b"x" * 500):
    damaged = list(cache.rglob(f"*.{kind}"))
    assert damaged
    for file in damaged:
        file.write_bytes(damage(file.read_bytes()))
    said += [called(module), called(module)]
print(said)
"""


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_cache_costs_a_compilation_and_no_more(kind: str, tmp_path: Path) -> None:
    """Cut short, emptied, overwritten. In a process of its own: after thousands of other tests, the second call has
    missed the cache now and then, for a reason that is not known.
    """
    module = tmp_path / "doubling.py"
    module.write_text("def double(number):\n    return 2 * number\n")
    command = [sys.executable, "-c", DAMAGED, kind, str(module)]
    surroundings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, env=surroundings)
    assert done.stdout == f"{[(42, 0), (42, 1)] * 4}\n", done.stderr


def test_a_cache_that_cannot_be_written_costs_a_compilation_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def triple(number: int) -> int:
        return 3 * number

    compiled = compiled_and_kept(triple)
    monkeypatch.setattr(compiled._cache._cache_file, "_cache_path", str(tmp_path / "nowhere"))
    assert compiled(14) == 42


@pytest.mark.slow
def test_a_read_only_installation_and_home_can_fit() -> None:
    """In a mount namespace of its own, where everything but /tmp is read-only."""
    root = Path(__file__).parents[2]
    quoted = FIT.replace('"', '\\"')
    steps = (
        f"mount --bind {root} {root} && mount -o remount,ro,bind {root} && mkdir -p /tmp/ordinoise-home && "
        "mount -t tmpfs -o ro tmpfs /tmp/ordinoise-home && cd /tmp && "
        f'HOME=/tmp/ordinoise-home XDG_CACHE_HOME=/tmp/ordinoise-home {sys.executable} -c "{quoted}"'
    )
    done = subprocess.run(["unshare", "-m", "bash", "-c", steps], capture_output=True, text=True)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("no mount namespace could be had: that takes root")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


def test_a_first_compilation_is_told_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    class Empty:
        load_overload = save_overload = flush = staticmethod(lambda *_: None)

    monkeypatch.setattr(_compiling, "_told", set())
    cache: Any = Empty()
    _compiling._tolerate_failures(cache)
    with caplog.at_level("INFO", logger="ordinoise.compiling"):
        assert cache.load_overload() is None
        cache.load_overload()
    assert caplog.messages == [_compiling.SENTENCE]
