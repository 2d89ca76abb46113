"""The wheel alone, installed into an empty environment far from the checkout: what a person gets by pip."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not UV.exists(), reason="the wheel is built and installed by uv, which tools/setup installs"),
]


def _run(words: Sequence[str | Path], folder: Path, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    kept |= variables
    done = subprocess.run([*map(str, words)], cwd=folder, env=kept, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    _run([UV, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT], folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel, its dependencies and the review page."""
    environment = tmp_path_factory.mktemp("environment") / "venv"
    _run([UV, "venv", "--quiet", "--python", sys.executable, environment], wheel.parent)
    python, pins = environment / "bin" / "python", ROOT / "constraints.txt"
    _run([UV, "pip", "install", "--quiet", "-p", python, "-c", pins, f"{wheel}[review]"], wheel.parent)
    return environment / "bin"


def test_it_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"ordinoise"}
    assert any(name.endswith("py.typed") for name in names)
    on_disk = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "ordinoise").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert on_disk - set(names) == set()


def test_a_release_shows_addresses_and_whole_links(tmp_path: Path) -> None:
    built = tmp_path / "dist"
    _run([UV, "build", "--quiet", "--out-dir", built, ROOT], tmp_path, ORDINOISE_REPOSITORY="https://example.org/o")
    wheel = next(built.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        shown = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    assert "Project-URL: Repository, https://example.org/o\n" in shown
    assert "](https://example.org/o/raw/v" in shown
    assert not re.search(r"\]\((?!https?:)", shown)
    _run([UV.with_name("twine"), "check", "--strict", *built.glob("*.whl"), *built.glob("*.tar.gz")], tmp_path)


def test_its_demo_audit_review_and_prediction_run_without_the_checkout(bin_folder: Path, tmp_path: Path) -> None:
    ordinoise = bin_folder / "ordinoise"
    assert str(bin_folder.parent) in _run(
        [bin_folder / "python", "-c", "import ordinoise; print(ordinoise.__file__)"], tmp_path
    )
    _run([ordinoise, "demo", "--splits", "1", "--out", "story"], tmp_path)
    _run([ordinoise, "data", "diabetes", "--out", "grades.csv"], tmp_path)
    quick = ("--target", "grade", "--learner", "mlp", "--noise", "none")
    _run([ordinoise, "audit", "grades.csv", *quick, "--out", "audit"], tmp_path)
    assert (tmp_path / "audit" / "report.html").read_text().startswith("<!DOCTYPE html>")
    _run([ordinoise, "fit", "grades.csv", *quick, "--out", "model"], tmp_path)
    assert "predicted" in _run([ordinoise, "predict", "model", "grades.csv"], tmp_path).splitlines()[0]
    page = subprocess.Popen(
        [ordinoise, "review", "audit", "--no-browser"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert page.stdout is not None
    assert page.stdout.readline().startswith("Review page: ")
    page.send_signal(signal.SIGTERM)
    assert page.wait(timeout=30) == 143
    page.stdout.close()
