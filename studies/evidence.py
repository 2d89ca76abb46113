"""Every figure of the documentation, run again in pieces: what was run when, on which commit, and in how many seconds.

    python -m studies.evidence                        run what was not run since what it imports last changed
    python -m studies.evidence --minutes 60           start no piece after an hour; the next call continues
    python -m studies.evidence --only judge noise     the commands with one of these words
    python -m studies.evidence --workers 2            two at a time; those that measure time or use all processors alone
    python -m studies.evidence --record "COMMAND" --seconds 30    a run that was made otherwise, on this commit
    python -m studies.evidence --check                figures on the pages that were not printed, and stale commands

What a command prints is kept in studies/results/printed; the runs are kept in studies/results/runs.csv and shown on the
page docs/evidence.md. Figures in the text of a page are put there by hand, and compared with what was printed as
`studies.figures` says; a test does so, too.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from studies.figures import blocks, missing, path_of
from studies.sources import ROOT, git, sources

RUNS = ROOT / "studies" / "results" / "runs.csv"
PAGE = ROOT / "docs" / "_measured" / "evidence.md"
ANEW = {"COLUMNS": "140", "ORDINOISE_ANEW": "1"}  # kept results of an earlier state of the package are no evidence

PIECES = {
    "ordinoise demo --out results/demo": "get-started",
    "python -m studies.tour": "get-started",
    "python -m studies.text_tour": "text",
    "python -m studies.raters_tour": "raters",
    "python -m studies.rounds_tour": "rounds",
    "python -m studies.door_pictures": "images",
    "python -m studies.pictures": "why",
    "python -m studies.label_errors": "label-errors",
    "python -m studies.given": "label-errors",
    "python -m studies.truth --workers 2": "benchmarks",
    "python -m studies.accuracy --workers 2 --docs docs": "learners",
    "python -m studies.front --sets 'california, equal frequency' california --noises uniform": "learners",
    "python -m studies.boosting targets": "learners",
    "python -m studies.boosting speed": "benchmarks",
    "python -m studies.real --seeds 5": "real-noise",
    "python -m studies.people models": "real-noise",
    "python -m studies.people consensus": "real-noise",
    "python -m studies.text": "text",
    "python -m studies.text --alone --trees": "text",
    "python -m studies.text --time 10000": "text",
    "python -m studies.text --memory 200000": "text",
    "python -m studies.learning": "raters",
    "python -m studies.raters web": "knowing-the-noise",
    "python -m studies.raters": "raters",
    "python -m studies.groups --seeds 1": "knowing-the-noise",
    "python -m studies.harm --seeds 5": "knowing-the-noise",
    "python -m studies.harm --seeds 5 --rows 200": "knowing-the-noise",
    "python -m studies.harm --seeds 1 --rows 50000": "knowing-the-noise",
    "python -m studies.counts --runs 40": "knowing-the-noise",
    "python -m studies.graders": "graders",
    "python -m studies.small --seeds 3": "knowing-the-noise",
    "python -m studies.small --rows 500 --seeds 3 --only clean": "knowing-the-noise",
    "python -m studies.audit --seeds 5": "knowing-the-noise",
    "python -m studies.selection --repeats 20": "knowing-the-noise",
    "python -m studies.noise errors": "knowing-the-noise",
    "python -m studies.noise accuracy": "choose",
    "python -m studies.noise growth --seeds 2": "benchmarks",
    "python -m studies.noise coverage --seeds 2": "benchmarks",
    "python -m studies.sets --splits 8 --first-seed 300": "prediction-sets",
    "python -m studies.judge simulated --repeats 400": "benchmarks",
    "python -m studies.judge split --repeats 60": "benchmarks",
    "python -m studies.judge web --repeats 400": "benchmarks",
    "python -m studies.judge lean": "benchmarks",
    "python -m studies.rounds spot-check --runs 500": "rounds",
    "python -m studies.rounds rounds --runs 20 --first-run 20": "rounds",
    "python -m studies.next linear --seeds 20 --first-seed 20": "rounds",
    "python -m studies.next front --seeds 8 --first-seed 20": "rounds",
    "python -m studies.networks text": "learners",
    "python -m studies.speed": "benchmarks",
    "python -m studies.steps": "benchmarks",
    "python -m studies.torch_scaling": "pytorch",
    "python -m studies.million": "benchmarks",
    "python -m studies.partitions audit --rows 10000000": "cluster",
    "python -m studies.partitions speed --rows 500000": "cluster",
    "python -m studies.partitions text --rows 100000": "cluster",
    "python -m studies.partitions killed --rows 60000": "cluster",
    "python -m studies.partitions rows": "cluster",
    "python -m studies.partitions sums": "cluster",
    "python examples/digits_cnn.py": "pytorch",
    "ordinoise reproduce all": "reproduction",
    "ordinoise reproduce all --tune": "reproduction",
    "ordinoise reproduce large": "reproduction",
}
"""The commands, and the page of each; decisions are records of their day. The environment variable ORDINOISE_DATA names
the folder of the data."""
ALONE = re.compile(r"speed|steps|scaling|million|partitions|--time|--memory|--workers|reproduce|tour")
"""Commands that measure time or memory, or use all processors."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Limits that `make` or a shell may set, which commands that measure time must not inherit."""
UNCHANGED = {
    "94ddce3": ("", "a scale of text scores above e^100 is bounded; on the four text sets it stays below e^8"),
    "537e34d": (
        r"studies\.text( |$)|steps|torch_scaling|partitions sums|digits",
        "the interval of the number of wrong labels, which these commands do not print",
    ),
    "999588d": (r"studies\.text(?! --time)|text_tour", "the clock of `studies.text --time`"),
    "24c1244": (
        r"studies\.text( |$)|steps|torch_scaling|partitions sums|digits",
        "what terminal and report show of an estimate without slips, which these commands do not print",
    ),
    "bbd243d": (r"^(?!.*tour)", "the words of three doubts about raters, which tours alone print"),
    "c999aed": (
        r"label_errors|small",
        "tables of the study of accuracy, of which these commands read the noises and cuts",
    ),
    "536539f": (r"label_errors|small", "a contestant of that study"),
}
"""Commits that cannot change what was printed: by which commands (a pattern), and why."""


