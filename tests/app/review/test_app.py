import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.review.client import Client
from app.review.sample import CLASSES, noise_of, sample_audit
from ordinoise.app.records.audit import AuditRecord, write_record
from ordinoise.app.records.history import Settled
from ordinoise.app.review import RefitOutcome, open_decisions
from ordinoise.app.review.desk import ReviewDesk
from ordinoise.app.tables import Dialect, delimiter_of, digest_of, read_stored, read_text, write_content, write_table


def test_the_overview_shows_record_and_states(client: Client, record: AuditRecord) -> None:
    row = record.suspects[2].row
    client.decide(row, "5")
    found = client.get("/api/audit").json()
    assert [item["row"] for item in found["items"]] == [suspect.row for suspect in record.suspects]
    assert found["items"][2]["cells"] == list(record.suspects[2].cells)
    assert found["classes"] == list(CLASSES)
    assert found["keys"] == list(CLASSES)
    assert [(state["row"], state["grade"]) for state in found["states"]] == [(row, "5")]
    assert found["last"] == 1


def test_a_decision_is_on_disk_when_it_is_answered(client: Client, record: AuditRecord, audit: Path) -> None:
    row = record.suspects[0].row
    answer = client.decide(row, "7").json()
    with open_decisions(audit) as other:
        assert other.state(row).grade == "7"
        assert [event.id for event in other.history()] == [answer["event"]["id"]]
    assert answer["state"]["status"] == "settled"
    assert "key" not in answer["event"]


def test_changes_tell_what_another_tab_did(client: Client, record: AuditRecord) -> None:
    first, second = (suspect.row for suspect in record.suspects[:2])
    client.decide(first, "5")
    client.decide(second, "6", "Bob")
    client.decide(second, "7")
    news = client.get("/api/changes/1").json()
    assert news["last"] == 3
    (state,) = news["states"]
    assert (state["row"], state["grade"], state["is_disputed"]) == (second, "7", True)
    assert client.get("/api/changes/3").json()["states"] == []


def test_notes_and_undo_and_history(client: Client, record: AuditRecord) -> None:
    row = record.suspects[0].row
    assert client.post("/api/undo", {"reviewer": "Ann", "key": "undo-0000"}).json() == {"event": None, "state": None}
    client.decide(row, None)
    noted = client.post(
        "/api/note", {"row": row, "note": " odd\x00 one ", "reviewer": "Ann", "key": "note-0000"}
    ).json()
    assert noted["state"]["notes"] == [["Ann", "odd one"]]
    assert noted["state"]["status"] == "skipped"
    assert client.post("/api/undo", {"reviewer": " Ann ", "key": "undo-0001"}).json()["state"]["status"] == "open"
    kinds = [event["kind"] for event in client.get(f"/api/history/{row}").json()["events"]]
    assert kinds == ["skip", "note", "undo"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"row": 10**6}, "row must be the row of a suspect"),
        ({"row": True}, "row must be the row of a suspect"),
        ({"row": [1]}, "row must be the row of a suspect"),
        ({"grade": "9"}, "grade must be one of"),
        ({"grade": ["5"]}, "grade must be one of"),
        ({"grade": 5}, "grade must be one of"),
        ({"reviewer": ""}, "reviewer must be a name"),
        ({"reviewer": " \x1b\x07"}, "reviewer must be a name"),
        ({"reviewer": "x" * 61}, "reviewer must be a name"),
        ({"reviewer": None}, "reviewer must be a name"),
        ({"key": "short"}, "key must be 8 to 64"),
        ({"key": "'; DROP TABLE"}, "key must be 8 to 64"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(
    client: Client, record: AuditRecord, change: dict[str, object], sentence: str
) -> None:
    body = {"row": record.suspects[0].row, "grade": "5", "reviewer": "Ann", "key": "12345678"} | change
    answer = client.post("/api/decide", body)
    assert answer.status_code == 422
    assert sentence in answer.json()["error"]
    assert client.get("/api/audit").json()["last"] == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 50_000])
def test_what_is_no_json_object_is_refused(client: Client, content: bytes) -> None:
    assert client.post("/api/undo", content=content).status_code == 422


def test_trouble_with_the_store_is_not_the_readers_fault(client: Client, record: AuditRecord) -> None:
    client.app.state.desk.store._execute("PRAGMA query_only = ON")
    answer = client.decide(record.suspects[0].row, "5")
    assert answer.status_code == 503
    assert "decisions must be an undamaged, writable file" in answer.json()["error"]


