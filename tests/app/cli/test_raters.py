"""``ordinoise raters``: from files of ratings to a folder, in every form of input, and with every mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from app.cli.command import files_below, run
from app.ratings import RATERS, drawn, export_of, write_export, write_long, write_wide
from ordinoise import RepeatedLabels
from ordinoise.app.records.ratings import read_ratings_record
from ordinoise.estimation import IdentifiabilityWarning, from_wide

LONG = ("--item", "id", "--rater", "who", "--grade", "stars")
FILES = {"consensus.csv", "raters.csv", "items.csv", "report.html", "raters.json"}


N_ITEMS = 30
FORMS = {
    "long": ("long.csv", *LONG, "--label-studio", "--excel-safe"),
    "wide": ("wide.csv", "--item", "id", "--wide", ",".join(RATERS), "--excel-safe"),
    "export": ("export.json", "--order", "low,fair,good,best"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same ratings in three forms, and what was found in each; the words of the first are in long.txt."""
    folder = tmp_path_factory.mktemp("ratings")
    write_long(folder / "long.csv", N_ITEMS)
    write_wide(folder / "wide.csv", N_ITEMS)
    write_export(folder / "export.json", N_ITEMS)
    for form, (file, *words) in FORMS.items():
        done = run("raters", folder / file, *words, "--out", folder / form)
        assert done.code == 0, done.err
        (folder / f"{form}.txt").write_text(done.out)
    return folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _consensus(folder: Path) -> pl.DataFrame:
    return pl.read_csv(folder / "consensus.csv", infer_schema=False).with_columns(pl.all().fill_null(""))


def test_a_table_of_ratings_becomes_the_consensus_that_python_finds(made: Path) -> None:
    names, _, given = drawn(N_ITEMS)
    items, raters, labels = from_wide(given, missing=0)
    with pytest.warns(IdentifiabilityWarning, match="weakly identified"):
        model = RepeatedLabels(random_state=0, n_bootstrap=0).fit(items, np.array(RATERS)[raters], labels)
    assert {path.name for path in (made / "long").iterdir()} == FILES | {"label-studio.json"}
    found = _consensus(made / "long")
    assert found["item"].to_list() == names
    assert found["grade"].cast(pl.Int64).to_list() == model.consensus_.tolist()
    assert np.allclose(found["confidence"].cast(pl.Float64), model.confidence_, atol=1e-4)
    first = sorted(zip(RATERS, given[0], strict=True))
    assert found["given"].item(0).removeprefix("'") == ", ".join(f"{who}: {grade}" for who, grade in first if grade)
    assert found["lowest"].cast(pl.Int64).to_list() == [min(row[row > 0]) for row in given]
    assert found["highest"].cast(pl.Int64).to_list() == [max(row) for row in given]


def test_every_form_of_the_same_ratings_gives_the_same_consensus(made: Path) -> None:
    long, wide, export = (_consensus(made / form) for form in FORMS)
    assert_frame_equal(long, wide)
    words = dict(zip(("low", "fair", "good", "best"), "1234", strict=True))
    assert [words[grade] for grade in export["grade"]] == long["grade"].to_list()
    assert export["item"].to_list() == [str(at + 7) for at in range(N_ITEMS)]


def test_items_are_ordered_by_what_a_verified_grade_is_worth_and_carry_their_cells(made: Path) -> None:
    record = read_ratings_record(made / "long")
    assert [column.name for column in record.columns] == ["about"]  # "minute" differs between the grades of an item
    distance = [item.expected_distance for item in record.suspects]
    assert len(distance) == N_ITEMS
    assert distance == sorted(distance, reverse=True)
    table = pl.read_csv(made / "long" / "items.csv", infer_schema=False)
    assert table["item"].to_list() == [item.item for item in record.suspects]
    assert [cell.removeprefix("'") for cell in table["about"]] == [item.cells[0] for item in record.suspects]
    for item in record.suspects:
        posterior = np.array(item.posterior)
        rank = record.classes.index(item.recorded)
        assert np.isclose(posterior @ np.abs(np.arange(4) - rank), item.expected_distance)
        assert np.isclose(1 - posterior[rank], item.probability_wrong)


@pytest.mark.slow
def test_without_names_there_is_one_entry_for_all_raters_and_few_items_can_be_kept(folder: Path) -> None:
    write_wide(folder / "wide.csv", N_ITEMS)
    done = run("raters", "wide.csv", "--wide", ",".join(RATERS), "--unnamed", "--items", "5", "--json")
    assert done.code == 0, done.err
    assert (done.json["n_raters"], done.json["n_to_read_again"]) == (0, 5)
    assert [line["rater"] for line in done.json["raters"]] == ["all"]
    found = _consensus(folder / "raters")
    assert found["item"].to_list() == [str(row) for row in range(N_ITEMS)]
    assert found["given"].item(0) == ", ".join(str(grade) for grade in sorted(drawn(N_ITEMS)[2][0]) if grade)


