"""The verbs on a table of one's own, as a new user would string them together."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from ordinoise import corrupt, inverse_decay
from ordinoise.app.cli import VERBS
from ordinoise.app.records.audit import read_record
from ordinoise.app.records.history import Settled

pytestmark = pytest.mark.usefixtures("few_models")

FAST = ("--learner", "mlp", "--jobs", "1")
GRADES = ["poor", "fair", "good", "best"]
ORDER = ("--order", ",".join(GRADES))


def _table(n_rows: int = 240, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    size, weight = rng.normal(size=(2, n_rows))
    color = rng.choice(["red", "blue", "green"], size=n_rows)
    true = np.digitize(size + (color == "red") + rng.normal(scale=0.1, size=n_rows), [-0.7, 0.2, 1.1])
    noisy = corrupt(true, inverse_decay(4, 0.1), random_state=seed)
    frame = pl.DataFrame(
        {
            "name": [f"item {i}" for i in range(n_rows)],
            "size": np.where(rng.random(n_rows) < 0.03, np.nan, size),
            "weight": weight,
            "color": color,
            "quality": np.array(GRADES)[noisy],
        }
    )
    return frame.with_columns(pl.col("size").fill_nan(None)), true


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in three formats, its audit and a model."""
    folder = tmp_path_factory.mktemp("work")
    frame, _ = _table()
    frame.write_csv(folder / "table.csv", separator=";")
    frame.write_parquet(folder / "table.parquet")
    frame.write_ndjson(folder / "table.jsonl")
    for verb, *options in (("audit",), ("fit", "--answer", "cautious")):
        out = {"audit": "audit", "fit": "model"}[verb]
        words = (folder / "table.csv", "--target", "quality", *ORDER, *FAST, "--out", folder / out)
        result = run(verb, *words, *options)
        assert result.code == 0, result.err
    return folder


def test_every_verb_has_an_example_in_its_help_and_takes_json() -> None:
    verbs = [(verb.__name__.partition("_")[0],) for verb in VERBS if callable(verb) and hasattr(verb, "__name__")]
    assert len(verbs) == 16
    for words in verbs:
        result = run(*words, "--help")
        assert f"Example: ordinoise {' '.join(words)}" in " ".join(result.out.split()), words
        assert "--json" in result.out, words


def test_an_audit_leaves_a_whole_folder(folder: Path) -> None:
    names = {path.name for path in (folder / "audit").iterdir()}
    assert {"audit.json", "labels.csv", "report.html", "suspects.csv"} <= names
    record = read_record(folder / "audit")
    assert record.classes == tuple(GRADES)
    assert {column.name: column.role for column in record.columns} == {
        "name": "ignored", "size": "feature", "weight": "feature", "color": "feature", "quality": "target",
    }  # fmt: skip
    frame, true = _table()
    wrong = frame["quality"].to_numpy() != np.array(GRADES)[true]
    worst = [suspect.row for suspect in record.suspects[: int(wrong.sum())]]
    assert wrong[worst].mean() > 2 * wrong.mean()
    assert record.suspects[0].cells[0] == f"item {worst[0]}"


def test_every_label_is_in_the_list_and_the_suspects_come_with_their_rows(folder: Path) -> None:
    labels = pl.read_csv(folder / "audit" / "labels.csv", separator=";")
    assert sorted(labels["row"].to_list()) == list(range(240))
    suspects = pl.read_csv(folder / "audit" / "suspects.csv", separator=";")
    frame, _ = _table()
    first = suspects.row(0, named=True)
    assert first["name"] == frame["name"][first["row"]]
    assert first["recorded"] == frame["quality"][first["row"]]
    noise = read_record(folder / "audit").noise
    assert (noise.answer, noise.doubt_codes) == ("corrected", ("few-samples",))
    assert suspects["suspicion"].is_between(0, 1).all()
    assert not {"probability_wrong", "expected_distance"} & {*suspects.columns, *labels.columns}
    assert (suspects["recorded"] != suspects["suggested"]).all()