def test_a_decision_is_not_confirmed_after_its_file_is_deleted(
    client: Client, record: AuditRecord, audit: Path
) -> None:
    first, second = (suspect.row for suspect in record.suspects[:2])
    client.decide(first, "5")
    (audit / "decisions.sqlite").unlink()
    answer = client.decide(second, "5")
    assert answer.status_code == 503
    assert "decisions must stay in place" in answer.json()["error"]
    assert (audit / "decisions.sqlite-wal").stat().st_size == 0  # nothing to replay into the next file
    client.close()
    (audit / "decisions.rescued.sqlite").rename(audit / "decisions.sqlite")
    with open_decisions(audit) as store:
        assert list(store.states()) == [first]


def test_everything_from_the_file_is_escaped_in_the_page(tmp_path: Path) -> None:
    record = sample_audit(tmp_path)
    evil = '"><script>alert(1)</script>'
    columns = tuple(replace(column, name=evil) if column.role == "target" else column for column in record.columns)
    source = tmp_path / "<img src=x onerror=alert(1)>.csv"
    named = [{one.recorded, one.suggested, *(near.settled for near in one.similar)} for one in record.suspects]
    suspects = tuple(one for one, grades in zip(record.suspects, named, strict=True) if "8" not in grades)
    classes = (*CLASSES[:-1], evil)
    changed = replace(
        record, target=evil, columns=columns, source=str(source), classes=classes, suspects=suspects
    )  # fmt: skip
    write_record(tmp_path / "audit", changed)
    client = Client(tmp_path / "audit", reviewer=evil)
    page = client.get("/").text
    client.close()
    assert evil not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 4  # target, option twice, reviewer


# ---- pictures


def test_a_picture_below_the_data_folder_is_shown(client: Client, record: AuditRecord, tmp_path: Path) -> None:
    row = record.suspects[0].row
    answer = client.get(f"/picture/{row}/6")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert answer.content == (tmp_path / "labels" / f"{row}.png").read_bytes()
    assert client.get("/api/audit").json()["items"][0]["pictures"] == [6]


def test_pictures_of_another_folder_are_shown_only_when_asked_for(
    audit: Path, record: AuditRecord, tmp_path: Path
) -> None:
    elsewhere = tmp_path.with_name(f"{tmp_path.name}-elsewhere") / "audit"
    shutil.copytree(audit, elsewhere)
    row = record.suspects[0].row
    for folder, asked, shown in ((audit, False, True), (elsewhere, False, False), (elsewhere, True, True)):
        desk = ReviewDesk(folder, pictures=asked)
        assert (desk.picture(row, 6) is not None) == shown
        assert desk.hidden_pictures == (None if shown else tmp_path)
        desk.close()


def test_other_columns_and_rows_are_no_pictures(record: AuditRecord, audit: Path) -> None:
    first = record.suspects[0]
    named = replace(first, cells=(*first.cells[:5], "labels/0.png", *first.cells[6:]))
    write_record(audit, replace(record, suspects=(named, *record.suspects[1:])))
    client = Client(audit)
    not_suspected = next(row for row in range(60) if row not in {suspect.row for suspect in record.suspects})
    places = [(first.row, 0), (first.row, 5), (first.row, 99), (first.row, -1), (not_suspected, 6)]
    answers = [client.get(f"/picture/{row}/{column}").status_code for row, column in places]
    client.close()
    assert answers == [404] * len(places)


@pytest.mark.parametrize(
    "way",
    [
        "parent",
        "absolute",
        "link",
        "folder link",
        "suffix",
        "svg",
        "hidden suffix",
        "folder",
        "nothing",
        "null",
        "missing",
        "url",
    ],
)
def test_no_picture_from_anywhere_else(tmp_path: Path, way: str) -> None:
    data, outside = tmp_path / "data", tmp_path / "outside"
    record = sample_audit(data)
    outside.mkdir()
    for name in ("secret.png", "secret.svg", "secret.txt"):
        (outside / name).write_text("secret")
    (data / "inside.svg").write_text("<svg/>")
    (data / "inside.txt").write_text("secret")
    (data / "folder.png").mkdir()
    (data / "link.png").symlink_to(outside / "secret.png")
    (data / "to-text.png").symlink_to(data / "inside.txt")
    (data / "linked").symlink_to(outside)
    cell = {
        "parent": "../outside/secret.png", "absolute": str(outside / "secret.png"), "link": "link.png",
        "folder link": "linked/secret.png", "suffix": "inside.txt", "svg": "inside.svg", "hidden suffix": "to-text.png",
        "folder": "folder.png", "nothing": "nothing.png", "null": "labels/\0.png", "missing": None,
        "url": "http://example.invalid/picture.png",
    }[way]  # fmt: skip
    first = replace(record.suspects[0], cells=(*record.suspects[0].cells[:6], cell))
    write_record(data / "audit", replace(record, suspects=(first, *record.suspects[1:])))
    client = Client(data / "audit")
    answer = client.get(f"/picture/{first.row}/6")
    items = client.get("/api/audit").json()["items"]
    client.close()
    assert answer.status_code == 404
    assert b"secret" not in answer.content
    assert items[0]["pictures"] == []
    assert items[1]["pictures"] == [6]


