"""What the product answers on small data with a fixed seed, to be compared before and after a change of its inside.

``python -m tools.golden --write FILE`` keeps a digest of the bytes of every answer, ``--check FILE`` compares them with
this code's and names those that differ. Digests are equal on one machine only: processors round differently. Hence
``--numbers tests/golden/numbers.json`` keeps the first rows as numbers, for a test with a tolerance.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from safetensors.numpy import load_file

from ordinoise import OrdinalClassifier, corrupt
from ordinoise.app.out_of_core.verbs import audit_parts, fit_parts
from ordinoise.app.records.history import Settled
from ordinoise.app.rounds.history import History
from ordinoise.app.verbs.audit import audit_file
from ordinoise.app.verbs.fit import FileAudit, estimate
from ordinoise.app.verbs.model import fit_file, predict_file
from ordinoise.app.verbs.raters import rate_file
from ordinoise.app.verbs.request import PredictionRequest, RatingsRequest, Request
from ordinoise.audit import issues_from_probabilities
from ordinoise.estimation import IdentifiabilityWarning
from ordinoise.noise import inverse_decay

Answers = dict[str, Any]
"""By name: an array, a table, or bytes."""
N_ROWS, N_KEPT = 180, 12
GRADES = np.array([1, 2, 3])
WORDS = (
    ("awful", "broken", "refund", "angry"),
    ("average", "usable", "plain", "okay"),
    ("superb", "lovely", "great", "happy"),
)


def graded_table(n_rows: int = N_ROWS, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    """Numbers, a category, a date and missing cells, with noisy grades; and the ranks of the true grades."""
    rng = np.random.default_rng(seed)
    numbers, kinds = rng.normal(size=(n_rows, 2)), rng.integers(3, size=n_rows)
    score = 2 * numbers[:, 0] + numbers[:, 1] + 0.7 * kinds + 0.2 * rng.normal(size=n_rows)
    true = np.digitize(score, np.quantile(score, [0.3, 0.7]))
    frame = pl.DataFrame({"x": numbers[:, 0].round(4), "y": numbers[:, 1].round(4)}).with_columns(
        pl.Series("kind", np.array(["red", "green", "blue"])[kinds]),
        pl.Series("day", np.datetime64("2024-01-01") + rng.integers(300, size=n_rows)),
        pl.Series("grade", GRADES[corrupt(true, inverse_decay(3, 0.12), random_state=rng)]),
    )
    is_there = pl.Series(rng.random(n_rows) > 0.1)
    return frame.with_columns(pl.when(is_there).then("y").alias("y")), true


def with_notes(frame: pl.DataFrame, true: np.ndarray) -> pl.DataFrame:
    """The noisy grades with free text whose words go with the true grade, instead of the other columns."""
    rng = np.random.default_rng(1)
    others = [f"word{number}" for number in range(40)]
    notes = []
    for rank in true:
        said = [str(rng.choice(WORDS[rank if rng.random() < 0.8 else rng.integers(3)])) for _ in range(2)]
        notes.append(" ".join(rng.permutation([*said, *rng.choice(others, 5)])))
    return frame.select("grade").with_columns(pl.Series("note", notes))


def _csv(folder: Path, frame: pl.DataFrame) -> Path:
    frame.write_csv(folder / "data.csv")
    return folder / "data.csv"


def _request(file: Path, **options: Any) -> Request:
    return Request(file, **{"target": "grade", "jobs": 1, **options})


def _model(model: OrdinalClassifier, folder: Path) -> Answers:
    """The arrays and settings of a saved model."""
    model.save(folder)
    found: Answers = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".safetensors":
            found |= {f"saved {name}": array for name, array in load_file(path).items()}
        else:
            found[f"saved {path.name}"] = path.read_bytes()
    return found


def _folder(out: Path) -> Answers:
    """The files of an audit or of a consensus."""
    found: Answers = {}
    for path in sorted(out.iterdir()):
        if path.suffix == ".csv":
            found[path.name] = pl.read_csv(path, infer_schema_length=None)
            found[f"bytes {path.name}"] = path.read_bytes()
        elif path.name == "labels.parquet":
            found[path.name] = pl.read_parquet(sorted(path.iterdir()))
        elif path.suffix == ".json":
            found[f"bytes {path.name}"] = json.dumps(json.loads(path.read_bytes()), sort_keys=True).encode()
        elif path.suffix == ".html":
            found[f"bytes {path.name}"] = path.read_bytes()
    return found


def _audit(found: FileAudit, out: Path) -> Answers:
    digest = found.table.digest.encode()  # of parts, it depends on where they lie
    files = {
        name: one.replace(digest, b"DIGEST") if isinstance(one, bytes) else one for name, one in _folder(out).items()
    }
    return {
        "predict_proba": found.model.predict_proba(found.table.features),
        "out_of_fold": found.probabilities,
        "noise matrix": found.model.noise_.matrix,
        "suspicion": found.issues.suspicion,
        **files,
        **_model(found.model, out.parent / "saved"),
    }


def table_case(folder: Path) -> Answers:
    """An audit of numbers, a category and a date, and the noise alone."""
    file = _csv(folder, graded_table()[0])
    answers = _audit(audit_file(_request(file), folder / "audit")[0], folder / "audit")
    return answers | {"noise alone": estimate(_request(file))[1].matrix}


def shuffled_case(folder: Path) -> Answers:
    """An audit of grades that have nothing to do with the columns."""
    frame, _ = graded_table()
    order = np.random.default_rng(0).permutation(N_ROWS)
    frame = frame.with_columns(frame["grade"][order])
    return _audit(audit_file(_request(_csv(folder, frame)), folder / "audit")[0], folder / "audit")


def text_case(folder: Path) -> Answers:
    """An audit of free text."""
    file = _csv(folder, with_notes(*graded_table()))
    return _audit(audit_file(_request(file, answer="corrected"), folder / "audit")[0], folder / "audit")


def items_case(folder: Path) -> Answers:
    """Audits of a file with several named raters per item: the vote, and all ratings learned together."""
    frame, true = graded_table(60)
    rng = np.random.default_rng(2)
    each = np.repeat(np.arange(60), 3)
    rates = np.tile([0.05, 0.1, 0.2], 60)
    seen = np.where(rng.random(180) < rates, np.clip(true[each] + rng.choice([-1, 1], 180), 0, 2), true[each])
    names: dict[str, Any] = {"item": [f"i{at}" for at in each], "rater": np.tile(["ann", "ben", "cy"], 60)}
    ratings = frame[each].with_columns(pl.Series("grade", GRADES[seen]), *(pl.Series(*one) for one in names.items()))
    file = _csv(folder, ratings)
    answers: Answers = {}
    for answer in ("auto", "corrected"):
        request = _request(file, item="item", rater="rater", answer=answer)
        place = folder / answer / "audit"
        place.parent.mkdir()
        answers |= {f"{answer} {name}": one for name, one in _audit(audit_file(request, place)[0], place).items()}
    return answers


def verified_case(folder: Path) -> Answers:
    """A fit of arrays with verified rows, its ONNX file, and a fit to a file with a review, as it predicts."""
    frame, true = graded_table()
    features, labels = frame.select("x", pl.col("y").fill_null(0.0)).to_numpy(), frame["grade"].to_numpy()
    rows = np.arange(0, N_ROWS, 3)
    model = OrdinalClassifier(learner="blend", n_folds=2, n_rounds=1, n_jobs=1, random_state=0)
    model.fit(features, labels, trusted=(rows, GRADES[true[rows]]))
    model.to_onnx(folder / "model.onnx")
    answers: Answers = {
        "predict_proba": model.predict_proba(features),
        "out_of_fold": model.out_of_fold_,
        "noise matrix": model.noise_.matrix,
        "bytes model.onnx": (folder / "model.onnx").read_bytes(),
        **_model(model, folder / "arrays"),
    }
    file = _csv(folder, frame)
    settled = (Settled(int(row), str(labels[row]), str(GRADES[true[row]]), "Ann") for row in rows[:20])
    found, _ = fit_file(_request(file, learner="mlp"), folder / "fit", history=History(tuple(settled)))
    of_fit = _audit(found, folder / "fit") | {
        "predictions": predict_file(PredictionRequest(folder / "fit", file, confidence=0.8))
    }
    return answers | {f"reviewed {name}": one for name, one in of_fit.items()}


def parts_case(folder: Path) -> Answers:
    """Audits of a folder of one and of three Parquet files, and a fit to three."""
    frame, _ = graded_table(240)
    answers: Answers = {}
    for n_files in (1, 3):
        place = folder / f"{n_files}"
        (place / "data").mkdir(parents=True)
        for at, rows in enumerate(np.array_split(np.arange(frame.height), n_files)):
            frame[rows].write_parquet(place / "data" / f"part-{at}.parquet")
        found, _ = audit_parts(_request(place / "data"), place / "audit")
        answers |= {f"{n_files} {name}": one for name, one in _audit(found, place / "audit").items()}
    fit_parts(_request(place / "data"), place / "fit")
    return answers | {"predictions": predict_file(PredictionRequest(place / "fit", place / "data" / "part-0.parquet"))}


def given_case(_: Path) -> Answers:
    """Probabilities of another model; of no use; with given noise; with verified rows."""
    rng = np.random.default_rng(3)
    frame, true = graded_table()
    labels = frame["grade"].to_numpy()
    chances = rng.dirichlet([0.5] * 3, N_ROWS) * 0.4 + 0.6 * np.eye(3)[true]
    useless = np.tile(np.bincount(true) / N_ROWS, (N_ROWS, 1))
    cases: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
        "estimated": (chances, {}),
        "useless": (useless, {}),
        "given": (chances, {"noise": inverse_decay(3, 0.12)}),
        "verified": (chances, {"trusted": (np.arange(40), GRADES[true[:40]])}),
    }
    answers: Answers = {}
    for name, (given, options) in cases.items():
        found = issues_from_probabilities(given, labels, random_state=0, **options)
        answers[f"{name} posterior"], answers[f"{name} rank"] = found.posterior, found.rank
        answers[f"{name} matrix"], answers[f"bytes {name}"] = found.noise.matrix, repr(found).encode()
    return answers


def raters_case(folder: Path) -> Answers:
    """The consensus of named raters with features of the items."""
    frame, true = graded_table(60)
    rng = np.random.default_rng(4)
    items = pl.Series("item", [f"i{at}" for at in range(60)])
    grades = {}
    for name, rate in (("ann", 0.05), ("ben", 0.15), ("cy", 0.3)):
        slips = np.clip(true + rng.choice([-1, 1], 60), 0, 2)
        grades[name] = GRADES[np.where(rng.random(60) < rate, slips, true)]
    frame.drop("grade").with_columns(items).write_csv(folder / "features.csv")
    file = _csv(folder, pl.DataFrame([items]).with_columns(pl.Series(*one) for one in grades.items()))
    request = RatingsRequest(file, item="item", wide=",".join(grades), features=folder / "features.csv")
    found, _ = rate_file(request, folder / "rated")
    return {"posterior": found.model.posterior_, "noise matrix": found.model.noise_.matrix, **_folder(folder / "rated")}


CASES: dict[str, Callable[[Path], Answers]] = {
    "table": table_case, "shuffled": shuffled_case, "text": text_case, "items": items_case, "verified": verified_case,
    "parts": parts_case, "given": given_case, "raters": raters_case,
}  # fmt: skip


def answers_of(case: str) -> Answers:
    """What the product answers in one case, with one thread and without its warnings."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        answers = CASES[case](Path(folder))
    place = folder.encode()
    return {name: one.replace(place, b"FOLDER") if isinstance(one, bytes) else one for name, one in answers.items()}


