"""Audits of several Parquet files: memory, time, one worker against two, a killed worker, and far larger tables.

``python -m studies.partitions PART [--rows 1000000] [--workers 2] [--folder FOLDER]``

Parts:

- ``audit``: an audit of the table of `studies.million` in Parquet files, on worker processes whose memory is limited;
  matrix and ranking beside those of an audit of a sample in memory.
- ``text``: the same where free text of 25 words stands for two of the columns; 20,000 rows are audited in memory.
- ``speed``: the same audit with one worker and with two.
- ``killed``: a worker is killed in the middle; the answer must be that of an undisturbed run.
- ``rows``: the error of models that learn from more and more rows.
- ``sums``: the reduction of the tables of so many parts as a hundred million and a billion rows have.
- ``engines``: one task per fold against LightGBM on Dask and XGBoost on Dask, with the same objective.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from studies.million import N_CLASSES, NOISE, table

FILE_ROWS = 500_000
GIGABYTE = 1024**3


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--gigabytes", type=float, default=4.0, help="memory of all workers together")
    parser.add_argument("--folder", type=Path, help="where to keep the table; a temporary folder by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        PARTS[given.part](given, given.folder or Path(temporary))


def written(folder: Path, n_rows: int, *, text: bool = False) -> Path:
    """The table in Parquet files, with the true grades beside them; not made again if it is there."""
    data = folder / f"{'text' if text else 'table'}-{n_rows}"
    if not data.exists():
        making = folder / f"making-{data.name}"
        (making / "true").mkdir(parents=True)
        for at in range(0, n_rows, FILE_ROWS):
            size = min(FILE_ROWS, n_rows - at)
            frame, true = table(size, seed=at // FILE_ROWS)
            if text:
                frame = frame.drop("x0", "region").with_columns(pl.Series("text", texts(true, seed=at // FILE_ROWS)))
            frame.write_parquet(making / f"part-{at // FILE_ROWS:04}.parquet")
            np.save(making / "true" / f"{at // FILE_ROWS:04}.npy", true.astype(np.int8))
        making.rename(data)
    n_bytes = sum(file.stat().st_size for file in data.glob("*.parquet"))
    print(f"{data}: {n_rows:,} rows, {n_bytes / 1e6:,.0f} MB in {len(list(data.glob('*.parquet')))} files")
    return data


def texts(true: np.ndarray, seed: int) -> list[str]:
    """Texts of 25 words out of 6000, some frequent and most rare; two of them on average go with the true grade."""
    letters, rng = np.array(list("abcdefghijklmnopqrstuvwxyz")), np.random.default_rng(0)
    vocabulary = np.array(["".join(rng.choice(letters, size)) for size in rng.integers(3, 10, size=6000)])
    rng, shape = np.random.default_rng(seed), (len(true), 25)
    words = np.minimum(rng.pareto(0.5, size=shape), 4999).astype(np.int64)
    telling = 5000 + 200 * true[:, None] + rng.integers(200, size=shape)
    chosen = np.where(rng.random(shape) < 0.08, telling, words)
    return [" ".join(row) for row in vocabulary[chosen].tolist()]


def true_grades(data: Path) -> np.ndarray:
    """The true grades of all rows."""
    return np.concatenate([np.load(file) for file in sorted((data / "true").glob("*.npy"))])


@contextmanager
def cluster(n_workers: int, gigabytes: float) -> Iterator[tuple[str, list[int]]]:
    """A Dask scheduler and worker processes of one thread, each with a limit of its memory; address and process ids."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
            memory_limit=int(gigabytes / n_workers * GIGABYTE),
        ) as started,
        Client(started) as client,
    ):  # fmt: skip
        ids = client.run(_limited, int(gigabytes / n_workers * GIGABYTE))
        yield started.scheduler_address, list(ids.values())


def _limited(n_bytes: int) -> int:
    """Forbid this process more heap than so many bytes; its id."""
    resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
    return os.getpid()