# ---- export


def test_the_corrected_file_differs_in_the_settled_grades_only(
    client: Client, record: AuditRecord, tmp_path: Path
) -> None:
    source = tmp_path / "wine.csv"
    before = source.read_bytes()
    changed, kept, skipped, disputed = record.suspects[:4]
    client.decide(changed.row, changed.suggested)
    client.decide(kept.row, kept.recorded)
    client.decide(skipped.row, None)
    client.decide(disputed.row, disputed.recorded)
    client.decide(disputed.row, disputed.suggested, "Bob")
    answer = client.post("/api/export").json()
    path = tmp_path / "wine.reviewed.csv"
    assert answer == {"path": str(path), "n_changed": 2, "n_kept": 1, "n_disputed": 1, "also": []}
    assert source.read_bytes() == before
    was, now = read_text(source), read_text(path)
    changes = {changed.row: changed.suggested, disputed.row: disputed.suggested}
    wanted = [changes.get(row, grade) for row, grade in enumerate(was["quality"])]
    assert now["quality"].to_list() == wanted
    others = [name for name in was.columns if name not in ("quality", "tasting note")]
    assert now.select(others).equals(was.select(others))


def test_cells_that_look_like_formulas_are_kept_exactly(client: Client, tmp_path: Path) -> None:
    client.post("/api/export")
    was, now = (
        read_text(tmp_path / "wine.csv")["tasting note"],
        read_text(tmp_path / "wine.reviewed.csv")["tasting note"],
    )
    assert was.str.starts_with("=").any()
    assert now.to_list() == was.to_list()


def test_an_export_never_goes_over_a_file(client: Client, tmp_path: Path) -> None:
    (tmp_path / "wine.reviewed.csv").write_text("precious")
    (tmp_path / "wine.reviewed-2.csv").symlink_to(tmp_path / "nowhere")
    paths = [Path(client.post("/api/export").json()["path"]).name for _ in range(2)]
    assert paths == ["wine.reviewed-3.csv", "wine.reviewed-4.csv"]
    assert (tmp_path / "wine.reviewed.csv").read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()