def digests(case: str) -> dict[str, str]:
    """A digest of the bytes of every answer of a case."""
    return {f"{case}: {name}": _digest(answer) for name, answer in answers_of(case).items()}


def numbers(case: str) -> dict[str, list[Any]]:
    """The first rows of the arrays and tables of a case, without the arrays of saved models."""
    found = {}
    for name, answer in answers_of(case).items():
        if isinstance(answer, pl.DataFrame):
            found[name] = [answer.columns, *([*row] for row in answer.head(N_KEPT).rows())]
        elif isinstance(answer, np.ndarray) and "saved" not in name:
            found[name] = answer[:N_KEPT].tolist()
    return found


def _digest(answer: Any) -> str:
    if isinstance(answer, pl.DataFrame):
        answer = answer.write_csv().encode()
    if isinstance(answer, np.ndarray):
        answer = f"{answer.dtype} {answer.shape}".encode() + np.ascontiguousarray(answer).tobytes()
    return hashlib.sha256(answer).hexdigest()


def main() -> None:
    """Write or check the digests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--check", type=Path, metavar="FILE")
    what.add_argument("--numbers", type=Path, metavar="FILE")
    parser.add_argument("cases", nargs="*", help=f"all by default: {', '.join(CASES)}")
    asked = parser.parse_args()
    cases = asked.cases or list(CASES)
    if asked.numbers is not None:
        plain = json.dumps({case: numbers(case) for case in cases}, default=str)
        asked.numbers.write_text(re.sub(r"\d\.\d{12}\d+(e-?\d+)?", lambda one: f"{float(one[0]):.12g}", plain) + "\n")
        return
    found = {name: digest for case in cases for name, digest in digests(case).items()}
    if asked.write is not None:
        asked.write.write_text(json.dumps(found, indent=1))
        return
    expected = {
        name: digest for name, digest in json.loads(asked.check.read_text()).items() if name.partition(":")[0] in cases
    }
    differ = [name for name in expected | found if expected.get(name) != found.get(name)]
    for name in differ:
        state = "missing" if name not in found else "new" if name not in expected else "other"
        sys.stdout.write(f"{state:8}{name}\n")
    sys.stdout.write(f"{len(expected) - len([one for one in differ if one in expected])} of {len(expected)} equal\n")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