@pytest.mark.slow
def test_findings_do_not_depend_on_the_format_of_the_file(folder: Path) -> None:
    found = [
        run("noise", folder / f"table.{kind}", "--target", "quality", *ORDER, *FAST, "--json").json
        for kind in ("parquet", "jsonl")
    ]
    assert found[0]["noise"] == found[1]["noise"]
    assert found[0]["noise"]["matrix"] == [list(row) for row in read_record(folder / "audit").noise.matrix]


def test_prediction_adds_grades_and_probabilities_and_changes_nothing_else(folder: Path) -> None:
    frame, true = _table(seed=9)
    new = frame.drop("quality").select(reversed(frame.drop("quality").columns))
    new.write_csv(folder / "new.csv")
    for suffix in ("csv", "parquet", "feather", "tsv"):
        out = folder / f"graded.{suffix}"
        result = run("predict", folder / "model", folder / "new.csv", "--out", out, "--confidence", "0.9")
        assert result.code == 0, result.err
    graded = pl.read_parquet(folder / "graded.parquet")
    assert graded.columns[:4] == new.columns
    assert graded.height == 240
    shares = graded.select(f"probability_{grade}" for grade in GRADES).sum_horizontal()
    np.testing.assert_allclose(shares, 1, atol=1e-5)
    assert (graded["predicted_quality"].to_numpy() == np.array(GRADES)[true]).mean() > 0.7
    ranks = {grade: rank for rank, grade in enumerate(GRADES)}
    low, high, middle = (
        graded[name].replace_strict(ranks, return_dtype=pl.Int64)
        for name in ("lowest_quality", "highest_quality", "predicted_quality")
    )
    assert (low <= middle).all()
    assert (middle <= high).all()
    to_screen = run("predict", folder / "model", folder / "new.csv")
    assert pl.read_csv(to_screen.out.encode()).height == 240
    assert len(run("predict", folder / "model", folder / "new.csv", "--json").json) == 240


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_json_lines_keep_every_byte_and_get_more_keys(folder: Path, tmp_path: Path) -> None:
    given, out = folder / "table.jsonl", tmp_path / "graded.jsonl"
    result = run("predict", folder / "model", given, "--out", out)
    assert result.code == 0, result.err
    csv = pl.read_csv(run("predict", folder / "model", given).out.encode())
    for before, after, row in zip(_lines(given), _lines(out), csv.iter_rows(named=True), strict=True):
        assert after.startswith(before.rstrip().removesuffix("}"))
        assert json.loads(after)["predicted_quality"] == row["predicted_quality"]
    noisy = run("corrupt", given, "--target", "quality", *ORDER, "--out", tmp_path / "noisy.jsonl", "--json")
    pairs = [map(json.loads, pair) for pair in zip(_lines(given), _lines(tmp_path / "noisy.jsonl"), strict=True)]
    changed = [(one, other) for one, other in pairs if one != other]
    assert len(changed) == noisy.json["n_changed"] > 20
    assert all(one | {"quality": other["quality"]} == other for one, other in changed)


def test_a_file_without_a_header_can_be_used_by_every_verb(folder: Path, tmp_path: Path) -> None:
    content = (folder / "table.csv").read_text().partition("\n")[2]
    (tmp_path / "bare.csv").write_text(content)
    words = (tmp_path / "bare.csv", "--target", "column_5", *ORDER)
    refused = run("noise", *words[:2], "quality", *ORDER)
    assert refused.code == 2
    assert refused.err.endswith("if its first row is data, --no-header reads it\n")
    fitted = run("fit", *words, *FAST, "--no-header", "--noise", "none", "--out", tmp_path / "model")
    assert fitted.code == 0, fitted.err
    graded = run("predict", tmp_path / "model", tmp_path / "bare.csv", "--no-header")
    assert pl.read_csv(graded.out.encode()).height == 240
    scores = run("evaluate", tmp_path / "model", tmp_path / "bare.csv", "--no-header", "--json").json
    assert scores["n_samples"] == 240
    run("corrupt", *words, "--no-header", "--out", tmp_path / "noisy.csv")
    before, after = content.splitlines(), (tmp_path / "noisy.csv").read_text().splitlines()
    assert [row.rpartition(";")[0] for row in before] == [row.rpartition(";")[0] for row in after]
    assert (
        "no-header must be used with CSV alone" in run("noise", folder / "table.jsonl", *words[1:], "--no-header").err
    )


