"""Label Studio's JSON: grades from an export, and tasks with a grade as a prediction, ready to import.

An export is a list of tasks, ``{"id", "data", "annotations": [{"completed_by", "was_cancelled", "result": [...]}]}``; a
result is ``{"id", "from_name", "to_name", "type", "value"}``. See "Label Studio task format" and "Import pre-annotated
data" in its documentation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ordinoise._validation import complain
from ordinoise.app.tables.source import check_size, head_of, open_text
from ordinoise.columns.names import listed, meant

MOST_TAGS = 1000  # each is looked for in every task; a round number, chosen by no run
KEPT = ("id", "data")
KINDS = ("choices", "rating", "number")
"""Types of results that hold a grade; the value is under the key of the same name."""


@dataclass(frozen=True, eq=False)
class Exported:
    """What an export says beyond the grades.

    Attributes
    ----------
    tag, to_name : str
        Names of the control tag that records the grade, and of the object that is graded.
    kind : {"choices", "rating", "number"}
        Type of the results.
    tasks : tuple of dict
        Id and data of each task with grades.
    """

    tag: str
    to_name: str
    kind: str
    tasks: tuple[Mapping[str, Any], ...]


def is_json(path: Path) -> bool:
    """Whether a file begins as a list in JSON does."""
    return head_of(path).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["


def exported_grades(path: Path, item: str | None, tag: str | None) -> tuple[pl.DataFrame, pl.DataFrame, Exported, str]:
    """Grades, tasks, the rest and the digest of a Label Studio export.

    Parameters
    ----------
    item : str, optional
        Field of the tasks' data that names the items; their ids by default.
    tag : str, optional
        Name of the control tag with the grade; needed if there are several.

    Returns
    -------
    grades : polars.DataFrame
        Columns task (number), rater and grade (text), one row per grade.
    tasks : polars.DataFrame
        Column name, and the fields of the data as text, one row per task.
    exported : Exported
    digest : str
    """
    text, digest = open_text(path)
    tasks = _tasks(path, text)
    tag, to_name, kind = _tag(tasks, tag)
    grades = [
        (number, _rater(annotation), grade)
        for number, task in enumerate(tasks)
        for annotation in _annotations(task)
        if (grade := _grade(annotation, tag, number)) is not None
    ]
    frame = pl.DataFrame(grades, schema={"task": pl.Int64, "rater": pl.String, "grade": pl.String}, orient="row")
    kept: tuple[dict[str, Any], ...] = tuple({key: task[key] for key in KEPT if key in task} for task in tasks)
    return frame, _task_frame(tasks, item), Exported(tag, to_name, kind, kept), digest


def task_table(path: Path, text: bytes) -> pl.DataFrame:
    """An export with one annotation per task as a table: the fields of the data, and one column of grades per tag."""
    tasks = _tasks(path, text)
    frame = _task_frame(tasks, None).drop("name")
    frame = frame.rename({"name_": "name"}) if "name" in tasks[0]["data"] else frame
    for tag, name in _columns(tasks).items():
        grades = [_only_grade(task, tag, number) for number, task in enumerate(tasks)]
        frame = frame.with_columns(pl.Series(name, grades, dtype=pl.String))
    return frame


def _columns(tasks: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The name of the column for the grades of each tag: its own, with an underscore where the data has that name."""
    fields = {str(key) for task in tasks for key in task["data"]}
    names = {}
    for tag in _tags(tasks):
        names[tag] = tag
        while names[tag] in fields:
            names[tag] += "_"
    return names


def _only_grade(task: Mapping[str, Any], tag: str, number: int) -> str | None:
    grades = [grade for one in _annotations(task) if (grade := _grade(one, tag, number)) is not None]
    if len(grades) > 1:
        advice = "use ordinoise raters for several raters; tasks are numbered from 0"
        raise complain("file", "have one grade per task", f"{len(grades)} in task {number}", advice)
    return grades[0] if grades else None


