"""A tour of the command line from a clean file to predicted grades: a page with every output, and screenshots.

``python -m studies.tour --docs docs [--data-dir DIR]``

Runs the commands in an empty folder, presses the keys of three decisions in a browser (chromium, through Playwright),
and writes ``_measured/tour.md`` and ``_static/{report,review}-{light,dark,narrow}.png`` below the folder of the
documentation. The last line of the page is the total time of the commands.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from ordinoise.app.records.audit import read_record
from ordinoise.app.review.reasons import grade_keys

N_DECISIONS = 3
SCHEMES: dict[str, dict[str, object]] = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
LONGEST = 40  # largest number of lines shown per output, chosen by eye


class Tour:
    """Commands run in a folder, their outputs, and their total time."""

    def __init__(self, folder: Path, data_dir: Path | None) -> None:
        self.folder, self.seconds = folder, 0.0
        self.lines: list[str] = []
        self.environment = (
            os.environ | ({"ORDINOISE_DATA": str(data_dir.resolve())} if data_dir else {}) | {"COLUMNS": "100"}
        )

    def say(self, words: str) -> None:
        """Add a paragraph."""
        self.lines += [words, ""]

    def run(self, command: str, most: int = LONGEST) -> None:
        """Run ``ordinoise ...`` and add its output, at most that many lines."""
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "ordinoise.app.cli", *command.split()[1:]],
            cwd=self.folder, env=self.environment, capture_output=True, text=True,
        )  # fmt: skip
        self.seconds += time.monotonic() - start
        if done.returncode:
            raise SystemExit(f"{command}: {done.stderr}")
        self.show(command, done.stdout, most)

    def show(self, command: str, output: str, most: int = LONGEST) -> None:
        """Add a command with its output."""
        printed = [line.rstrip() for line in output.replace(str(self.folder), ".").splitlines()]
        self.lines += [
            "```console",
            f"$ {command}",
            *printed[:most],
            *(["..."] if len(printed) > most else []),
            "```",
            "",
        ]

    @contextmanager
    def served(self, command: str) -> Iterator[str]:
        """Run ``ordinoise review ...`` during the block; yields the address of the page."""
        words = [sys.executable, "-m", "ordinoise.app.cli", *command.split()[1:]]
        start = time.monotonic()
        server = subprocess.Popen(words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            first = server.stdout.readline()
            yield re.findall(r"http://\S+", first)[0]
            shown = re.sub(r"token=\S+", "token=...", re.sub(r":\d{4,5}/", ":40123/", first))
            self.show(command, shown + server.stdout.readline())
        finally:
            server.terminate()
            server.wait()
            self.seconds += time.monotonic() - start


def photograph(browser: Browser, address: str, path: Path, *, whole: bool = False) -> None:
    """Take a screenshot of the page in every scheme, with 256 colors: half of the size, and looks the same."""
    for scheme, options in SCHEMES.items():
        page = browser.new_page(**options)  # type: ignore[arg-type]
        page.goto(address)
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        taken = Image.open(io.BytesIO(page.screenshot(full_page=whole)))
        taken.convert("RGB").quantize(256, kmeans=1).save(path.with_name(f"{path.stem}-{scheme}.png"), optimize=True)
        page.close()


def settle(page: Page, address: str, keys: list[str]) -> None:
    """Press the keys of the decisions, with time to store each."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(500)


def true_keys(folder: Path) -> list[str]:
    """The keys of the true grades of the three most suspicious rows."""
    record = read_record(folder / "audit")
    noisy, clean = (pl.read_csv(folder / name, infer_schema=False)["grade"] for name in ("noisy.csv", "wine.csv"))
    trained = [row for row in range(len(noisy)) if row % 4]
    grades = [clean[trained[suspect.row]] for suspect in record.suspects[:N_DECISIONS]]
    keys = grade_keys(record.classes)
    return [keys[record.classes.index(grade)] or "k" for grade in grades]


def tour(docs: Path, folder: Path, data_dir: Path | None, browser: Browser) -> None:
    steps = Tour(folder, data_dir)
    steps.say("Start with a file whose grades are right, so that the answers can be checked: red wines, graded 3 to 8.")
    steps.run("ordinoise data winequality-red --out wine.csv")
    steps.say(
        "Add noise: a grade is recorded one grade off with a probability of 10 % on each side, two off with 5 %, ..."
    )
    steps.run("ordinoise corrupt wine.csv --target grade --rate 0.1 --out noisy.csv")
    _split(folder)
    steps.say("Hold out a quarter of the noisy rows as `test.csv`; the rest is `train.csv`. Which grades are wrong?")
    steps.run("ordinoise audit train.csv --target grade --out audit")
    photograph(browser, f"file://{folder}/audit/report.html", docs / "_static" / "report.png")
    steps.say("Open `audit/report.html` in a browser for the full report. Review some of the suspected grades by hand:")
    with steps.served("ordinoise review audit --reviewer Ada --no-browser") as address:
        photograph(browser, address, docs / "_static" / "review.png")
        page, keys = browser.new_page(), true_keys(folder)
        settle(page, address, keys)
        page.close()
    pressed = ", ".join(keys)
    steps.say(f"Keys pressed there, for the three most suspicious rows: {pressed}. Then fit, trusting the decisions:")
    steps.run("ordinoise fit train.csv --target grade --reviewed audit --out model")
    steps.say("How good is it? The test grades are noisy too; the second column estimates the score on clean ones.")
    steps.run("ordinoise evaluate model test.csv")
    steps.say("Here the clean grades of the same rows are known, unlike in practice:")
    steps.run("ordinoise evaluate model clean.csv --trusted")
    steps.say("Predict new rows, each with a set of grades that contains the true one nine times in ten:")
    steps.run("ordinoise predict model test.csv --confidence 0.9 --out graded.csv")
    steps.say(f"All commands together took {steps.seconds:.0f} seconds on {os.cpu_count()} cores.")
    (docs / "_measured" / "tour.md").write_text("\n".join(steps.lines))
    print(f"{docs / '_measured' / 'tour.md'}: {steps.seconds:.0f} seconds of commands")


def _split(folder: Path) -> None:
    """Write training rows, and every fourth row as test rows with noisy and with clean grades."""
    noisy, clean = (pl.read_csv(folder / name, infer_schema=False) for name in ("noisy.csv", "wine.csv"))
    held_out = pl.Series([row % 4 == 0 for row in range(noisy.height)])
    noisy.filter(~held_out).write_csv(folder / "train.csv")
    noisy.filter(held_out).write_csv(folder / "test.csv")
    clean.filter(held_out).write_csv(folder / "clean.csv")


def main(description: str | None, tour: Callable[[Path, Path, Path | None, Browser], None]) -> None:
    """Read the options and take the tour in an empty folder with an open browser."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    parser.add_argument("--data-dir", type=Path, help="folder of the real sets; ORDINOISE_DATA by default")
    given = parser.parse_args()
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as temporary,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]) as opened,
    ):
        tour(given.docs.resolve(), Path(temporary), given.data_dir, opened)


if __name__ == "__main__":
    main(__doc__, tour)
