"""Rounds of audit and review: settled grades are known, counted and never suspected again."""

import csv
import shutil
from pathlib import Path

import pytest

from app.cli.command import run
from app.cli.conftest import request_for, settle
from app.cli.graded import GRADES, TRUE, write_graded
from ordinoise.app.records.audit import read_record
from ordinoise.app.review.desk import ReviewDesk
from ordinoise.app.rounds.history import history_for


@pytest.fixture
def folder(rounds: Path, tmp_path: Path) -> Path:
    """A copy of two rounds that a test may change."""
    return Path(shutil.copytree(rounds, tmp_path / "rounds"))


def test_the_next_audit_knows_what_was_fixed_and_counts_the_others(folder: Path) -> None:
    first, second = read_record(folder / "one"), read_record(folder / "two")
    settled = {suspect.row: suspect for suspect in first.suspects[:12]}
    assert {one.row for one in second.settled} == set(settled)
    assert {one.reviewer for one in second.settled} == {"Ada"}
    n_fixed = sum(GRADES[TRUE[row]] != suspect.recorded for row, suspect in settled.items())
    assert (second.n_fixed, second.n_left) == (n_fixed, first.n_graded - 12)
    assert second.rounds == (first.as_round,)
    assert second.wrong is not None
    assert first.wrong is not None
    assert second.wrong < first.wrong
    assert not {suspect.row for suspect in second.suspects} & set(settled)


def test_settled_rows_are_marked_in_the_labels_and_ranked_last(folder: Path) -> None:
    second = read_record(folder / "two")
    settled = {one.row: one for one in second.settled}
    with (folder / "two" / "labels.csv").open() as file:
        labels = {int(line["row"]): line for line in csv.DictReader(file, delimiter=";")}
    for row, line in labels.items():
        known = settled.get(row)
        assert line["settled"] == ("" if known is None else "fixed" if known.is_fixed else "confirmed")
        assert (int(line["rank"]) > second.n_left) == (known is not None)
        if known is not None:
            assert (line["suggested"], float(line["probability_wrong"])) == (known.grade, float(known.is_fixed))


def test_the_report_shows_the_progress(folder: Path) -> None:
    first, second = ((folder / name / "report.html").read_text() for name in ("one", "two"))
    assert "of the remaining 228 grades" in second
    assert "of the remaining 2" not in first
    assert 'id="progress"' in second
    assert 'id="progress"' not in first


def test_similar_rows_that_are_settled_have_the_grade_of_the_review_and_say_so(folder: Path) -> None:
    second = read_record(folder / "two")
    settled = {one.row: one for one in second.settled}
    near = [one for suspect in second.suspects for one in suspect.similar]
    assert {one.row: one.settled for one in near} == {
        one.row: settled[one.row].grade if one.row in settled else None for one in near
    }
    known = next(one for one in near if one.settled is not None and one.settled != one.recorded)
    assert f"{known.line}: <bdi>{known.settled}</bdi> (settled)" in (folder / "two" / "report.html").read_text()
    assert f"{known.row} ({known.settled}, settled)" in (folder / "two" / "suspects.csv").read_text()


def test_the_command_for_the_next_audit_has_the_options_of_this_one(folder: Path) -> None:
    request = request_for(folder / "table.csv")
    again = " ".join(request.words())
    assert again.startswith(f"--order {','.join(GRADES)} --learner mlp --noise ")
    said = (folder / "one" / "report.html").read_text()
    assert f"--target quality --order {','.join(GRADES)} --learner mlp --noise " in said


def test_a_third_round_and_the_corrected_file_have_the_grades_of_both(folder: Path) -> None:
    second = read_record(folder / "two")
    settle(folder / "two", second, 3)
    found = history_for(folder / "two", request_for(folder / "table.csv"))
    rows = [one.row for one in found.settled]
    assert rows == sorted([one.row for one in second.settled] + [one.row for one in second.suspects[:3]])
    assert len(found.rounds) == 2
    desk = ReviewDesk(folder / "two")
    written = Path(desk.export({})["path"])
    desk.close()
    with written.open() as file:
        lines = list(csv.DictReader(file, delimiter=";"))
    assert {row: lines[row]["quality"] for row in rows} == {row: GRADES[TRUE[row]] for row in rows}


def test_a_folder_without_settled_grades_and_a_corrected_file_are_refused(folder: Path, tmp_path: Path) -> None:
    table = write_graded(tmp_path / "table.reviewed.csv")
    words = ("--target", "quality", "--order", ",".join(GRADES))
    table.write_text(table.read_text().replace("red", "rose"))
    changed = run("noise", table, *words, "--reviewed", folder / "one")
    assert changed.code == 2
    assert "audit table.csv again" in changed.err
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "audit.json").write_text((folder / "one" / "audit.json").read_text())
    none = run("fit", folder / "table.csv", *words, "--reviewed", bare, "--out", tmp_path / "model")
    assert none.code == 2
    assert "reviewed must be a folder with settled grades, got none" in none.err
    nowhere = run("noise", folder / "table.csv", *words, "--reviewed", tmp_path / "nowhere")
    assert nowhere.code == 2
    assert nowhere.err.startswith("reviewed must be a folder written by ordinoise audit or ordinoise raters, got ")


def test_the_terminal_says_how_many_settled_grades_were_used(folder: Path) -> None:
    words = ("--target", "quality", "--order", ",".join(GRADES), "--noise", folder / "noise.csv")
    found = run("noise", folder / "table.csv", *words, "--reviewed", folder / "one")
    assert found.code == 0, found.err
    assert "12 settled grades are used; what follows is about all grades as recorded." in found.out


@pytest.mark.slow
def test_planted_oddities_are_in_the_record_the_report_and_the_terminal(tmp_path: Path) -> None:
    table = write_graded(tmp_path / "table.csv")
    lines = table.read_text().splitlines()
    head, first, second = lines[0], lines[1].split(";"), lines[2].split(";")
    lines[2] = lines[1]
    lines[3] = ";".join(["90.5", "-80.25", *second[2:]])
    branch = ["north" if at % 3 or at == 0 else "<south>" for at in range(len(lines) - 1)]  # the copy has the same
    rows = [line.split(";") for line in lines[1:]]
    for at, row in enumerate(rows):
        if branch[at] == "<south>" and at % 2:
            row[-1] = GRADES[(GRADES.index(row[-1]) + 2) % 4]
    branch[1], rows[1][-1] = branch[0], GRADES[(GRADES.index(first[-1]) + 2) % 4]  # a copy with another grade
    table.write_text(
        "\n".join([f"{head};branch", *(";".join([*row, where]) for row, where in zip(rows, branch, strict=True))])
        + "\n"
    )
    words = ("--target", "quality", "--order", ",".join(GRADES), "--learner", "mlp", "--jobs", "1")
    request_for(table)
    done = run("audit", table, *words, "--noise", tmp_path / "noise.csv", "--out", tmp_path / "audit")
    assert done.code == 0, done.err
    record = read_record(tmp_path / "audit")
    kinds = {one.kind: one for one in record.oddities}
    assert set(kinds) == {"duplicates", "outliers", "groups"}
    assert set(kinds["duplicates"].rows) == {0, 1}
    assert kinds["outliers"].rows[0] == 2
    assert "branch is" in kinds["groups"].sentence
    page = (tmp_path / "audit" / "report.html").read_text()
    assert "What else deserves a look" in page
    assert "<south>" not in page
    assert done.out.count("Also:") == len(record.oddities)
