"""Free text in several Parquet files: the same whatever the files, scored by models that did not see the row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from app.out_of_core.parts import N_ROWS, plain, request_for, table, with_notes, written
from ordinoise.app.out_of_core import plan, survey, texts
from ordinoise.app.out_of_core.learning import Course, survey_of, work_on
from ordinoise.app.out_of_core.plan import N_FOLDS
from ordinoise.app.out_of_core.verbs import LABELS, audit_parts
from ordinoise.app.records.audit import read_record
from ordinoise.app.verbs.model import predict_file
from ordinoise.app.verbs.request import PredictionRequest


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Audits of the same rows in one file and in eight; some rows have no text, some no grade."""
    folder, frame = tmp_path_factory.mktemp("audits"), with_notes(*table()).drop("x0")
    at = pl.int_range(N_ROWS)
    frame = frame.with_columns(
        pl.when(at % 40 != 7).then(pl.col("note")).alias("note"),
        pl.when(at % 50 != 0).then(pl.col("grade")).alias("grade"),
    )
    for n_files in (1, 8):
        data = written(folder / f"data{n_files}", frame, n_files)
        audit_parts(request_for(data), folder / f"audit{n_files}", n_suspects=30)
    return {n_files: folder / f"audit{n_files}" for n_files in (1, 8)}


@pytest.mark.slow
def test_text_in_eight_files_gives_the_audit_of_one_to_the_last_bit(audits: dict[int, Path]) -> None:
    one, eight = (read_record(audits[n_files]) for n_files in (1, 8))
    assert plain(one) == plain(eight)
    assert pl.read_parquet(audits[1] / LABELS).equals(pl.read_parquet(audits[8] / LABELS))
    notes = {column.name: column.note for column in one.columns}
    assert notes["note"] == "free text, read by its words"
    assert any(suspect.words for suspect in one.suspects)


@pytest.mark.slow
def test_text_alone_finds_wrong_grades(tmp_path: Path) -> None:
    frame, true = table()
    wrong = frame["grade"].to_numpy() != true + 1
    data = written(tmp_path / "data", with_notes(frame, true).select("note", "grade"), 3)
    audit_parts(request_for(data, ignore=()), tmp_path / "out", n_suspects=5)
    labels = pl.read_parquet(tmp_path / "out" / LABELS)
    first = labels.sort("suspicion", descending=True)["row"].to_numpy()[: wrong.sum() // 3]
    assert wrong[first].mean() > 0.75


def _scores_and_grades(frame: pl.DataFrame, folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The scores of the text for the model of each fold, the recorded ranks, and the folds."""
    request = request_for(written(folder / "data", frame, 3), ignore=())
    with work_on(request, folder / "out", lambda _: None) as work:
        _, rows = survey_of(request, work, lambda _: None)
        return rows.features.scores, rows.labelled.ranks, rows.labelled.folds


@pytest.mark.slow
def test_a_text_that_names_its_row_says_nothing_about_its_grade(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    names = [f"this is the one row called r{number}q and no other" for number in range(N_ROWS)]
    frame = pl.DataFrame({"note": names, "x": rng.normal(size=N_ROWS), "grade": rng.integers(1, 5, size=N_ROWS)})
    scores, ranks, folds = _scores_and_grades(frame, tmp_path)
    for fold in range(N_FOLDS):
        for some in (folds == fold, folds != fold):
            found = np.corrcoef(scores[some, fold], ranks[some])[0, 1]
            assert abs(found) < 4 / np.sqrt(some.sum())


@pytest.mark.slow
def test_the_score_of_text_goes_with_the_grade(tmp_path: Path) -> None:
    scores, ranks, _ = _scores_and_grades(with_notes(*table()).select("note", "grade"), tmp_path)
    assert all(np.corrcoef(scores[:, fold], ranks)[0, 1] > 0.5 for fold in range(N_FOLDS))


@pytest.mark.slow
def test_rows_that_text_is_learned_from_do_not_depend_on_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (plan, survey, texts):
        monkeypatch.setattr(module, "SAMPLE_ROWS", 500)
        monkeypatch.setattr(module, "DRAWN_ROWS", 800, raising=False)
    monkeypatch.setattr(texts, "MOST_CHARACTERS", 20_000)
    frame = with_notes(*table()).select("note", "grade")
    found = [_learned(frame, n_files, tmp_path / str(n_files)) for n_files in (1, 5)]
    assert found[0][0] == found[1][0]
    assert 150 < found[0][0] < 450
    assert np.array_equal(found[0][1], found[1][1])


def _learned(frame: pl.DataFrame, n_files: int, folder: Path) -> tuple[int, np.ndarray]:
    """How many rows the readers of text learned from, and the scores of the sample."""
    folder.mkdir()
    request = request_for(written(folder / "data", frame, n_files), ignore=())
    with work_on(request, folder / "out", lambda _: None) as work:
        _, rows = survey_of(request, work, lambda _: None)
        return texts.read_sample_texts(work.folder).height, rows.features.scores


@pytest.mark.slow
def test_a_stopped_run_does_not_read_the_text_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_for(written(tmp_path / "data", with_notes(*table(400)).select("note", "grade"), 2), ignore=())
    place = tmp_path / "out"

    def stop(words: str) -> None:
        if words.startswith("learning 4 models"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), work_on(request, place, stop) as work:
        Course(*survey_of(request, work, lambda _: None), work).noise()
    for task in (texts.CountTask, texts.ReaderTask, texts.TextTask):
        monkeypatch.setattr(task, "run", None)
    with work_on(request, place, lambda _: None) as work:
        assert Course(*survey_of(request, work, lambda _: None), work).noise().is_estimated


@pytest.mark.slow
def test_a_model_of_text_in_parts_is_an_ordinary_one(tmp_path: Path) -> None:
    frame, true = table(800)
    data = written(tmp_path / "data", with_notes(frame, true).drop("x0", "owner"), 2)
    fitted = run("fit", data, "--target", "grade", "--out", tmp_path / "model", "--json")
    assert fitted.code == 0, fitted.err
    graded = run("predict", tmp_path / "model", data, "--out", tmp_path / "graded", "--json")
    assert graded.code == 0, graded.err
    every, one = (
        pl.read_parquet(tmp_path / "graded"),
        predict_file(PredictionRequest(tmp_path / "model", data / "part-01.parquet")),
    )
    assert every.tail(one.height).equals(one)
    assert np.abs(every["predicted_grade"].to_numpy() - 1 - true).mean() < 0.6
