"""The number of wrong grades from an audit to the gate: a range, a smaller one after suspects, a number after a sample."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from app.cli.conftest import settle
from app.cli.graded import GRADES, RECORDED, TRUE, write_graded
from ordinoise.app.records.audit import read_record
from ordinoise.app.records.plan import read_plans
from ordinoise.app.review.decisions import open_decisions
from ordinoise.app.review.desk import ReviewDesk

pytestmark = pytest.mark.usefixtures("few_models")
IS_WRONG = TRUE != RECORDED


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, few_models: None) -> Path:
    home = tmp_path_factory.mktemp("counted")
    words = ("--target", "quality", "--order", ",".join(GRADES), "--learner", "mlp", "--jobs", "1")
    done = run("audit", write_graded(home / "table.csv"), *words, "--out", home / "audit")
    assert done.code == 0, done.err
    return home


def gate(folder: Path, most: float) -> tuple[int, str]:
    words = ("--target", "quality", "--order", ",".join(GRADES), "--reviewed", folder / "audit")
    done = run("check", folder / "table.csv", *words, "--max-wrong", str(most))
    return done.code, done.out


def test_a_number_is_told_only_when_a_random_sample_is_whole(folder: Path) -> None:
    record, labels = read_record(folder / "audit"), pl.read_csv(folder / "audit" / "labels.csv", separator=";")
    assert (record.stage, record.wrong) == ("nothing", None)
    assert not {"probability_wrong", "expected_distance"} & {*labels.columns}
    assert record.wrong_low is not None
    assert record.wrong_high is not None
    assert record.wrong_low <= IS_WRONG.sum() <= record.wrong_high
    settle(folder / "audit", record, 5)
    code, words = gate(folder, 0.001)
    assert (code, "range that columns and verified rows allow" in words) == (3, True)
    assert run("next", folder / "audit", "--spot-check", "--budget", "60").code == 0
    (plan,) = read_plans(folder / "audit", record)
    assert (plan.drawn, plan.sizes) == ("random", (235,))
    desk = ReviewDesk(folder / "audit")
    with open_decisions(folder / "audit", record) as store:
        for one in plan.rows[:-1]:
            store.decide("Ada", one.row, GRADES[TRUE[one.row]])
        assert desk.changes(0)["certificates"][0] == "Spot check: 59 of 60 rows are settled; all of them give a number."
        assert "drawn at random" not in gate(folder, 0.001)[1].split(";")[0]
        store.decide("Ada", plan.rows[-1].row, GRADES[TRUE[plan.rows[-1].row]])
    (words, *_) = desk.changes(0)["certificates"]
    desk.close()
    assert "95% interval" in words
    settled = {one.row for one in plan.rows} | {one.row for one in record.suspects[:5]}
    left = int(IS_WRONG[np.setdiff1d(np.arange(240), list(settled))].sum())
    code, said = gate(folder, 0.5)
    assert (code, "by rows that were drawn at random" in said) == (0, True)
    assert gate(folder, 0.0)[0] in (1, 3)
    again = run(
        "audit", folder / "table.csv", "--target", "quality", "--order", ",".join(GRADES), "--learner", "mlp",
        "--jobs", "1", "--reviewed", folder / "audit", "--out", folder / "again",
    )  # fmt: skip
    assert again.code == 0, again.err
    second, labels = read_record(folder / "again"), pl.read_csv(folder / "again" / "labels.csv", separator=";")
    assert second.stage == "random"
    assert second.wrong is not None
    assert second.wrong_low is not None
    assert second.wrong_high is not None
    assert second.wrong_low <= left <= second.wrong_high
    rest = labels.filter(pl.col("settled").is_null())
    assert rest["probability_wrong"].sum() == pytest.approx(second.wrong, abs=1e-3)
