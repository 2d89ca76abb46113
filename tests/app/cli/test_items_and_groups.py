"""``--item``, ``--rater`` and ``--group`` in the verbs that learn, and what is said of tables that lack them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.cli.command import run
from app.cli.test_raters import LONG
from app.ratings import RATERS, drawn
from ordinoise import OrdinalClassifier
from ordinoise.app.records.ratings import read_ratings_record
from ordinoise.app.review import open_decisions
from ordinoise.app.rounds.history import history_for
from ordinoise.app.verbs.request import Request

N_ITEMS = 60
IDS = ("--item", "id", "--rater", "who", "--group", "site")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ratings with features of the items, a column of sites and one that differs between grades."""
    monkeypatch.chdir(tmp_path)
    names, truth, given = drawn(N_ITEMS)
    rng = np.random.default_rng(1)
    size = truth + rng.normal(scale=0.6, size=N_ITEMS)
    rows = [
        {"id": names[at], "who": who, "site": at // 6, "size": size[at], "minute": 7 * at + place, "stars": int(given[at, place])}
        for at in range(N_ITEMS)
        for place, who in enumerate(RATERS)
        if given[at, place]
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(tmp_path / "table.csv")
    return tmp_path / "table.csv"


@pytest.mark.parametrize(("verb", "method"), [("fit", "fit"), ("audit", "fit"), ("noise", "estimate_noise")])
def test_names_reach_the_classifier_and_are_no_features(
    verb: str, method: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, dict[str, Any]]] = []

    def stopped(_: OrdinalClassifier, X: pl.DataFrame, y: Any, **more: Any) -> None:
        calls.append((X, more))
        raise KeyboardInterrupt

    monkeypatch.setattr(OrdinalClassifier, method, stopped)
    done = run(verb, "table.csv", "--target", "stars", *IDS)
    assert done.code == 130
    [(features, more)] = calls
    stored = pl.read_csv(table)
    assert features.columns == ["size"]
    assert more["items"].tolist() == stored["id"].to_list()
    assert more["groups"].tolist() == stored["site"].cast(pl.String).to_list()
    assert "column 'minute' is ignored" in done.out
    assert "Careful" not in done.out


def test_a_table_of_ratings_is_pointed_out_before_the_long_work(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.read_csv(table).rename({"who": "rater", "id": "item"}).write_csv("plain.csv")

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(OrdinalClassifier, "fit", stopped)
    done = run("audit", "plain.csv", "--target", "stars")
    words = " ".join(done.out.split())
    assert done.code == 130
    assert "Careful: 'rater' would be features, but look like names" in words or "Careful: 'item', 'rater'" in words
    assert "ordinoise raters plain.csv --item" in words
    assert not Path("audit").exists()


@pytest.mark.slow
def test_settled_items_settle_every_grade_of_theirs(table: Path) -> None:
    assert run("raters", "table.csv", *LONG).code == 0
    record = read_ratings_record(Path("raters"))
    chosen = record.suspects[0]
    with open_decisions(Path("raters"), record) as store:
        store.decide("Ann", chosen.row, "4")
    settled = history_for(Path("raters"), Request(table, target="stars", item="id")).settled
    stored = pl.read_csv(table)
    assert stored["id"][[one.row for one in settled]].to_list() == [chosen.item] * len(chosen.grades)
    assert {(one.grade, one.drawn) for one in settled} == {("4", "chosen")}
    with pytest.raises(ValueError, match=r"^reviewed must come with --item"):
        history_for(Path("raters"), Request(table, target="stars"))


@pytest.mark.slow
def test_a_model_of_ratings_predicts_without_names(table: Path) -> None:
    done = run("fit", "table.csv", "--target", "stars", *IDS, "--learner", "mlp", "--jobs", "1", "--out", "model")
    assert done.code == 0, done.err
    roles = {column["name"]: column["role"] for column in json.loads(Path("model/task.json").read_text())["columns"]}
    assert {name: roles[name] for name in ("id", "who", "site")} == dict.fromkeys(("id", "who", "site"), "id")
    pl.DataFrame({"size": [0.5, 4.5]}).write_csv("new.csv")
    done = run("predict", "model", "new.csv")
    assert done.code == 0, done.err
    grades = [int(line.split(",")[1]) for line in done.out.splitlines()[1:]]
    assert grades[0] < grades[1]
    found = run("audit", "table.csv", "--target", "stars", *IDS, "--learner", "mlp", "--jobs", "1", "--json")
    assert found.json["settings"]["group"] == "site"
