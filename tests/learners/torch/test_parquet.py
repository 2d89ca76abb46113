import json
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="the stream is a PyTorch dataset")
torch.set_num_threads(1)
ot: Any = pytest.importorskip("ordinoise.learners.torch")
from ordinoise.learners.torch.parquet import StreamBatches, summary  # noqa: E402
from ordinoise.learners.torch.samples import SampleReader  # noqa: E402
from ordinoise.learners.torch.team import Team  # noqa: E402

SIZES = [30, 7, 1, 44, 18]  # rows of the row groups
READ = SampleReader(np.array([0, 1, 2]))


@pytest.fixture
def stream(tmp_path: Path) -> Any:
    """Rows that know their number, in row groups of uneven size."""
    numbers = np.arange(sum(SIZES))
    table = pa.table({"row": numbers.astype(np.float64), "half": numbers / 2, "stars": numbers % 3, "w": numbers + 1.0})
    with pq.ParquetWriter(tmp_path / "all.parquet", table.schema) as writer:
        start = 0
        for size in SIZES:
            writer.write_table(table.slice(start, size))
            start += size
    return ot.ParquetStream(tmp_path, ["row", "half"], "stars", weight="w", buffer_rows=20)


def _rows(batches: Any) -> list[list[int]]:
    return [batch.inputs[:, 0].int().tolist() for batch in batches]


def test_walking_through_gives_every_sample_in_order(stream: Any) -> None:
    samples = list(stream)
    assert [float(x[0]) for x, *_ in samples] == list(range(100))
    assert all(x[1] == x[0] / 2 and label == x[0] % 3 and weight == x[0] + 1 for x, label, weight in samples)
    assert (stream.n_rows, stream.n_row_groups) == (100, 5)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_an_epoch_gives_every_row_once_to_one_process_in_batches_of_its_share(stream: Any, n_ranks: int) -> None:
    batches = StreamBatches(stream, READ, batch_size=9, seed=1)
    shares = [_rows(batches.epoch(0, rank, n_ranks)) for rank in range(n_ranks)]
    assert sorted(chain(*chain(*shares))) == list(range(100))
    for share in shares:
        assert {len(rows) for rows in share[:-1]} <= {9 // n_ranks, -(-9 // n_ranks)}


def test_every_epoch_has_an_order_of_its_own_that_can_be_had_again_from_anywhere(stream: Any) -> None:
    batches = StreamBatches(stream, READ, batch_size=8, seed=1)
    first, again, other = (_rows(batches.epoch(number, 0, 1)) for number in (0, 0, 1))
    assert first == again != other
    assert list(chain(*first)) != sorted(chain(*first))
    assert _rows(batches.epoch(0, 0, 1, start=5)) == first[5:]
    in_order = StreamBatches(stream, READ, batch_size=8, shuffle=False)
    assert list(chain(*_rows(in_order.epoch(3, 0, 1)))) == list(range(100))


def test_a_buffer_mixes_the_rows_of_several_row_groups(stream: Any) -> None:
    stream.buffer_rows = 1000
    (rows,) = _rows(StreamBatches(stream, READ, batch_size=100, seed=1).epoch(0, 0, 1))
    in_first_half = np.array(rows[:50]) < 50
    assert 15 < in_first_half.sum() < 35


def test_the_parts_of_a_split_have_no_row_in_common(stream: Any) -> None:
    rest, part = stream.split(0.4, seed=0)
    numbers = [[float(x[0]) for x, *_ in piece] for piece in (rest, part)]
    assert sorted(chain(*numbers)) == list(range(100))
    assert part.n_row_groups == 2
    assert stream.n_row_groups == 5


def test_the_summary_is_that_of_the_whole_table(stream: Any) -> None:
    found = summary(stream, READ, 3, Team(0, 1, torch.device("cpu")))
    numbers = np.arange(100.0)
    np.testing.assert_allclose(found.center, [numbers.mean(), numbers.mean() / 2])
    np.testing.assert_allclose(found.scale, [numbers.std(), numbers.std() / 2])
    np.testing.assert_allclose(found.class_counts, np.bincount(np.arange(100) % 3, weights=numbers + 1))


def test_raters_come_after_a_weight_of_one(tmp_path: Path) -> None:
    table = {"x": [0.5, 1.5], "stars": ["low", "top"], "who": ["bob", "ann"]}
    pq.write_table(pa.table(table), tmp_path / "rated.parquet")
    (columns,) = ot.ParquetStream(tmp_path, ["x"], "stars", rater="who").tables()
    batch = SampleReader(np.array(["low", "top"]), raters=np.array(["ann", "bob"]))(columns)
    assert batch.inputs.tolist() == [[0.5], [1.5]]
    assert batch.weights.tolist() == [1.0, 1.0]
    assert batch.labels.tolist() == [0, 1]
    assert batch.raters is not None
    assert batch.raters.tolist() == [1, 0]


def test_bad_folders_and_columns_get_one_sentence(stream: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"columns must be among \['row', 'half', 'stars', 'w'\], got 'age'"):
        ot.ParquetStream(tmp_path, ["age"], "stars")
    with pytest.raises(ValueError, match=r"folder must hold Parquet files, got FileNotFoundError"):
        ot.ParquetStream(tmp_path / "absent", ["row"], "stars")
    pq.write_table(pa.table({"row": [1.0, None], "stars": [0, 1]}), tmp_path / "gaps.parquet")
    with pytest.raises(ValueError, match=r"X must be finite, got a missing or infinite number in"):
        list(ot.ParquetStream(tmp_path / "gaps.parquet", ["row"], "stars"))
    with pytest.raises(ValueError, match=r"the stream must have at least 2 row groups to be split, got 1"):
        ot.ParquetStream(tmp_path / "gaps.parquet", ["row"], "stars").split(0.5, 0)


@pytest.mark.slow
def test_a_folder_four_times_the_allowed_memory_is_learnt_from(tmp_path: Path) -> None:
    allowed, n_features, n_files, n_rows = 64, 50, 14, 100_000
    for name, files, rows in (("small", 1, 30_000), ("large", n_files, n_rows)):
        (tmp_path / name).mkdir()
        rng = np.random.default_rng(0)
        for number in range(files):
            features = rng.normal(size=(rows, n_features)).astype(np.float32)
            columns = {f"x{place}": features[:, place] for place in range(n_features)}
            columns["stars"] = np.digitize(features[:, 0] + features[:, 1], [-1, 0, 1])
            pq.write_table(pa.table(columns), tmp_path / name / f"{number}.parquet", row_group_size=10_000)
    assert n_files * n_rows * n_features * 4 > 4 * allowed * 2**20
    # Arrow's own allocator reserves a gigabyte at the start, which would count as allowed.
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"}
    script = Path(__file__).parent / "run_limited.py"
    result = subprocess.run(
        [sys.executable, str(script), str(tmp_path), str(allowed)], env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["refused"], "the whole table fitted into the memory that was left: the limit did not hold"
    n_learned = n_files * n_rows * 9 // 10  # a tenth of the row groups tells when to stop
    assert found["n_updates"] == -(-n_learned // 2048)
    assert found["took"] < allowed
    assert found["loss"] < 0.8
