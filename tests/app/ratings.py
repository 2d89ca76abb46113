"""Files of ratings for the tests: one row per grade, one column per rater, and a Label Studio export."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

RATERS = ("Ada", "Bo", "<b>Cy</b>", "=Dee()")
TEXTS = ("a plain text", "<script>document.title = 'owned'</script>", '=HYPERLINK("x")', "two\nlines \x1b[31m")


def drawn(n_items: int = 60, seed: int = 0) -> tuple[list[str], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Names of items, their true grades 1 to 4, and a table of grades with zeros where a rater saw no item.

    Two raters are careful, one grades too high, one guesses.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 5, size=n_items)
    given = np.column_stack([truth, truth, truth, truth])
    slips = rng.random((n_items, 2)) < 0.1
    given[:, :2] += np.where(slips, rng.choice([-1, 1], size=(n_items, 2)), 0)
    given[:, 2] += rng.random(n_items) < 0.4
    given[:, 3] = rng.integers(1, 5, size=n_items)
    given = given.clip(1, 4)
    given[rng.random(given.shape) < 0.1] = 0
    given[:, 0] = np.where((given > 0).any(axis=1), given[:, 0], truth)
    return [f"i{number:03}" for number in range(n_items)], truth, given


def write_long(path: Path, n_items: int = 60) -> Path:
    names, _, given = drawn(n_items)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "who", "stars", "about", "minute"])
        minute = 0
        for at, name in enumerate(names):
            for rater, grade in zip(RATERS, given[at], strict=True):
                minute += 1
                if grade:
                    writer.writerow([name, rater, grade, TEXTS[at % len(TEXTS)], minute])
    return path


def write_wide(path: Path, n_items: int = 60) -> Path:
    names, truth, given = drawn(n_items)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "size", "kind", *RATERS])
        for at, name in enumerate(names):
            size, kind = f"{truth[at] + 0.01 * (at % 7):.2f}", "" if at == 5 else ("odd" if at % 2 else "even")
            writer.writerow([name, size, kind, *(grade or "" for grade in given[at])])
    return path


def export_of(n_items: int = 60, kind: str = "choices") -> list[dict[str, Any]]:
    """Tasks as Label Studio exports them; with the words low < fair < good < best, or stars."""
    words = ("low", "fair", "good", "best")
    _, _, given = drawn(n_items)
    tasks = []
    for at in range(n_items):
        annotations = []
        for who, grade in enumerate(given[at].tolist()):
            if not grade:
                continue
            value = [words[grade - 1]] if kind == "choices" else grade
            result = {
                "id": f"r{at}-{who}",
                "from_name": "quality",
                "to_name": "text",
                "type": kind,
                "value": {kind: value},
            }
            by = who + 1 if who < 3 else {"id": 4, "email": "dee@example.org", "first_name": "", "last_name": ""}
            entry = {"id": 100 * at + who, "completed_by": by, "was_cancelled": False, "ground_truth": False}
            annotations.append(entry | {"result": [result], "lead_time": 3.5, "task": at + 7})
        annotations.append({"id": 100 * at + 50, "completed_by": 1, "was_cancelled": True, "result": []})
        tasks.append(
            {"id": at + 7, "data": {"text": TEXTS[at % 4], "n": at}, "annotations": annotations, "predictions": []}
        )
    return tasks


def write_export(path: Path, n_items: int = 60, kind: str = "choices") -> Path:
    path.write_text(json.dumps(export_of(n_items, kind)))
    return path