def suggested_tasks(
    path: Path, target: str, rows: Sequence[int], grades: Sequence[str], scores: Sequence[float], version: str
) -> list[dict[str, Any]]:
    """Some tasks of an export, with another grade as a prediction, in the form that Label Studio imports."""
    tasks = _tasks(path, open_text(path)[0])
    tag, to_name, kind = _tag(tasks, _tag_of(tasks, target))
    kept = tuple({key: tasks[row][key] for key in KEPT if key in tasks[row]} for row in rows)
    names = [str(row) for row in rows]
    return import_tasks(
        Exported(tag, to_name, kind, kept), names, pl.DataFrame(), grades, scores, version, "suggestion"
    )


def tasks_with(path: Path, target: str, grades: Mapping[int, str]) -> bytes:
    """The export with other grades in the annotations of some tasks, by their numbers.

    A task without a grade gets one: in its first annotation that was not cancelled, or in a new one.
    """
    tasks = _tasks(path, open_text(path)[0])
    tag, to_name, kind = _tag(tasks, _tag_of(tasks, target))
    for row, grade in grades.items():
        found = [one for annotation in _annotations(tasks[row]) for one in _results(annotation) if _is_of(one, tag)]
        result = next((one for one in found if _value(one) is not None), found[0] if found else None)
        if result is None:
            result = {"from_name": tag, "to_name": to_name, "type": kind, "value": {}}
            _first_annotation(tasks[row])["result"].append(result)
        result["value"][result["type"]] = [grade] if result["type"] == "choices" else _number(grade)
    return json.dumps(tasks, ensure_ascii=False, indent=1).encode()


def _first_annotation(task: dict[str, Any]) -> Mapping[str, Any]:
    """The first annotation of a task that was not cancelled; a new one if there is none."""
    found = next(_annotations(task), None)
    if found is None:
        found = {"was_cancelled": False, "result": []}
        task["annotations"] = [*(task["annotations"] if isinstance(task.get("annotations"), list) else []), found]
    return found


def _tag_of(tasks: Sequence[Mapping[str, Any]], target: str) -> str:
    """The tag whose grades are in a column."""
    return next((tag for tag, name in _columns(tasks).items() if name == target), target)


def _tasks(path: Path, text: bytes) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
        if b"\\ud" in text.lower():
            json.dumps(
                found, ensure_ascii=False
            ).encode()  # half a character, which JSON can spell and no file can hold
    except UnicodeEncodeError:
        raise complain("file", "hold whole characters", f"half of one (\\ud800 to \\udfff) in {str(path)!r}") from None
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise complain(
            "file", "be a table or a Label Studio export", f"damaged JSON in {str(path)!r}: {reason}"
        ) from None
    tasks: list[dict[str, Any]] = found if isinstance(found, list) else []
    is_export = all(isinstance(task, dict) and isinstance(task.get("data"), dict) for task in tasks)
    if not tasks or not is_export or not any(list(_annotations(task)) for task in tasks):
        advice = "export the project as JSON, not JSON-MIN"
        got = f"JSON without tasks that have data and annotations in {str(path)!r}"
        raise complain("file", "be a table or a Label Studio export", got, advice)
    fields, n_tags = {key for task in tasks for key in task["data"]}, len(_tags(tasks))
    check_size(path, len(tasks), len(fields) + n_tags, len(text))
    if n_tags > MOST_TAGS:
        raise complain("file", f"have at most {MOST_TAGS} control tags with grades", f"{n_tags} in {str(path)!r}")
    return tasks


