"""Two processes on this machine: the same answer as one, also when one of them is killed."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="the processes are PyTorch's")
torch.set_num_threads(1)

SCRIPT = Path(__file__).parent / "run_scenario.py"
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
RENDEZVOUS = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]


def _in_this_process(scenario: str, folder: Path) -> Any:
    specification = importlib.util.spec_from_file_location("run_scenario", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return getattr(module, scenario)(folder)


def _in_two_processes(scenario: str, folder: Path) -> Any:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    command = [sys.executable, str(SCRIPT), scenario, str(folder)]
    processes = [
        subprocess.Popen(command, env=ENVIRONMENT | shared | {"RANK": rank}, stderr=subprocess.PIPE, text=True)
        for rank in ("0", "1")
    ]
    for process in processes:
        _, complaints = process.communicate(timeout=300)
        assert process.returncode == 0, complaints
    return json.loads((folder / "answer.json").read_text())


def _by_torchrun(scenario: str, folder: Path, *options: str, **environment: str) -> Any:
    command = [*TORCHRUN, *(options or RENDEZVOUS), str(SCRIPT), scenario, str(folder)]
    result = subprocess.run(command, env=ENVIRONMENT | environment, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    return json.loads((folder / "answer.json").read_text())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:correction='unbiased' with")
def test_two_processes_learn_what_one_learns(tmp_path: Path) -> None:
    """Weighted samples, uneven last batches, early stopping, and gradients cut to a length that needs all samples."""
    one, two = _in_this_process("plain", tmp_path), _in_two_processes("plain", tmp_path)
    for name in ("forward", "unbiased"):
        assert one[name]["n_updates"] == two[name]["n_updates"] > 40
        assert one[name]["losses"][-1] < one[name]["losses"][0] - 0.1
        for curve in ("losses", "validation", "probabilities"):
            np.testing.assert_allclose(two[name][curve], one[name][curve], atol=1e-4)


@pytest.mark.slow
def test_streams_that_end_at_different_steps_are_learnt_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    features, labels = _samples()
    edges = [0, 250, 260, 270, len(labels)]
    for number, (start, stop) in enumerate(pairwise(edges)):
        columns = dict(zip("abc", features[start:stop].T, strict=True)) | {"stars": labels[start:stop]}
        pq.write_table(pa.table(columns), tmp_path / "data" / f"{number}.parquet")
    one, two = _in_this_process("stream", tmp_path), _by_torchrun("stream", tmp_path)
    assert two["model"]["n_updates"] > one["model"]["n_updates"], "the processes had the same number of batches"
    assert two["model"]["losses"][-1] < one["model"]["losses"][-1] + 0.05, "the longer stream's rest was not learnt"
    agreed = np.argmax(one["model"]["probabilities"], axis=1) == np.argmax(two["model"]["probabilities"], axis=1)
    assert agreed.mean() > 0.9


def _samples() -> Any:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(331, 3))
    return features, np.digitize(features[:, 0] + 0.5 * features[:, 1], [-1, 0, 1])


@pytest.mark.slow
@pytest.mark.parametrize("options", [[*RENDEZVOUS, "--max-restarts", "2"], ["--standalone", "--max-restarts", "2"]])
def test_a_run_whose_process_is_killed_ends_where_an_undisturbed_one_ends(options: list[str], tmp_path: Path) -> None:
    """Killed in the middle of the third epoch, three updates after a checkpoint; with dropout."""
    folders = tmp_path / "whole", tmp_path / "killed"
    for folder in folders:
        folder.mkdir()
    whole = _by_torchrun("killed", folders[0])
    killed = _by_torchrun("killed", folders[1], *options, SCENARIO_KILLS=str(folders[1] / "kills"))
    assert (whole["attempt"], killed["attempt"]) == ("0", "1")
    assert killed["model"] == whole["model"]