@pytest.mark.slow
def test_features_from_a_table_help_and_verified_grades_settle_their_items(folder: Path) -> None:
    write_long(folder / "long.csv", N_ITEMS)
    write_wide(folder / "about.csv", N_ITEMS)
    names, truth, _ = drawn(N_ITEMS)
    pl.DataFrame({"id": names[:10], "stars": [5 - grade for grade in truth[:10]]}).write_csv("verified.csv")
    done = run("raters", "long.csv", *LONG, "--features", "about.csv", "--trusted", "verified.csv")
    assert done.code == 0, done.err
    found = _consensus(folder / "raters")
    assert found["grade"].to_list()[:10] == [str(5 - grade) for grade in truth[:10]]
    assert [flags.split()[0] for flags in found["flags"].to_list()[:10]] == ["verified"] * 10
    record = read_ratings_record(folder / "raters")
    assert not set(names[:10]) & {item.item for item in record.suspects}
    roles = {column.name: column.role for column in record.columns}
    assert roles == {"size": "feature", "kind": "feature"}  # not the grades that the table also has


@pytest.mark.slow
def test_features_make_the_consensus_surer_and_no_worse(folder: Path) -> None:
    write_long(folder / "long.csv")
    write_wide(folder / "about.csv")
    words = {1: "awful broken noise", 2: "rather weak noise", 3: "good solid sound", 4: "superb lovely sound"}
    names, truth, _ = drawn()
    told = [f"{words.get(grade, 'superb')} in week {at % 7}, order {at}" for at, grade in enumerate(truth.tolist())]
    pl.DataFrame({"id": names, "review": told}).write_csv("told.csv")
    right, sure = {}, {}
    tables = {"alone": (), "features": ("--features", "about.csv"), "text": ("--features", "told.csv")}
    for name, more in tables.items():
        done = run("raters", "long.csv", *LONG, *more, "--out", name)
        assert done.code == 0, done.err
        found = _consensus(folder / name)
        right[name] = (found["grade"].cast(pl.Int64).to_numpy() == drawn()[1]).mean()
        sure[name] = found["confidence"].cast(pl.Float64).to_numpy().mean()
    assert min(right["features"], right["text"]) >= right["alone"]
    assert min(sure["features"], sure["text"]) > sure["alone"]


def test_a_label_studio_export_comes_back_as_tasks_with_predictions(made: Path) -> None:
    _check_tasks(made / "export", "choices", N_ITEMS)


@pytest.mark.slow
def test_stars_of_label_studio_come_back_as_stars(folder: Path) -> None:
    write_export(folder / "export.json", kind="rating")
    assert run("raters", "export.json").code == 0
    _check_tasks(folder / "raters", "rating", 60)


def _check_tasks(folder: Path, kind: str, n_items: int) -> None:
    tasks = json.loads((folder / "label-studio.json").read_text())
    check_import_format(tasks)
    found = _consensus(folder)
    given = zip(tasks, export_of(n_items, kind), found["grade"], found["confidence"], strict=True)
    for task, original, grade, confidence in given:
        assert (task["id"], task["data"]) == (original["id"], original["data"])
        result = task["predictions"][0]["result"][0]
        assert (result["from_name"], result["to_name"], result["type"]) == ("quality", "text", kind)
        assert result["value"] == {kind: [grade] if kind == "choices" else int(grade)}
        assert task["predictions"][0]["score"] == pytest.approx(float(confidence), abs=1e-4)


def test_any_ratings_can_become_tasks_for_label_studio(made: Path) -> None:
    tasks = json.loads((made / "long" / "label-studio.json").read_text())
    check_import_format(tasks)
    assert tasks[1]["data"] == {"item": "i001", "about": "<script>document.title = 'owned'</script>"}


def check_import_format(tasks: Any) -> None:
    """Label Studio's documented form of tasks with pre-annotations ("Import pre-annotated data", "Task format")."""
    assert isinstance(tasks, list)
    identities = set()
    for task in tasks:
        assert set(task) <= {"id", "data", "predictions"}
        assert "id" not in task or isinstance(task["id"], int)
        assert isinstance(task["data"], dict)
        assert task["data"]
        for prediction in task["predictions"]:
            assert set(prediction) == {"model_version", "score", "result"}
            assert isinstance(prediction["model_version"], str)
            assert isinstance(prediction["score"], (int, float))
            assert 0 <= prediction["score"] <= 1
            for result in prediction["result"]:
                assert set(result) == {"id", "from_name", "to_name", "type", "value"}
                assert all(isinstance(result[name], str) for name in ("id", "from_name", "to_name", "type"))
                value = result["value"][result["type"]]
                assert list(result["value"]) == [result["type"]]
                if result["type"] == "choices":
                    assert isinstance(value, list)
                    assert all(isinstance(choice, str) for choice in value)
                else:
                    assert isinstance(value, (int, float))
                identities.add(result["id"])
    assert len(identities) == sum(len(one["result"]) for task in tasks for one in task["predictions"])


