"""An audit of a million rows: memory, time, size of the report, and accuracy.

``python -m studies.million [--rows 1000000] [--folder FOLDER]``

Writes a CSV of 20 columns, two of them categorical and two with missing values, corrupts its grades, runs ``ordinoise
audit`` on it in a separate process, and prints the peak memory of that process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from ordinoise import adjacent, corrupt

N_CLASSES = 5
NOISE = adjacent(N_CLASSES, up=0.12, down=0.06)  # chosen by no run


def table(n_rows: int, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    """Twenty columns with noisy grades, and the true grades."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 18)).astype(np.float32)
    regions, sorts = rng.integers(8, size=n_rows), rng.integers(30, size=n_rows)
    score = numbers[:, 0] + 0.6 * numbers[:, 1] * numbers[:, 2] + 0.4 * np.sin(2 * numbers[:, 3])
    score += 0.3 * (regions - 3.5) + 0.1 * (sorts % 5) + rng.normal(scale=0.3, size=n_rows)
    true = np.digitize(score, np.quantile(score, [0.1, 0.35, 0.65, 0.9]))
    columns = {f"x{j}": np.round(numbers[:, j], 4) for j in range(18)}
    frame = pl.DataFrame(columns).with_columns(
        pl.Series("region", [f"region {code}" for code in regions]),
        pl.Series("sort", [f"s{code:02}" for code in sorts]),
        pl.Series("grade", corrupt(true, NOISE, rng)),
    )
    gaps = pl.Series(rng.random(n_rows) < 0.05)
    return frame.with_columns(pl.when(~gaps).then(pl.col(name)).alias(name) for name in ("x0", "x5")), true


def main(n_rows: int, folder: Path) -> None:
    source, out = folder / "million.csv", folder / "audit"
    frame, true = table(n_rows)
    frame.write_csv(source)
    print(f"{source}: {n_rows:,} rows, {frame.width - 1} features, {source.stat().st_size / 1e6:.0f} MB")
    words = ["audit", str(source), "--target", "grade", "--out", str(out), "--json"]
    start = time.monotonic()
    run = subprocess.run([sys.executable, "-m", "ordinoise.app.cli", *words], stdout=subprocess.PIPE, check=True)
    minutes = (time.monotonic() - start) / 60
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(run.stdout)
    wrong = int((true != frame["grade"].to_numpy()).sum())
    processor = (used.ru_utime + used.ru_stime) / 60
    memory = used.ru_maxrss * 1024 / 1e9
    print(f"audit: {minutes:.1f} minutes, {processor:.1f} of processor time, at most {memory:.2f} GB of memory")
    print(f"report.html: {(out / 'report.html').stat().st_size / 1e6:.2f} MB")
    low, high = found["wrong_low"], found["wrong_high"]
    number = "a range only" if found["wrong"] is None else f"{found['wrong']:,.0f}"  # in doubt there is no number
    print(f"wrong grades: {wrong:,}; found {number}, {low:,.0f} to {high:,.0f}")
    error = np.abs(np.array(found["noise"]["matrix"]) - NOISE).mean()
    print(f"mean error of the noise matrix: {error:.4f}")
    labels = pl.read_csv(out / "labels.csv").sort("rank").head(wrong)["row"].to_numpy()
    print(f"of the {wrong:,} most suspicious grades {(true != frame['grade'].to_numpy())[labels].mean():.0%} are wrong")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where to keep table and audit; a temporary folder by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        main(given.rows, given.folder or Path(temporary))