def test_evaluation_corrects_what_noisy_grades_show(folder: Path) -> None:
    frame, true = _table(600, seed=5)
    frame.write_csv(folder / "test.csv")
    frame.with_columns(pl.Series("quality", np.array(GRADES)[true])).write_csv(folder / "clean.csv")
    found = run("evaluate", folder / "model", folder / "test.csv", "--json").json
    noisy = found["scores"]["mean_absolute_error"]
    clean = run("evaluate", folder / "model", folder / "clean.csv", "--trusted", "--json").json
    right = clean["scores"]["mean_absolute_error"]["observed"]
    assert noisy["observed"] > right
    assert noisy["low"] < right < noisy["high"]
    shown = " ".join(run("evaluate", folder / "model", folder / "test.csv").out.split())
    assert "mean absolute error" in shown
    recorded = np.array([GRADES.index(grade) for grade in frame["quality"]])
    always = found["baseline"]
    error = np.abs(recorded - GRADES.index(always["grade"])).mean()
    assert always["scores"]["mean_absolute_error"] == pytest.approx(error)
    assert f"Always '{always['grade']}', on recorded grades: mean absolute error {error:.3f}" in shown
    # The model is cautious, so both readings are given, and it is said why and what would help.
    assert (found["in_doubt"], clean["in_doubt"]) == (True, False)
    assert f"{found['answer'].capitalize()}: {found['reason']}." in shown
    assert "To settle it: reviewed grades" in shown


def test_corruption_touches_the_grades_alone(folder: Path) -> None:
    words = ("--target", "quality", *ORDER, "--kind", "adjacent", "--rate", "0.2", "--json")
    result = run("corrupt", folder / "table.csv", *words, "--out", folder / "noisy.csv")
    assert result.code == 0, result.err
    before, after = ((folder / name).read_text().splitlines() for name in ("table.csv", "noisy.csv"))
    changed = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
    assert len(changed) == result.json["n_changed"] > 40
    for one, other in changed:
        assert one.rsplit(";", 1)[0] == other.rsplit(";", 1)[0]
        assert abs(GRADES.index(one.rsplit(";", 1)[1]) - GRADES.index(other.rsplit(";", 1)[1])) == 1
    again = run("corrupt", folder / "table.parquet", *words, "--out", folder / "noisy.parquet")
    assert again.json["n_changed"] == result.json["n_changed"]
    assert pl.read_parquet(folder / "noisy.parquet")["quality"].to_list() == [
        line.rsplit(";", 1)[1] for line in after[1:]
    ]


