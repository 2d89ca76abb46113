"""An audit of several Parquet files: the same whatever the files and the workers, and close to that of one table."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from app.out_of_core.parts import N_ROWS, NOISE, plain, request_for, table, written
from ordinoise.app.out_of_core import plan, survey
from ordinoise.app.out_of_core.learning import Course, survey_of, work_on
from ordinoise.app.out_of_core.plan import scores_at
from ordinoise.app.out_of_core.tasks import probabilities_of, read_models, score_file, write_cells
from ordinoise.app.out_of_core.verbs import LABELS, audit_parts, estimate_parts
from ordinoise.app.records.audit import read_record
from ordinoise.app.verbs.model import predict_file
from ordinoise.app.verbs.request import PredictionRequest, Request
from ordinoise.estimation.score.cells import ScoreCells


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Audits of the same rows in one file and in eight."""
    folder, frame = tmp_path_factory.mktemp("audits"), table()[0]
    for n_files in (1, 8):
        data = written(folder / f"data{n_files}", frame, n_files)
        audit_parts(request_for(data), folder / f"audit{n_files}", n_suspects=30)
    return {n_files: folder / f"audit{n_files}" for n_files in (1, 8)}


@pytest.mark.slow
def test_eight_files_give_the_audit_of_one_to_the_last_bit(audits: dict[int, Path]) -> None:
    one, eight = (read_record(audits[n_files]) for n_files in (1, 8))
    assert plain(one) == plain(eight)
    assert pl.read_parquet(audits[1] / LABELS).equals(pl.read_parquet(audits[8] / LABELS))