def test_exports_at_once_get_names_of_their_own(client: Client, tmp_path: Path) -> None:
    threads = [threading.Thread(target=client.post, args=("/api/export",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(tmp_path.glob("wine.reviewed*.csv"))) == 4


def test_an_export_that_loses_the_race_for_a_name_takes_the_next(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_late(*given: Any) -> None:
        (tmp_path / "wine.reviewed.csv").write_text("of another process")
        write_content(*given)

    monkeypatch.setattr("ordinoise.app.tables.regraded.write_content", write_late)
    assert Path(client.post("/api/export").json()["path"]).name == "wine.reviewed-2.csv"
    assert (tmp_path / "wine.reviewed.csv").read_text() == "of another process"
    assert {path.name for path in tmp_path.iterdir()} == {
        "audit", "labels", "wine.csv", "wine.reviewed.csv", "wine.reviewed-2.csv",
    }  # fmt: skip


def test_an_export_works_without_hard_links(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    (tmp_path / "wine.reviewed.csv").write_text("precious")
    monkeypatch.setattr("os.link", refuse)
    path = Path(client.post("/api/export").json()["path"])
    assert path.name == "wine.reviewed-2.csv"
    assert len(read_text(path)) == 60
    assert (tmp_path / "wine.reviewed.csv").read_text() == "precious"


def test_a_file_that_changed_since_the_audit_is_not_exported(client: Client, tmp_path: Path) -> None:
    with (tmp_path / "wine.csv").open("a") as file:
        file.write("1,2,3,red,5,late,labels/0.png\n")
    answer = client.post("/api/export")
    assert answer.status_code == 422
    assert "must be unchanged since its audit" in answer.json()["error"]
    assert not list(tmp_path.glob("*.reviewed*"))
    (tmp_path / "wine.csv").unlink()
    assert client.post("/api/export").status_code == 422


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".xlsx", ".parquet", ".feather"])
@pytest.mark.parametrize("kind", [pl.Float64, pl.String])
def test_a_file_of_any_kind_is_exported_as_it_is_with_its_types(tmp_path: Path, suffix: str, kind: Any) -> None:
    record = sample_audit(tmp_path)
    decimal = pl.col("quality").cast(pl.Float64)
    table = read_text(tmp_path / "wine.csv").with_columns(decimal.cast(kind))
    source = tmp_path / f"other{suffix}"
    write_table(table, source, dialect=Dialect(";"))
    spelling = {grade: str(float(grade)) for grade in record.classes}
    suspects = tuple(
        replace(suspect, cells=(*suspect.cells[:4], spelling[suspect.recorded], *suspect.cells[5:]))
        for suspect in record.suspects
    )
    write_record(tmp_path / "audit", replace(record, source=str(source), digest=digest_of(source), suspects=suspects))
    client = Client(tmp_path / "audit")
    spelled = {suspect.recorded for suspect in suspects}
    first = next(suspect for suspect in suspects if suspect.suggested in spelled)
    client.decide(first.row, first.suggested)
    path = Path(client.post("/api/export").json()["path"])
    client.close()
    assert path.name == f"other.reviewed{suffix}"
    if suffix in (".csv", ".tsv"):
        assert delimiter_of(path) == {".csv": ";", ".tsv": "\t"}[suffix]
    was, now = read_stored(source), read_stored(path)
    wanted = was["quality"].to_list()
    spelled_new = spelling[first.suggested]  # as the file spells its grades
    wanted[first.row] = spelled_new if isinstance(wanted[0], str) else float(spelled_new)
    assert now["quality"].to_list() == wanted
    assert now.drop("quality").equals(was.drop("quality"))
    assert now.schema == was.schema


# ---- the estimate anew


def _outcome(n_trusted: int) -> RefitOutcome:
    return RefitOutcome(noise_of(0.21, (0.16, 0.27)), noise_of(0.19, (0.17, 0.21)), n_trusted)


def _finished(client: Client) -> dict[str, object]:
    deadline = time.monotonic() + 5
    while (report := client.get("/api/refit").json())["status"] == "running" and time.monotonic() < deadline:
        time.sleep(0.01)
    return dict(report)


def test_one_estimate_runs_at_a_time_with_the_trusted_labels(audit: Path, record: AuditRecord) -> None:
    go, asked = threading.Event(), []

    def refit(settled: Sequence[Settled]) -> RefitOutcome:
        asked.append([(one.row, one.recorded, one.grade) for one in settled])
        assert go.wait(5)
        return _outcome(2)

    client = Client(audit, refit)
    first, second = sorted(record.suspects[:2], key=lambda suspect: suspect.row)
    assert client.get("/api/refit").json() == {"status": "idle"}
    assert client.post("/api/refit").status_code == 422
    client.decide(second.row, "7")
    client.decide(first.row, "4")
    assert client.post("/api/refit").json()["started"]
    again = client.post("/api/refit").json()
    assert (again["started"], again["status"], again["n_trusted"]) == (False, "running", 2)
    go.set()
    report = _finished(client)
    client.close()
    assert asked == [[(first.row, first.recorded, "4"), (second.row, second.recorded, "7")]]
    assert report["status"] == "done"
    assert report["words"] == [
        "New estimate: if one matrix describes the noise, about 19.0% of the labels are wrong (95% interval 17.0% to "
        "21.0%). Previous estimate: if one matrix describes the noise, about 21.0% of the labels are wrong (95% interval "
        "16.0% to 27.0%).",
        "The interval is 64% narrower than before.",
        "No kind of error is clearly more or less common than before.",
    ]


def test_an_estimate_that_fails_is_reported_and_can_be_begun_again(audit: Path, record: AuditRecord) -> None:
    results: list[RefitOutcome | Exception] = [ValueError("rows must be many, got 1"), _outcome(1)]

    def refit(_: object) -> RefitOutcome:
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    client = Client(audit, refit)
    client.decide(record.suspects[0].row, "7")
    client.post("/api/refit")
    assert _finished(client)["error"] == "rows must be many, got 1"
    client.post("/api/refit")
    assert _finished(client)["status"] == "done"
    client.close()


def test_without_a_callable_there_is_no_estimate(client: Client, record: AuditRecord) -> None:
    client.decide(record.suspects[0].row, "7")
    assert client.post("/api/refit").json() == {"started": False, "status": "unavailable"}