@dataclass(frozen=True)
class Run:
    """One finished run of a command."""

    command: str
    commit: str
    date: str
    seconds: str


def runs() -> dict[str, Run]:
    """The last run of every command."""
    if not RUNS.exists():
        return {}
    with RUNS.open(newline="") as file:
        return {row["command"]: Run(**row) for row in csv.DictReader(file)}


def record(command: str, seconds: float) -> None:
    """Keep a run on the present commit, and write the page."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    known = runs() | {command: Run(command, git("rev-parse", "--short", "HEAD"), today, f"{seconds:.0f}")}
    with RUNS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(Run.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(known[name]) for name in sorted(known))
    PAGE.write_text(page(known))


def page(known: dict[str, Run]) -> str:
    """One row per command: where its figures stand, and its last run."""
    lines = ["| command | figures on | last run | commit | seconds |", "|---|---|---|---|---:|"]
    for command, name in PIECES.items():
        run = known.get(command)
        cells = (run.date, f"`{run.commit}`", run.seconds) if run else ("never", "", "")
        lines.append(f"| `{command}` | [{name}]({name}.md) | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def is_fresh(run: Run | None) -> bool:
    """Whether everything that the command reads of the package and the studies is as it was when it was run, or was
    changed since by commits alone that cannot change what it prints.
    """
    if run is None:
        return False
    files = ("--", *sources(run.command))
    if _are_same(run.commit, files):
        return True
    later = git("log", "--abbrev=7", "--format=%h", f"{run.commit}..HEAD", *files).split()
    are_harmless = all(one in UNCHANGED and re.search(UNCHANGED[one][0], run.command) for one in later)
    return bool(later) and are_harmless and _are_same("HEAD", files)


def _are_same(commit: str, files: tuple[str, ...]) -> bool:
    """Whether files are in the working tree as they were in a commit."""
    words = ["git", "diff", "--quiet", commit, *files]
    return subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode == 0


def execute(command: str) -> float | None:
    """Run a command and keep what it prints; returns its seconds, or None if it failed."""
    words = shlex.split(command)
    if words[0] == "ordinoise":
        words[:1] = [sys.executable, "-m", "ordinoise.app.cli"]
    else:
        words[0] = sys.executable
    log = ROOT / "results" / path_of(command).name
    log.parent.mkdir(exist_ok=True)
    limits = THREADS if ALONE.search(command) else ()
    environment = {name: value for name, value in os.environ.items() if name not in limits} | ANEW
    started = time.monotonic()
    with log.open("w") as file:
        done = subprocess.run(words, cwd=ROOT, env=environment, stdout=file, stderr=file, check=False)
    seconds = time.monotonic() - started
    if done.returncode:
        print(f"FAILED in {seconds:.0f} s: {command} ({log.relative_to(ROOT)})", flush=True)
        return None
    path_of(command).write_text(log.read_text())
    print(f"done in {seconds:.0f} s: {command}", flush=True)
    return seconds


def check() -> int:
    """Print what is stale and what the pages say that was not printed; the number of such things."""
    known, n_found = runs(), 0
    for command in PIECES:
        if not is_fresh(known.get(command)):
            print("stale:" if command in known else "never run:", command)
            n_found += 1
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in blocks(page):
            for shown in missing(block) or ():
                print(f"{page.relative_to(ROOT)}: {shown} was not printed by {'; '.join(block.commands)}")
                n_found += 1
    return n_found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], help="words; a command with one of them is run")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--workers", type=int, default=1, help="commands at a time")
    parser.add_argument("--record", metavar="COMMAND", choices=list(PIECES))
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--check", action="store_true", help="run nothing")
    options = parser.parse_args()
    if options.check:
        raise SystemExit(min(check(), 1))
    if options.record:
        if options.seconds is None:
            parser.error("seconds must be given with --record, got nothing")
        record(options.record, options.seconds)
        return
    known, end = runs(), time.monotonic() + 60 * options.minutes
    asked = (command for command in PIECES if any(word in command for word in options.only))
    stale = [command for command in asked if not is_fresh(known.get(command))]
    lock = threading.Lock()

    def run(command: str) -> bool:
        """Whether a command failed; one whose time has not come by the end is left to the next call."""
        if time.monotonic() > end:
            return False
        seconds = execute(command)
        if seconds is not None:
            with lock:
                record(command, seconds)
        return seconds is None

    with ThreadPoolExecutor(options.workers) as pool:
        failed = sum(pool.map(run, [command for command in stale if not ALONE.search(command)]))
    failed += sum(map(run, filter(ALONE.search, stale)))
    if failed:
        raise SystemExit(f"{failed} commands failed")


if __name__ == "__main__":
    main()
