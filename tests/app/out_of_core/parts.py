"""A small table in several Parquet files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from ordinoise import corrupt
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.verbs.request import Request
from ordinoise.noise import inverse_decay

NOISE = inverse_decay(4, 0.12)
N_ROWS = 1200


def table(n_rows: int = N_ROWS) -> tuple[pl.DataFrame, np.ndarray]:
    """Numbers, a category and missing cells, with noisy grades; and the true grades."""
    rng = np.random.default_rng(0)
    numbers, kinds = rng.normal(size=(n_rows, 3)), rng.integers(4, size=n_rows)
    score = 2 * numbers[:, 0] + numbers[:, 1] + 0.7 * kinds - 1
    true = np.digitize(score, np.quantile(score, [0.2, 0.5, 0.8]))
    frame = pl.DataFrame({f"x{at}": numbers[:, at] for at in range(3)}).with_columns(
        pl.Series("kind", [f"kind {one}" for one in kinds]),
        pl.Series("grade", corrupt(true, NOISE, random_state=rng) + 1),
        pl.Series("owner", [f"owner {one}" for one in rng.integers(200, size=n_rows)]),
    )
    gaps = pl.Series(rng.random(n_rows) < 0.1)
    return frame.with_columns(pl.when(~gaps).then(pl.col("x1")).alias("x1")), true


def with_notes(frame: pl.DataFrame, true: np.ndarray) -> pl.DataFrame:
    """The table with free text whose words go with the true grade."""
    rng = np.random.default_rng(1)
    telling = [["awful", "broken", "refund"], ["poor", "slow", "late"], ["fine", "useful"], ["superb", "lovely"]]
    plain = [f"word{number}" for number in range(60)]
    notes = []
    for grade in true:
        said = [rng.choice(telling[grade if rng.random() < 0.8 else rng.integers(4)]) for _ in range(3)]
        notes.append(" ".join(rng.permutation([*said, *rng.choice(plain, 6)])))
    return frame.with_columns(pl.Series("note", notes))


def written(folder: Path, frame: pl.DataFrame, n_files: int) -> Path:
    folder.mkdir()
    for at, rows in enumerate(np.array_split(np.arange(frame.height), n_files)):
        frame[rows].write_parquet(folder / f"part-{at:02}.parquet")
    return folder


def request_for(data: Path, **options: object) -> Request:
    return Request(data, **{"target": "grade", "ignore": ("owner",), "jobs": 1, **options})  # type: ignore[arg-type]


def plain(record: AuditRecord) -> str:
    """Everything in a record that does not name the files."""
    return json.dumps({**record.to_dict(), "source": "", "digest": ""}, sort_keys=True)