def audited(data: Path, out: Path, address: str, on_start: Any = lambda _: None) -> tuple[float, dict[str, Any], float]:
    """Minutes and findings of ``ordinoise audit`` on a cluster, and the memory of the command itself in GB.

    The command prints on standard error when each of its steps begins.
    """
    shutil.rmtree(out, ignore_errors=True)
    words = ["audit", str(data), "--target", "grade", "--scheduler", address, "--out", str(out)]
    start = time.monotonic()
    run = subprocess.Popen([sys.executable, "-m", "ordinoise.app.cli", *words], stdout=subprocess.DEVNULL)
    on_start(run)
    assert run.wait() == 0, run.returncode
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    return (time.monotonic() - start) / 60, json.loads((out / "audit.json").read_text()), memory


def most_memory(ids: list[int]) -> list[float]:
    """The most memory that each process had at once, in GB."""
    found = []
    for one in ids:
        lines = Path(f"/proc/{one}/status").read_text().splitlines()
        found.append(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024**2)
    return found


def audit(given: argparse.Namespace, folder: Path) -> None:
    """Memory, time, matrix and ranking."""
    _audit(given, written(folder, given.rows), folder / f"audit-{given.rows}", SAMPLE)


def text(given: argparse.Namespace, folder: Path) -> None:
    """The same with free text."""
    _audit(given, written(folder, given.rows, text=True), folder / f"audit-text-{given.rows}", TEXT_SAMPLE)


def _audit(given: argparse.Namespace, data: Path, out: Path, n_sample: int) -> None:
    with cluster(given.workers, given.gigabytes) as (address, ids):
        minutes, found, memory = audited(data, out, address)
        workers = most_memory(ids)
    print(f"audit: {minutes:.1f} minutes on {given.workers} workers")
    print(f"memory: at most {', '.join(f'{one:.2f}' for one in workers)} GB per worker, {memory:.2f} GB the command")
    _show_accuracy(data, found, out, n_sample)


def _show_accuracy(data: Path, found: dict[str, Any], out: Path, n_sample: int) -> None:
    labels = pl.scan_parquet(out / "labels.parquet" / "*.parquet").select(
        "row", pl.col("recorded").cast(pl.Int8), "suspicion"
    ).collect()  # fmt: skip
    true = true_grades(data)
    wrong = labels["recorded"].to_numpy() != true[labels["row"].to_numpy()]
    number = "a range only" if found["wrong"] is None else f"{found['wrong']:,.0f}"  # in doubt there is no number
    print(f"wrong grades: {wrong.sum():,}; found {number}, {found['wrong_low']:,.0f} to {found['wrong_high']:,.0f}; "
          f"answer {found['noise']['answer']}")  # fmt: skip
    error = np.abs(np.array(found["noise"]["matrix"]) - NOISE)
    print(f"error of the noise matrix: {error.mean():.4f} on average, {error.max():.4f} at most")
    order = np.argsort(-labels["suspicion"].to_numpy(), kind="stable")
    for share in (0.01, 0.05, 0.1, wrong.mean()):
        chosen = order[: int(share * len(order))]
        print(f"of the {len(chosen):,} most suspicious grades {wrong[chosen].mean():.2%} are wrong")
    _compare_with_memory(data, labels, wrong, np.array(found["noise"]["matrix"]), n_sample)


