"""What the product answered on small data, and folders that it wrote, once: a change of its inside changes none of it.

``python -m tools.golden`` says how the numbers were made, and compares every byte on one machine. The folders in ``kept``
were written by version 0.2.0; they are never written again.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy
from numba.core import config
from numba.core.codegen import get_host_cpu_features

from ordinoise.app.records.audit import read_record
from ordinoise.app.records.history import Settled
from ordinoise.app.records.plan import read_plans
from ordinoise.app.review import open_decisions
from ordinoise.app.rounds.history import history_for
from ordinoise.app.verbs.model import predict_file
from ordinoise.app.verbs.request import PredictionRequest, Request
from tools import golden

HERE = Path(__file__).parent
TOLERANCE, FAR = 1e-5, 0.05
"""Linear models of text stop within 3e-7 of one another on processors that round differently; networks that stop by
their held-out rows can stop at another epoch without the instructions of this processor, which moved probabilities by up
to 0.02."""


def _rounds_alike() -> bool:
    """Whether compiled code has the instructions that count: with AVX2 and AVX-512 numbers differ by 3e-7 at most.

    With the oldest compilers and optimizers that are supported, a learner can stop at another step as well.
    """
    features = get_host_cpu_features()
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15):
        return False
    return getattr(config, "CPU_NAME", None) != "generic" and "+avx2" in features and "+fma" in features


@pytest.mark.parametrize("case", golden.CASES)
def test_the_answers_are_those_of_before(case: str) -> None:
    expected = json.loads((HERE / "numbers.json").read_text())[case]
    found = json.loads(json.dumps(golden.numbers(case), default=str))
    if _rounds_alike():
        _assert_close(expected, found)
    else:  # the order of suspects may be another one
        for name in expected:
            if name.endswith(("predict_proba", "matrix", "posterior")):
                np.testing.assert_allclose(found[name], expected[name], atol=FAR)


def _assert_close(expected: Any, found: Any, place: str = "") -> None:
    """Numbers within the tolerance, everything else equal."""
    if isinstance(expected, dict):
        assert list(expected) == list(found), place
        for name in expected:
            _assert_close(expected[name], found[name], f"{place} {name}")
    elif isinstance(expected, list):
        assert len(expected) == len(found), place
        for at, pair in enumerate(zip(expected, found, strict=True)):
            _assert_close(*pair, f"{place}[{at}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=TOLERANCE), place
    else:
        assert expected == found, place


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return Path(shutil.copytree(HERE / "kept", tmp_path / "kept"))


def test_a_kept_model_predicts_what_it_predicted(kept: Path) -> None:
    found = predict_file(PredictionRequest(kept / "model", kept / "table.csv", confidence=0.8), as_stored=False)
    expected = pl.read_csv(kept / "predictions.csv")
    np.testing.assert_allclose(
        found.select(expected.columns).head(expected.height).to_numpy(), expected.to_numpy(), atol=TOLERANCE
    )


def test_a_kept_audit_opens_with_its_review(kept: Path) -> None:
    record = read_record(kept / "audit")
    stored = json.loads((kept / "audit" / "audit.json").read_text())
    assert [one.row for one in record.suspects] == [one["row"] for one in stored["suspects"]]
    assert record.noise.matrix.tolist() == stored["noise"]["matrix"]
    assert [plan.is_spot_check for plan in read_plans(kept / "audit", record)] == [True]
    with open_decisions(kept / "audit", record) as store:
        assert len(store.history()) == 3
    history = history_for(kept / "audit", Request(kept / "table.csv", target="grade"))
    expected = {one.row: Settled(one.row, one.recorded, one.suggested, "Ann") for one in record.suspects[:2]}
    assert {one.row: one for one in history.settled} == expected
