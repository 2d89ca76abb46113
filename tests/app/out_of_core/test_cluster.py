"""Parts on a Dask cluster: the answer of one machine, also if a worker dies, and where a run was stopped."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from threading import Timer

import polars as pl
import pytest

from app.out_of_core.parts import plain, request_for, table, written
from ordinoise.app.out_of_core import tasks
from ordinoise.app.out_of_core.verbs import LABELS, audit_parts, estimate_parts
from ordinoise.app.records.audit import read_record

pytest.importorskip("distributed")


@pytest.mark.slow
def test_a_cluster_gives_the_answer_of_one_machine(tmp_path: Path) -> None:
    from distributed import LocalCluster

    request = request_for(written(tmp_path / "data", table(800)[0], 3))
    _, here = estimate_parts(request)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
    ) as cluster:
        _, there = estimate_parts(replace(request, scheduler=cluster.scheduler_address))
    assert here.to_dict() == there.to_dict()


@pytest.mark.slow
def test_a_stopped_run_continues_with_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(tmp_path / "data", table(800)[0], 3)
    stages: list[str] = []

    def stop(words: str) -> None:
        stages.append(words)
        if words.startswith("judging"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit_parts(request_for(data), tmp_path / "out", n_suspects=5, on_stage=stop)
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(tasks.FitTask, "run", None)  # whatever was fitted is not fitted again
    audit_parts(request_for(data), tmp_path / "out", n_suspects=5)
    assert {entry.name for entry in tmp_path.iterdir()} == {"data", "out"}


@pytest.mark.slow
def test_a_killed_worker_costs_time_and_not_the_answer(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    request = request_for(written(tmp_path / "data", table(20_000)[0], 4))
    audit_parts(request, tmp_path / "calm", n_suspects=20)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        victims = list(client.run(os.getpid).values())[:1]

        def kill_one(words: str) -> None:
            """Kill a worker a second after the first fits began."""
            if words.startswith("learning") and victims:
                Timer(1, os.kill, (victims.pop(), signal.SIGKILL)).start()

        remote = replace(request, scheduler=cluster.scheduler_address)
        audit_parts(remote, tmp_path / "shaken", n_suspects=20, on_stage=kill_one)
    assert not victims
    assert plain(read_record(tmp_path / "calm")) == plain(read_record(tmp_path / "shaken"))
    labels = [pl.read_parquet(tmp_path / name / LABELS) for name in ("calm", "shaken")]
    assert labels[0].equals(labels[1])