def _compare_with_memory(
    data: Path, labels: pl.DataFrame, wrong: np.ndarray, matrix: np.ndarray, n_sample: int
) -> None:
    """The same numbers from an audit in memory of a sample of rows."""
    from ordinoise import OrdinalClassifier
    from ordinoise.audit import issues_from_probabilities

    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(len(wrong), min(n_sample, len(wrong)), replace=False))
    frames = [pl.scan_parquet(file) for file in sorted(data.glob("*.parquet"))]
    sample = pl.concat(frames).with_row_index("at").filter(pl.col("at").is_in(rows)).drop("at").collect()
    ours = labels["suspicion"].to_numpy()[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a noise in doubt
        model = OrdinalClassifier(random_state=0).fit(sample.drop("grade"), sample["grade"].to_numpy())
    assert model.out_of_fold_ is not None
    issues = issues_from_probabilities(model.out_of_fold_, sample["grade"].to_numpy(), model.noise_)
    inside, between = np.abs(model.noise_.matrix - NOISE), np.abs(model.noise_.matrix - matrix)
    print(f"in memory, {len(rows):,} rows: error of the matrix {inside.mean():.4f} on average, {inside.max():.4f} at "
          f"most; from that of the parts {between.mean():.4f} on average, {between.max():.4f} at most; answer "
          f"{model.noise_.answer}", flush=True)  # fmt: skip
    for share in (0.01, 0.05, 0.1, wrong.mean()):
        n_rows = int(share * len(rows))
        orders = (np.argsort(-one, kind="stable") for one in (ours, issues.suspicion))
        shares = [wrong[rows][order[:n_rows]].mean() for order in orders]
        chance = np.sqrt(2 * shares[0] * (1 - shares[0]) / n_rows)
        print(f"of the same rows, the first {n_rows:,}: parts {shares[0]:.2%} wrong, memory {shares[1]:.2%} (two "
              f"standard errors {2 * chance:.2%})", flush=True)  # fmt: skip


SAMPLE, TEXT_SAMPLE = 1_000_000, 20_000


def processor_seconds(ids: list[int]) -> list[float]:
    """The processor time of each process."""
    ticks = [sum(map(int, Path(f"/proc/{one}/stat").read_text().rsplit(")")[-1].split()[11:13])) for one in ids]
    return [one / os.sysconf("SC_CLK_TCK") for one in ticks]


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def speed(given: argparse.Namespace, folder: Path) -> None:
    """One worker against two: by the clock, and by processor time, which work beside them changes less."""
    data, minutes, longest = written(folder, given.rows), {}, {}
    for n_workers in (1, 2):
        with cluster(n_workers, given.gigabytes) as (address, ids):
            before = _of_children(), processor_seconds(ids)
            minutes[n_workers], _, _ = audited(data, folder / f"speed-{n_workers}", address)
            alone = _of_children() - before[0]  # the workers are not counted before they end
            work = np.subtract(processor_seconds(ids), before[1])
        longest[n_workers] = work.max() + alone
        print(f"{n_workers} worker{'s' * (n_workers > 1)}: {minutes[n_workers]:.2f} minutes; processor seconds: "
              f"{', '.join(f'{one:.0f}' for one in work)} per worker, {alone:.0f} the command", flush=True)  # fmt: skip
    print(f"two workers are {minutes[1] / minutes[2]:.2f} times as fast as one by the clock, by processor time of the "
          f"longer one and the command {longest[1] / longest[2]:.2f} times")  # fmt: skip
    one, two = ((folder / f"speed-{n}" / "audit.json").read_bytes() for n in (1, 2))
    print(f"the same audit.json: {one == two}")


def killed(given: argparse.Namespace, folder: Path) -> None:
    """The answer after a worker was killed."""
    data = written(folder, given.rows)
    with cluster(2, given.gigabytes) as (address, ids):
        calm, _, _ = audited(data, folder / "calm", address)
        seconds = calm * 60 / 3

        def kill(_: Any) -> None:
            time.sleep(seconds)
            os.kill(ids[0], signal.SIGKILL)
            print(f"a worker was killed after {seconds:.0f} seconds")

        shaken, _, _ = audited(data, folder / "shaken", address, kill)
    print(f"undisturbed {calm:.2f} minutes, with a killed worker {shaken:.2f}")
    one, two = ((folder / name / "audit.json").read_bytes() for name in ("calm", "shaken"))
    labels = [pl.read_parquet(folder / name / "labels.parquet") for name in ("calm", "shaken")]
    print(f"the same audit.json: {one == two}; the same labels: {labels[0].equals(labels[1])}")


def rows(given: argparse.Namespace, _: Path) -> None:
    """Held-out error of one model by the number of its training rows."""
    from ordinoise.classifiers.blend.candidates import TreesCandidate
    from ordinoise.classifiers.blend.lineup import dense_candidates
    from ordinoise.learners.boosting import OBJECTIVES, Sample, train

    frame, true = table(given.rows + 100_000, seed=100)
    names = [name for name in frame.columns if name != "grade"]
    features = np.column_stack([
        frame[name].cast(pl.Categorical).to_physical().to_numpy() if frame[name].dtype == pl.String
        else frame[name].to_numpy() for name in names
    ]).astype(np.float64)  # fmt: skip
    recorded = frame["grade"].to_numpy().astype(np.int64)
    objective = OBJECTIVES["ordered"](NOISE[None])
    held_out = slice(given.rows, None)
    n_rows = 62_500
    while n_rows <= given.rows:
        chosen = dense_candidates("boosting", n_rows, (18, 19))["ordered trees"]
        assert isinstance(chosen, TreesCandidate)
        settings = replace(chosen.settings, learning_rate=chosen.corrected_rate)
        start = time.monotonic()
        found = train(
            Sample(features[:n_rows], recorded[:n_rows], np.ones(n_rows)), objective,
            np.bincount(true, minlength=N_CLASSES) / len(true), settings, n_rounds=chosen.max_rounds, seed=0,
            validation=Sample(features[held_out], recorded[held_out], np.ones(100_000)), patience=chosen.patience,
        )  # fmt: skip
        probabilities = np.exp(found.ensemble.log_probabilities(features[held_out]))
        predicted = (1 - probabilities.cumsum(axis=1)[:, :-1] > 0.5).sum(axis=1)
        error = np.abs(predicted - true[held_out]).mean()
        print(f"{n_rows:>9,} rows: {found.n_rounds} rounds, {time.monotonic() - start:.0f} s, error on true grades "
              f"{error:.4f}, held-out loss {min(found.validation_curve):.5f}", flush=True)  # fmt: skip
        n_rows *= 2


def sums(_: argparse.Namespace, folder: Path) -> None:
    """Time and memory of the reduction, with the tables of as many parts as large tables have."""
    from ordinoise.app.out_of_core.files import PART_ROWS
    from ordinoise.app.out_of_core.tasks import N_BUCKETS, ScoreTask
    from ordinoise.classifiers.blend.evidence import Evidence
    from ordinoise.jobs import ResultStore
    from ordinoise.jobs.records import trial_key, trial_record

    rng = np.random.default_rng(0)
    for n_rows in (10**7, 10**8, 10**9):
        n_parts = -(-n_rows // PART_ROWS)
        path = folder / f"sums-{n_rows}.sqlite"
        path.unlink(missing_ok=True)
        start = time.monotonic()
        with ResultStore(path) as store:
            for number in range(n_parts):
                task = ScoreTask(number, "trusting", ((1.0,),), "median")
                counts = rng.multinomial(PART_ROWS, np.full(900, 1 / 900))
                buckets = rng.integers(-(2**40), 2**40, size=(2, N_BUCKETS)) / 2**20
                gains = {"likelier": buckets[0].tolist(), "cheaper": buckets[1].tolist()}
                result = {"counts": counts.tolist(), "sizes": counts[:N_BUCKETS].tolist(), **gains}
                store.add(trial_key(task), trial_record(task), result, 1.0)
            stored = time.monotonic() - start
            found = [one.result for one in store.results()]
            total = np.sum([one["counts"] for one in found], axis=0)
            _ = Evidence(total[:N_BUCKETS], np.sum([one["likelier"] for one in found], axis=0)).gain
        seconds = time.monotonic() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        print(f"{n_rows:>13,} rows: {n_parts:,} parts, kept in {stored:.1f} s and {path.stat().st_size / 1e6:.0f} MB, "
              f"added up in {seconds - stored:.1f} s, {memory:.2f} GB of memory", flush=True)  # fmt: skip


def engines(given: argparse.Namespace, _: Path) -> None:
    """Time and error of one fold's model on two workers, by three engines."""
    from studies.engines import compare

    compare(given.rows)


PARTS = {"audit": audit, "text": text, "speed": speed, "killed": killed, "rows": rows, "sums": sums, "engines": engines}

if __name__ == "__main__":
    main()