@pytest.mark.parametrize("kind", ["perceived", "near_cuts", "region", "spam"])
def test_noise_of_rows_changes_the_rows_it_names(folder: Path, tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(5)  # not the seed of the command, whose draws would be the places
    places, grades = rng.random(3000), rng.integers(4, size=3000)
    frame = pl.DataFrame({"place": places, "grade": grades})
    frame.write_csv(tmp_path / "table.csv")
    words = ("--target", "grade", "--kind", kind, "--rate", "0.3", "--by", "place", "--json")
    result = run("corrupt", tmp_path / "table.csv", *words, "--out", tmp_path / "noisy.csv")
    assert result.code == 0, result.err
    moved = pl.read_csv(tmp_path / "noisy.csv")["grade"].to_numpy() - grades
    assert (moved != 0).sum() == result.json["n_changed"] > 200
    edge, top = (places < 0.15) | (places > 0.85), places > np.median(places)
    shares = {"edge": (moved[edge] != 0).mean(), "middle": (moved[~edge] != 0).mean()}
    if kind in ("perceived", "near_cuts"):
        assert shares["edge"] > 1.5 * shares["middle"]
    elif kind == "region":
        assert set(np.unique(moved)) == {-1, 0}
        assert not moved[~top].any()
    else:
        assert (moved != 0).mean() == pytest.approx(0.3 * 0.75, abs=0.03)
        assert np.abs(moved).max() == 3
    bad = run("corrupt", tmp_path / "table.csv", *words[:-2], "nowhere", "--out", tmp_path / "other.csv")
    assert bad.code == 2
    assert "by must be one of" in bad.err


@pytest.mark.slow
def test_reviewed_grades_are_trusted_by_the_next_fit(folder: Path, tmp_path: Path) -> None:
    from ordinoise.app.review.decisions import open_decisions

    record = read_record(folder / "audit")
    _, true = _table()
    with open_decisions(folder / "audit", record) as store:
        for suspect in record.suspects[:40]:
            store.decide("Ada", suspect.row, GRADES[true[suspect.row]])
    words = (folder / "table.csv", "--target", "quality", *ORDER, *FAST, "--reviewed", folder / "audit")
    found = run("fit", *words, "--out", tmp_path / "model", "--json")
    assert found.code == 0, found.err
    assert len(found.json["settled"]) == 40
    (tmp_path / "table.csv").write_text((folder / "table.csv").read_text() + "item;1;1;red;poor\n")
    changed = run("fit", tmp_path / "table.csv", *words[1:], "--out", tmp_path / "other")
    assert changed.code == 2
    assert "file must be unchanged since its audit" in changed.err


@pytest.mark.slow
def test_the_page_can_have_the_noise_estimated_again(folder: Path) -> None:
    from ordinoise.app.verbs.review import refit_of

    record = read_record(folder / "audit")
    _, true = _table()
    settled = [Settled(one.row, one.recorded, GRADES[true[one.row]]) for one in record.suspects[:30]]
    outcome = refit_of(folder / "audit")(settled)
    assert outcome.n_trusted == 30
    assert outcome.before.rate == record.noise.rate
    assert np.allclose(outcome.after.matrix.sum(axis=1), 1)
    assert (outcome.after.matrix != outcome.before.matrix).any()


def test_known_noise_and_trust_are_taken_at_their_word(folder: Path, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "matrix.csv", inverse_decay(4, 0.1), delimiter=",")
    words = (folder / "table.csv", "--target", "quality", *ORDER, *FAST, "--json")
    known = run("noise", *words, "--noise", tmp_path / "matrix.csv").json["noise"]
    np.testing.assert_allclose(known["matrix"], inverse_decay(4, 0.1))
    assert (known["source"], known["interval"], known["rate_interval"]) == ("given", None, None)
    trusted = run("noise", *words, "--noise", "none").json
    np.testing.assert_array_equal(trusted["noise"]["matrix"], np.eye(4))
    assert (trusted["noise"]["source"], trusted["noise"]["rate"]) == ("trusted", 0)
    audited = run("audit", *words, "--noise", "none", "--out", tmp_path / "audit").json
    assert (audited["noise"]["source"], audited["wrong"], audited["n_suspects"]) == ("trusted", 0, 0)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_model_whatever_the_number_of_jobs(folder: Path, tmp_path: Path) -> None:
    words = (folder / "table.csv", "--target", "quality", *ORDER, "--learner", "mlp")
    for jobs in ("1", "2"):
        assert run("fit", *words, "--jobs", jobs, "--out", tmp_path / jobs).code == 0
    assert (tmp_path / "1" / "arrays.safetensors").read_bytes() == (tmp_path / "2" / "arrays.safetensors").read_bytes()


def test_plan_and_data_print_and_write(tmp_path: Path) -> None:
    worth = run("plan", "--classes", "4", "--rate", "0.15", "--json").json["noisy_labels_per_clean_label"]
    assert worth["cross_entropy, tight"] == pytest.approx(2.1, abs=0.05)
    assert "Noisy labels worth one clean label" in run("plan", "--classes", "4").out
    assert {entry["name"] for entry in run("data", "--json").json} >= {"synthetic", "diabetes", "abalone"}
    assert "diabetes" in run("data").out
    result = run("data", "diabetes", "--out", tmp_path / "d.csv")
    assert result.code == 0, result.err
    assert pl.read_csv(tmp_path / "d.csv")["grade"].n_unique() == 5


def test_a_folder_that_is_no_audit_cannot_be_reviewed(tmp_path: Path) -> None:
    result = run("review", tmp_path)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("folder must hold a readable audit.json")


@pytest.mark.parametrize("version", [1, 4, "6", None])
def test_an_audit_of_another_format_version_is_refused(version: object, folder: Path, tmp_path: Path) -> None:
    content = json.loads((folder / "audit" / "audit.json").read_text())
    assert content["format_version"] == 6
    (tmp_path / "audit.json").write_text(json.dumps(content | {"format_version": version}))
    with pytest.raises(
        ValueError, match=r"^folder must hold audit.json of format version 6, got .*run ordinoise audit again$"
    ):
        read_record(tmp_path)


def test_the_noise_in_an_audit_is_read_back_as_it_was_found(folder: Path) -> None:
    words = (folder / "table.csv", "--target", "quality", *ORDER, *FAST, "--json")
    found, kept = run("noise", *words).json, read_record(folder / "audit").noise
    assert kept.source == "estimated"
    # The answer waits for the fits that correct.
    assert kept.to_dict() | {"answer": "", "reason": ""} == found["noise"] | {"answer": "", "reason": ""}
    assert (found["target"], found["classes"], found["n_graded"]) == ("quality", GRADES, 240)


def test_decisions_are_an_ordinary_database(folder: Path) -> None:
    from ordinoise.app.review.decisions import open_decisions

    with open_decisions(folder / "audit", read_record(folder / "audit")):
        pass
    address = f"file:{folder / 'audit' / 'decisions.sqlite'}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_categories_that_the_model_never_saw_are_named(folder: Path, tmp_path: Path) -> None:
    frame, _ = _table(20, seed=5)
    frame.with_columns(color=pl.Series(["mauve", "[b]"] * 10)).write_csv(tmp_path / "new.csv")
    found = run("predict", folder / "model", tmp_path / "new.csv", "--out", tmp_path / "graded.csv")
    assert found.code == 0, found.err
    said = " ".join(found.err.split())
    assert "column 'color' has categories that the model never saw, read as missing in 20 rows: 'mauve', '[b]'." in said
    known = run("predict", folder / "model", folder / "table.csv", "--out", tmp_path / "known.csv")
    assert "never saw" not in known.err


def test_evaluate_says_what_it_assumes_and_how_to_say_otherwise(folder: Path) -> None:
    found = run("evaluate", folder / "model", folder / "table.csv")
    said = " ".join(found.out.split())
    assert "Assumed: these grades are wrong as often as" in said
    assert "--trusted compares with them as they are" in said
    assert "--trusted compares" not in run("evaluate", folder / "model", folder / "table.csv", "--trusted").out


def test_evaluate_knows_that_rows_of_a_group_are_not_independent(folder: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(folder / "table.csv", separator=";")
    copies = pl.concat([frame.with_row_index("case")] * 4)
    copies.write_csv(tmp_path / "copies.csv")

    def width(*options: str) -> float:
        found = run("evaluate", folder / "model", tmp_path / "copies.csv", "--trusted", "--json", *options)
        assert found.code == 0, found.err
        score = found.json["scores"]["mean_absolute_error"]
        return score["high"] - score["low"]

    assert 1.8 < width("--group", "case") / width() < 2.2  # four copies of a row say what one says
    refused = run("evaluate", folder / "model", tmp_path / "copies.csv", "--group", "cases")
    assert (refused.code, "group must" in refused.err) == (2, True)