def test_a_spreadsheet_runs_nothing_and_a_terminal_gets_no_control_character(made: Path) -> None:
    words = (made / "long.txt").read_text()
    assert "\x1b" not in words
    assert "<b>Cy</b>" in words  # a name is printed as it is
    for name in ("consensus.csv", "raters.csv", "items.csv"):
        cells = pl.read_csv(made / "long" / name, infer_schema=False)
        texts = [cell for column in cells.get_columns() for cell in column.drop_nulls().to_list()]
        assert not [cell for cell in texts if cell.startswith(("=", "+", "@"))]


MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "no item": (("long.csv", "--grade", "stars"), "options must name the columns with --item and --grade"),
    "an unknown item": (("long.csv", "--item", "ids", "--grade", "stars"), "did you mean 'id' ("),
    "an unknown rater": (("long.csv", "--item", "id", "--rater", "whom", "--grade", "stars"), "did you mean 'who' ("),
    "one column twice": (("long.csv", "--item", "id", "--rater", "id", "--grade", "stars"), "rater must name another"),
    "one wide column": (("wide.csv", "--wide", "Ada"), "wide must name two different columns"),
    "an unknown wide column": (("wide.csv", "--wide", "Ada,bo"), "did you mean 'Bo' ("),
    "wide and long": (("wide.csv", "--wide", "Ada,Bo", "--rater", "Ada"), "wide must stand instead of"),
    "items that repeat in a wide table": (("wide.csv", "--wide", "Ada,Bo", "--item", "kind"), "item must name every row"),
    "text grades without an order": (("export.json",), "--order"),
    "an unknown tag": (("export.json", "--grade", "qualty", "--order", "low,fair,good,best"), "did you mean 'quality'?"),
    "features without the item": (("long.csv", *LONG, "--features", "verified.csv"), "features must have a row for every item"),
    "verified items of another file": (("long.csv", *LONG, "--trusted", "other.csv"), "trusted must name items of the file"),
    "a folder without a review": (("long.csv", *LONG, "--trusted", "empty"), "trusted must be a table or a folder"),
    "JSON of another kind": (("plain.json",), "file must be a table or a Label Studio export"),
    "damaged JSON": (("damaged.json",), "file must be a table or a Label Studio export"),
    "two grades of one annotation": (("double.json", "--order", "low,fair,good,best"), "file must have one choice per annotation"),
    "no such file": (("absent.csv", *LONG), "file must exist"),
    "a negative seed": (("long.csv", *LONG, "--seed", "-1"), "seed must"),
    "no items": (("long.csv", *LONG, "--items", "0"), "items must"),
}  # fmt: skip


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the mistakes."""
    folder = tmp_path_factory.mktemp("mistakes")
    write_long(folder / "long.csv")
    write_wide(folder / "wide.csv")
    write_export(folder / "export.json")
    (folder / "verified.csv").write_text("id,grade\ni001,2\n")
    (folder / "other.csv").write_text("id,stars\nx,2\n")
    (folder / "empty").mkdir()
    (folder / "plain.json").write_text('[{"text": "a", "sentiment": "low", "annotator": 1}]')
    (folder / "damaged.json").write_text('[{"id": 1, ')
    tasks = export_of()
    tasks[3]["annotations"][0]["result"][0]["value"]["choices"] = ["low", "good"]
    (folder / "double.json").write_text(json.dumps(tasks))
    return folder


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_and_leaves_no_file(
    mistaken: Path, mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mistaken)
    before = files_below(mistaken)
    words, expected = MISTAKES[mistake]
    done = run("raters", *words, "--out", "new")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert expected in done.err
    assert files_below(mistaken) == before


def test_a_fit_that_is_stopped_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_long(folder / "long.csv")
    before = files_below(folder)

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(RepeatedLabels, "fit", stopped)
    assert run("raters", "long.csv", *LONG).code == 130
    assert files_below(folder) == before


def test_a_folder_that_exists_is_not_touched(folder: Path) -> None:
    write_long(folder / "long.csv")
    (folder / "raters").mkdir()
    (folder / "raters" / "mine.txt").write_text("mine")
    before = files_below(folder)
    assert run("raters", "long.csv", *LONG).code == 2
    assert files_below(folder) == before


def test_where_the_only_two_raters_differ_a_third_opinion_is_asked_for_and_no_confidence_invented(folder: Path) -> None:
    names, truth, given = drawn(40)
    rows = [f"{name},{one},{max(other, 1)}" for name, one, other in zip(names, truth, given[:, 2], strict=True)]
    (folder / "two.csv").write_text("\n".join(["id,ada,bo", *rows]) + "\n")
    done = run("raters", "two.csv", "--item", "id", "--wide", "ada,bo")
    assert done.code == 0, done.err
    found = _consensus(folder / "raters")
    differ = found["lowest"] != found["highest"]
    assert 3 < differ.sum() < 30
    assert (found["confidence"] == "").to_list() == differ.to_list()
    assert set(found.filter(differ)["flags"]) == {"split"}
    item = read_ratings_record(folder / "raters").suspects[0]
    assert f"split {item.grades[0]}-{item.grades[1]}: third opinion" in " ".join(done.out.split())
    assert f"nothing says who is right on {differ.sum()} items" in " ".join(done.out.split())
    assert "third opinion" in (folder / "raters" / "report.html").read_text()