@pytest.mark.slow
def test_the_audit_finds_the_noise_and_the_wrong_grades(audits: dict[int, Path]) -> None:
    frame, true = table()
    wrong = frame["grade"].to_numpy() != true + 1
    record, labels = read_record(audits[8]), pl.read_parquet(audits[8] / LABELS)
    assert (record.n_rows, record.n_graded) == (N_ROWS, N_ROWS)
    assert np.array_equal(labels["row"].to_numpy(), np.arange(N_ROWS))
    assert np.array_equal(labels["recorded"].to_numpy(), frame["grade"].cast(pl.String).to_numpy())
    first = labels.sort("suspicion", descending=True)["row"].to_numpy()[: wrong.sum() // 2]
    assert wrong[first].mean() > 0.8
    assert np.abs(record.noise.matrix - NOISE).max() < 0.1
    assert record.suspects[0].cells[3] == frame["kind"][record.suspects[0].row]


def test_the_page_says_which_steps_are_for_one_file_and_these_refuse_a_table_in_parts(audits: dict[int, Path]) -> None:
    page = (audits[8] / "report.html").read_text()
    assert "are for one file that is read at once" in page
    assert "--reviewed " not in page
    found = run("next", audits[8], "--spot-check")
    assert found.code == 2
    assert found.err.startswith("folder must be of one file that is read at once, got a table in parts, ")


def test_the_folder_holds_what_that_of_one_file_holds(audits: dict[int, Path]) -> None:
    names = {entry.name for entry in audits[8].iterdir()}
    assert names == {"audit.json", "report.html", "suspects.csv", LABELS}
    left = [entry.name for entry in audits[8].parent.iterdir() if entry.name.startswith(".")]
    assert left == []


def test_the_table_of_scores_and_grades_is_that_of_the_whole_table(tmp_path: Path) -> None:
    data = written(tmp_path / "data", table()[0], 5)
    with work_on(request_for(data), tmp_path / "out", lambda _: None) as work:
        course = Course(*survey_of(request_for(data), work, lambda _: None), work)
        course.fitted("trusting")
        whole = course.rows.probabilities(read_models(work.folder, "trusting"))
        cells = ScoreCells.from_sample(whole)
        write_cells(work.folder, cells)
        evidence, counts = course.scored("trusting")
        ranks = course.rows.labelled.ranks
        assert np.array_equal(counts, cells.counts(whole, ranks))
        written_scores = scores_at(course.known.plan, work.folder, np.arange(N_ROWS), partial(score_file, "trusting"))
        models = read_models(work.folder, "trusting")
        assert np.array_equal(probabilities_of(models, written_scores, course.rows.labelled.folds), whole)
        shares = np.bincount(ranks) / len(ranks)
        gains = np.log(whole[np.arange(len(ranks)), ranks]) - np.log(shares[ranks])
        assert evidence.sizes.sum() == len(ranks)
        assert evidence.likelier.sum() == pytest.approx(gains.sum(), abs=1e-6 * len(ranks))


def test_rows_of_a_group_are_in_one_fold(tmp_path: Path) -> None:
    data = written(tmp_path / "data", table()[0], 3)
    request = Request(data, target="grade", group="owner", jobs=1)
    with work_on(request, tmp_path / "out", lambda _: None) as work:
        known, rows = survey_of(request, work, lambda _: None)
        owners = rows.table.frame["owner"].to_numpy()
        folds = {owner: set(rows.labelled.folds[owners == owner]) for owner in np.unique(owners)}
    assert all(len(found) == 1 for found in folds.values())
    assert [column.role for column in known.plan.findings] == ["feature"] * 4 + ["target", "id"]


@pytest.mark.slow
def test_a_model_of_parts_is_an_ordinary_one(tmp_path: Path) -> None:
    frame = table(800)[0].with_row_index("at")
    frame = frame.with_columns(pl.when(pl.col("at") % 100 != 0).then(pl.col("grade")).alias("grade")).drop("at")
    data = written(tmp_path / "data", frame, 2)
    fitted = run("fit", data, "--target", "grade", "--ignore", "owner", "--out", tmp_path / "model", "--json")
    assert (fitted.code, fitted.json["n_rows"], fitted.json["n_graded"]) == (0, 800, 792)
    graded = run("predict", tmp_path / "model", data, "--out", tmp_path / "graded", "--json")
    assert graded.code == 0, graded.err
    every, one = (
        pl.read_parquet(tmp_path / "graded"),
        predict_file(PredictionRequest(tmp_path / "model", data / "part-01.parquet")),
    )
    assert graded.json["n_rows"] == every.height == 800
    assert every.tail(one.height).equals(one)


@pytest.mark.slow
def test_rows_without_a_grade_get_a_suggestion(tmp_path: Path) -> None:
    frame = table(600)[0].with_columns(
        pl.when(pl.int_range(600) % 50 != 0).then(pl.col("grade")).alias("grade"), pl.int_range(600).alias("number")
    )
    out = tmp_path / "out"
    _, record = audit_parts(request_for(written(tmp_path / "data", frame, 2)), out, n_suspects=3)
    labels = pl.read_parquet(out / LABELS)
    ungraded = labels.filter(pl.col("recorded").is_null())
    assert ungraded["row"].to_list() == list(range(0, 600, 50))
    assert set(ungraded["suggested"]) <= {"1", "2", "3", "4"}
    assert ungraded["suspicion"].null_count() == 12
    notes = {column.name: column.note for column in record.columns}
    assert notes["number"] == "it counts the rows"


@pytest.mark.slow
def test_larger_tables_learn_from_rows_that_do_not_depend_on_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (plan, survey):
        monkeypatch.setattr(module, "SAMPLE_ROWS", 400)
        monkeypatch.setattr(module, "DRAWN_ROWS", 700)
    frame = table(1400)[0]
    found = [estimate_parts(request_for(written(tmp_path / f"data{n}", frame, n))) for n in (1, 5)]
    assert found[0][1].to_dict() == found[1][1].to_dict()
    assert [(len(one.rows), one.n_graded) for one, _ in found] == [(len(found[0][0].rows), 1400)] * 2
    assert abs(len(found[0][0].rows) - 400) < 4 * np.sqrt(400)


@pytest.mark.parametrize("when", ["learning", "judging"])
def test_a_part_that_is_replaced_meanwhile_is_one_sentence_and_nothing_is_written(tmp_path: Path, when: str) -> None:
    data = written(tmp_path / "parts", table()[0], 2)
    request = request_for(data, noise="none")
    last = sorted(data.iterdir())[-1]

    def replace_one(words: str) -> None:
        if words.startswith(when):
            changed = pl.read_parquet(last).with_columns(grade=pl.lit(1))
            changed.write_parquet(tmp_path / "new")
            os.utime(tmp_path / "new", ns=(last.stat().st_atime_ns, last.stat().st_mtime_ns))
            (tmp_path / "new").replace(last)

    with pytest.raises(ValueError, match=r"^file must not change while it is read, got .*; nothing was written: run"):
        audit_parts(request, tmp_path / "out", on_stage=replace_one)
    assert {path.name for path in tmp_path.iterdir()} == {"parts"}


def test_a_folder_is_graded_as_its_files_are(tmp_path: Path) -> None:
    frame = table(90)[0].select("x0", "grade")
    data = written(tmp_path / "data", frame, 2)
    first = data / "part-00.parquet"
    run("fit", first, "--target", "grade", "--learner", "mlp", "--noise", "none", "--out", tmp_path / "model")
    graded = run("predict", tmp_path / "model", data, "--confidence", "0.8", "--out", tmp_path / "graded", "--json")
    assert graded.code == 0, graded.err
    one = run("predict", tmp_path / "model", first, "--confidence", "0.8", "--out", tmp_path / "one.parquet", "--json")
    assert one.code == 0, one.err
    every = pl.read_parquet(tmp_path / "graded")
    assert (graded.json["n_rows"], every.height) == (90, 90)
    assert every.head(45).equals(pl.read_parquet(tmp_path / "one.parquet"))