def _annotations(task: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The annotations of a task that were not cancelled."""
    found = task.get("annotations")
    for one in found if isinstance(found, list) else []:
        if isinstance(one, dict) and not one.get("was_cancelled") and isinstance(one.get("result"), list):
            yield one


def _results(annotation: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for one in annotation["result"]:
        if isinstance(one, dict) and one.get("type") in KINDS and isinstance(one.get("value"), dict):
            yield one


def _is_of(result: Mapping[str, Any], tag: str) -> bool:
    return str(result.get("from_name")) == tag


def _value(result: Mapping[str, Any]) -> object:
    """The grade of a result as it is stored; None without one."""
    value = result["value"].get(result["type"])
    return None if isinstance(value, list) and not value else value


def _tags(tasks: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Object and type of every control tag with grades, by its name."""
    results = (one for task in tasks for annotation in _annotations(task) for one in _results(annotation))
    return {str(one.get("from_name")): (str(one.get("to_name")), str(one["type"])) for one in results}


def _tag(tasks: Sequence[Mapping[str, Any]], wanted: str | None) -> tuple[str, str, str]:
    """Name, object and type of the control tag with the grade."""
    found = _tags(tasks)
    if not found:
        raise complain("file", f"have results of type {listed(KINDS)}", "none")
    if wanted is None and len(found) > 1:
        raise complain("grade", "name the control tag with the grade", f"none of {listed(sorted(found))}")
    name = next(iter(found)) if wanted is None else wanted
    if name not in found:
        advice = meant(name, found) or f"they are {listed(sorted(found))}"
        raise complain("grade", "name a control tag of the export", repr(name), advice)
    return name, *found[name]


def _grade(annotation: Mapping[str, Any], tag: str, task: int) -> str | None:
    """The grade of an annotation as text; None if it has none."""
    values = [_value(one) for one in _results(annotation) if _is_of(one, tag)]
    if not values:
        return None
    value = values[0]
    if isinstance(value, list):
        if len(value) > 1:
            got = f"{listed(value)} in task {task}"
            raise complain("file", "have one choice per annotation", got, "tasks are numbered from 0")
        value = value[0]
    if len(values) > 1 or isinstance(value, (dict, list)):
        raise complain("file", "have one grade per annotation", f"several in task {task}", "tasks are numbered from 0")
    return None if value is None else str(value)


def _rater(annotation: Mapping[str, Any]) -> str:
    """Who made an annotation: e-mail address or id of ``completed_by``."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return "unknown" if who is None else str(who)


def _task_frame(tasks: Sequence[Mapping[str, Any]], item: str | None) -> pl.DataFrame:
    fields = list(dict.fromkeys(str(key) for task in tasks for key in task["data"]))
    if item is not None and item not in fields:
        raise complain("item", "name a field of the tasks' data", repr(item), meant(item, fields))
    cells = {key: [_text(task["data"].get(key)) for task in tasks] for key in fields}
    names = cells[item] if item is not None else [_text(task.get("id", at)) for at, task in enumerate(tasks)]
    if None in names or len(set(names)) < len(names):
        raise complain("item", "name every task differently", "a name that is missing or used twice")
    columns = {"name": names} | {(f"{key}_" if key == "name" else key): cells[key] for key in fields if key != item}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def import_tasks(
    exported: Exported | None, items: Sequence[str], cells: pl.DataFrame, grades: Sequence[Any],
    confidence: Sequence[float], version: str, what: str = "consensus",
) -> list[dict[str, Any]]:  # fmt: skip
    """Tasks with a grade as a prediction, in the form that Label Studio imports.

    Tasks of an export keep their id and data; other items get the field ``item`` and their cells as data, for a control
    tag ``grade`` on an object ``item``.
    """
    tag, to_name, kind = ("grade", "item", "choices") if exported is None else (
        exported.tag, exported.to_name, exported.kind
    )  # fmt: skip
    tasks: list[dict[str, Any]] = []
    about = cells.to_dicts() if cells.width else [{} for _ in items]
    for at, (item, grade, score) in enumerate(zip(items, grades, confidence, strict=True)):
        task = dict(exported.tasks[at]) if exported is not None else {"data": {**about[at], "item": item}}
        result = {"id": f"{what}-{at}", "from_name": tag, "to_name": to_name, "type": kind}
        value = [str(grade)] if kind == "choices" else _number(grade)
        prediction = {"model_version": version, "score": score, "result": [{**result, "value": {kind: value}}]}
        tasks.append(task | {"predictions": [prediction]})
    return tasks


def _number(grade: object) -> float | int:
    try:
        number = float(str(grade))
    except ValueError:
        raise complain("grade", "be a number where Label Studio has a rating or a number", repr(grade)) from None
    return int(number) if number.is_integer() else number


def with_reviewed(tasks: list[dict[str, Any]], grades: Mapping[int, str]) -> list[dict[str, Any]]:
    """Tasks of `import_tasks` whose predictions have the reviewed grades of some of them, by their positions."""
    for at, grade in grades.items():
        prediction = tasks[at]["predictions"][0]
        result = prediction["result"][0]
        kind = result["type"]
        result["value"] = {kind: [grade] if kind == "choices" else _number(grade)}
        prediction |= {"score": 1.0, "model_version": f"{prediction['model_version']}, reviewed"}
    return tasks
