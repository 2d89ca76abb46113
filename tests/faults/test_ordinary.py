"""Ordinary things that went wrong: a folder that is gone, a second signal, edited numbers in a model."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from app.review.sample import sample_audit
from app.review.server import TOKEN, Server
from ordinoise import load_model
from ordinoise.app.review.guard import CSRF_HEADER, derived
from ordinoise.classifiers.saving import ARRAYS


def test_a_current_folder_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    words = f"cd {gone} && rmdir {gone} && {sys.executable} -P -m ordinoise.app.cli data wine --out w.csv"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "the current folder must exist, got one that was removed; change to another\n"


def _without_its_body(server: Server) -> bytes:
    """A decision whose body never comes: a request that a server waits for while it stops."""
    headers = {
        "Host": f"127.0.0.1:{server.port}", "Origin": server.origin, "Content-Length": "100",
        "Cookie": f"ordinoise-review-{server.port}={derived(TOKEN, 'session')}", CSRF_HEADER: derived(TOKEN, "csrf"),
        "Content-Type": "application/json",
    }  # fmt: skip
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /api/decide HTTP/1.1\r\n{lines}\r\n".encode()


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_while_a_review_stops_prints_no_traceback(tmp_path: Path, second: signal.Signals) -> None:
    sample_audit(tmp_path)
    server = Server(tmp_path / "audit")
    try:
        with socket.create_connection(("127.0.0.1", server.port)) as waiting:
            waiting.sendall(_without_its_body(server))
            time.sleep(0.3)
            for number in (signal.SIGINT, second):
                assert server.process.pid is not None
                with contextlib.suppress(ProcessLookupError):
                    os.kill(server.process.pid, number)
                time.sleep(0.3)
            server.process.join(20)
    finally:
        server.close()
    assert "Traceback" not in server.output.read_text()


@pytest.mark.parametrize("value", [-(2**63), -1, 10**6])
def test_columns_of_a_model_that_are_not_there_are_refused(tmp_path: Path, value: int) -> None:
    from ordinoise.classifiers import OrdinalClassifier

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), np.arange(60) % 3
    x[::7, 0] = np.nan
    OrdinalClassifier("blend", noise=None, n_folds=2, n_rounds=1, n_jobs=1, random_state=0).fit(x, y).save(
        tmp_path / "m"
    )
    arrays = load((tmp_path / "m" / ARRAYS).read_bytes())
    name = next(name for name in arrays if name.endswith("flagged"))
    assert len(arrays[name])
    arrays[name] = np.full_like(arrays[name], value)
    (tmp_path / "m" / ARRAYS).write_bytes(save(arrays))
    with pytest.raises(ValueError, match="flagged must be columns of the table, got"):
        load_model(tmp_path / "m")


def test_a_torch_model_with_a_scale_of_another_shape_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ordinoise import OrdinalTorchClassifier

    x, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3
    OrdinalTorchClassifier(max_iter=1, random_state=0).fit(x, y).save(tmp_path / "m")
    arrays = load((tmp_path / "m" / ARRAYS).read_bytes())
    for name in [name for name in arrays if name.endswith(("center", "scale"))]:
        arrays[name] = np.ones(7, dtype=np.float32)
    (tmp_path / "m" / ARRAYS).write_bytes(save(arrays))
    with pytest.raises(ValueError, match="must"):
        load_model(tmp_path / "m")
