"""Does what the count of wrong labels says hold, with nothing verified, after suspects, and after a random sample?

    python -m studies.truth [--tables 12] [--rows 300 1200 5000] [--only branches far] [--workers 2]

Out-of-fold probabilities are fitted once per table and stored in `--out`; samples are drawn 25 times from each table.
Results are kept in studies/results/truth.csv: a run continues with what is missing there.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from ordinoise.jobs import run_plan
from studies.results import FOLDER, kept
from studies.sources import package_state
from studies.truth.page import page
from studies.truth.trials import Trial, every, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--tables", type=int, default=12)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1200, 5000])
    parser.add_argument("--only", nargs="+", help="names of worlds")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of working files")
    parser.add_argument("--results", type=Path, default=FOLDER / "truth.csv")
    options = parser.parse_args()
    data_dir = None if options.data_dir is None else Path(options.data_dir)
    options.out.mkdir(exist_ok=True)
    names = [world.name for world in every(data_dir) if not options.only or world.name in options.only]
    plan = [Trial(name, rows, number) for number in range(options.tables) for rows in options.rows for name in names]
    package = package_state("studies.truth.__main__")
    job = partial(run, folder=options.out / "truth", data_dir=data_dir, package=package)
    with (
        kept(options.results, options.out / "truth.sqlite", package) as store,
        ProcessPoolExecutor(options.workers, get_context("spawn")) as pool,
    ):
        outcome = run_plan(plan, job, store, pool, n_in_flight=2 * options.workers)
        print(page(outcome.results, every(data_dir)))
    for failure in outcome.failures:
        print("failed:", failure.trial, failure.error)


if __name__ == "__main__":
    main()
