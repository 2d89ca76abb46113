"""Whatever is wrong with what a person passes: one sentence, exit code 2, and not a file more than before."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.cli.command import files_below, run
from ordinoise import OrdinalClassifier
from ordinoise.datasets import synthetic

SENTENCE = re.compile(r"^[\w' ]+ must .+, got .+\n$")
GOOD = "size,color,stars\n" + "".join(
    f"{i % 7 + i / 100},{'red' if i % 2 else 'blue'},{i % 4 + 1}\n" for i in range(80)
)
VERBS: dict[str, tuple[str, ...]] = {
    "audit": ("audit", "FILE", "--target", "stars", "--out", "new"),
    "fit": ("fit", "FILE", "--target", "stars", "--out", "new"),
    "noise": ("noise", "FILE", "--target", "stars"),
    "corrupt": ("corrupt", "FILE", "--target", "stars", "--out", "new.csv"),
}


def _text(old: str, new: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(GOOD.replace(old, new))


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no such file": (lambda path: path.unlink(missing_ok=True), "file must exist, got 'table.csv'"),
    "an empty file": (lambda path: path.write_text(""), "file must"),
    "a header only": (lambda path: path.write_text("size,color,stars\n"), "file must"),
    "an absent target": (_text(",stars\n", ",star\n"), "did you mean 'star' (4 values)?"),
    "a constant target": (
        lambda path: path.write_text("size,stars\n" + "".join(f"{i},3\n" for i in range(60))),
        "target must",
    ),
    "a text target without order": (
        lambda path: path.write_text(
            "size,stars\n" + "".join(f"{i},{'silver' if i % 2 else 'gold'}\n" for i in range(60))
        ),
        "--order",
    ),
    "a feature that is missing everywhere": (
        lambda path: path.write_text("size,empty,stars\n" + "".join(f"{i % 9},,{i % 3}\n" for i in range(60))),
        "--ignore empty",
    ),
    "an infinite value": (_text("\n0.0,", "\ninf,"), "inf"),
    "two names of a row of data": (_text("size,color", "5,5"), "--no-header"),
    "ten thousand grades": (
        lambda path: path.write_text("size,stars\n" + "".join(f"{i % 9},{i}\n" for i in range(10_000))),
        "10000",
    ),
    "a binary file": (lambda path: path.write_bytes(bytes(range(256)) * 20), "file must"),
    "an unreadable encoding": (
        lambda path: path.write_bytes(GOOD.replace("red", "\u8d64\u3044").encode("shift_jis")),
        "--encoding",
    ),
    "ragged rows": (_text("\n0.0,blue,1\n", "\n0.0,blue,1,9,9\n"), "file must"),
    "a folder": (Path.mkdir, "file must"),
    "a file that is no Parquet": (lambda path: path.write_bytes(b"PAR1" + b"\0" * 100), "file must"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("trouble", FILES)
def test_a_bad_file_is_one_sentence_and_leaves_nothing_behind(trouble: str, verb: str, folder: Path) -> None:
    make, words = FILES[trouble]
    make(folder / "table.csv")
    before = files_below(folder)
    result = run(*[word.replace("FILE", "table.csv") for word in VERBS[verb]])
    assert result.code == 2, result
    assert SENTENCE.match(result.err), result.err
    assert words in result.err
    assert result.out == ""
    assert files_below(folder) == before


OPTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "a grade that the order lacks": (("--order", "1,2,3"), "order"),
    "an order that names a grade twice": (("--order", "1,2,3,4,4"), "order must"),
    "an unknown learner": (("--learner", "bosting"), "did you mean 'boosting'?"),
    "an unknown decision": (("--decision", "modus"), "did you mean 'mode'?"),
    "a negative seed": (("--seed", "-1"), "seed must"),
    "an ignored column that is not there": (("--ignore", "colour"), "did you mean 'color' (2 values)?"),
    "a noise matrix that is not there": (("--noise", "matrix.csv"), "noise must"),
    "a noise matrix that is none": (("--noise", "table.csv"), "noise must"),
    "no jobs": (("--jobs", "0"), "jobs must"),
}


@pytest.mark.parametrize("trouble", OPTIONS)
def test_a_bad_option_is_one_sentence_and_leaves_nothing_behind(trouble: str, folder: Path) -> None:
    (folder / "table.csv").write_text(GOOD)
    options, words = OPTIONS[trouble]
    before = files_below(folder)
    result = run("audit", "table.csv", "--target", "stars", "--out", "new", *options)
    assert result.code == 2, result
    assert SENTENCE.match(result.err), result.err
    assert words in result.err
    assert files_below(folder) == before


@pytest.mark.parametrize("verb", ["audit", "fit", "corrupt"])
def test_an_output_that_exists_is_never_touched(verb: str, folder: Path) -> None:
    (folder / "table.csv").write_text(GOOD)
    (folder / "new").mkdir()
    (folder / "new" / "mine").write_text("precious")
    (folder / "new.csv").write_text("precious")
    before = files_below(folder)
    result = run(*[word.replace("FILE", "table.csv") for word in VERBS[verb]])
    assert result.code == 2
    assert result.err.startswith("out must not exist yet, got 'new")
    assert files_below(folder) == before


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as ``ordinoise fit`` writes it, in the least time."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "table.csv").write_text(GOOD)
    words = ("--target", "stars", "--learner", "mlp", "--noise", "none", "--out", str(folder / "model"))
    result = run("fit", str(folder / "table.csv"), *words)
    assert result.code == 0, result.err
    return folder / "model"


def _copy(model: Path, folder: Path) -> Path:
    copy = folder / "model"
    copy.mkdir()
    for part in model.iterdir():
        (copy / part.name).write_bytes(part.read_bytes())
    return copy


def _of_version(version: int, file: str) -> Callable[[Path], object]:
    def change(model: Path) -> None:
        content = json.loads((model / file).read_text())
        content["format_version"] = version
        (model / file).write_text(json.dumps(content))

    return change


ANOTHER = "it was written by another version of ordinoise"
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (lambda model: model.rename(model.with_name("elsewhere")), "path must be a model folder"),
    "no settings": (lambda model: (model / "model.json").unlink(), "the folder is damaged"),
    "settings cut short": (lambda model: (model / "model.json").write_text('{"format": '), "the folder is damaged"),
    "arrays cut short": (
        lambda model: (model / "arrays.safetensors").write_bytes((model / "arrays.safetensors").read_bytes()[:100]),
        "the folder is damaged",
    ),
    "no task": (lambda model: (model / "task.json").unlink(), "model must hold task.json"),
    "a task cut short": (lambda model: (model / "task.json").write_text("{"), "the folder is damaged"),
    "a task of another kind": (lambda model: (model / "task.json").write_text("[1]"), "the folder is damaged"),
    "a newer model": (_of_version(99, "model.json"), f"format version 4, got 99; {ANOTHER}; fit the model again"),
    "an older model": (_of_version(1, "model.json"), f"format version 4, got 1; {ANOTHER}; fit the model again"),
    "a newer task": (_of_version(99, "task.json"), f"format version 4, got 99; {ANOTHER}; fit the model again"),
    "an older task": (_of_version(1, "task.json"), f"format version 4, got 1; {ANOTHER}; fit the model again"),
}


@pytest.mark.parametrize("verb", ["predict", "evaluate"])
@pytest.mark.parametrize("trouble", DAMAGE)
def test_a_damaged_model_is_one_sentence(trouble: str, verb: str, model: Path, folder: Path) -> None:
    copy = _copy(model, folder)
    change, words = DAMAGE[trouble]
    change(copy)
    (folder / "table.csv").write_text(GOOD)
    before = files_below(folder)
    result = run(verb, "model", "table.csv", *(("--out", "out.csv") if verb == "predict" else ()))
    assert result.code == 2, result
    assert SENTENCE.match(result.err), result.err
    assert words in result.err
    assert files_below(folder) == before


NEW_FILES: dict[str, tuple[str, str]] = {
    "a missing column": (GOOD.replace("size", "sizes"), "did you mean 'sizes'?"),
    "text where numbers were": (re.sub(r"\n\d", "\nhuge", GOOD), "huge"),
    "an infinite value": (GOOD.replace("\n0.0,", "\n-inf,"), "inf"),
    "a column with the name of an answer": (
        GOOD.replace("color,", "color,predicted_stars,").replace("e,", "e,1,"),
        "rename",
    ),
}


@pytest.mark.parametrize("trouble", ["a missing column", "text where numbers were", "an infinite value"])
def test_new_rows_that_do_not_fit_are_one_sentence(trouble: str, model: Path, folder: Path) -> None:
    text, words = NEW_FILES[trouble]
    (folder / "new.csv").write_text(text)
    result = run("predict", str(model), "new.csv", "--out", "out.csv")
    assert result.code == 2, result
    assert SENTENCE.match(result.err), result.err
    assert words in result.err
    assert not (folder / "out.csv").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no small disk could be mounted: that takes root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("verb", ["fit", "audit", "corrupt", "predict", "data"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing_behind(
    verb: str, model: Path, small_disk: Path, folder: Path
) -> None:
    (folder / "table.csv").write_text(GOOD.replace("red", "red" * 400))
    words = {
        "fit": ("fit", "table.csv", "--target", "stars", "--learner", "mlp", "--noise", "none"),
        "audit": ("audit", "table.csv", "--target", "stars", "--learner", "mlp", "--noise", "none"),
        "corrupt": ("corrupt", "table.csv", "--target", "stars"),
        "predict": ("predict", str(model), "table.csv"),
        "data": ("data", "synthetic"),
    }[verb]
    (small_disk / "ballast").write_bytes(bytes(40_000))
    result = run(*words, "--out", str(small_disk / ("new" if verb in ("fit", "audit") else "new.csv")))
    assert result.code == 2, result
    assert SENTENCE.match(result.err), result.err
    assert "No space left" in result.err
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


def test_a_model_that_the_library_saved_says_what_it_lacks(folder: Path) -> None:
    data = synthetic(20, random_state=0)
    OrdinalClassifier("mlp", noise=None, n_folds=2, n_rounds=1, random_state=0).fit(data.features, data.labels).save(
        "m"
    )
    (folder / "table.csv").write_text(GOOD)
    result = run("predict", "m", "table.csv")
    assert result.code == 2
    assert result.err == "model must hold task.json, got 'm'; ordinoise fit writes one\n"


def test_our_own_faults_exit_with_70(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "table.csv").write_text(GOOD)

    def broken(*_: object, **__: object) -> None:
        raise TypeError("a bug")

    monkeypatch.setattr("ordinoise.app.verbs.fit.estimate", broken)
    result = run("noise", "table.csv", "--target", "stars")
    assert (result.code, result.err) == (
        70,
        "ordinoise failed with TypeError: a bug; ORDINOISE_TRACEBACK=1 shows where\n",
    )


@pytest.mark.parametrize(
    "words", [("nosuch",), ("audit",), ("noise", "a.csv", "--target", "x", "--bogus"), ("plan", "--classes", "x")]
)
def test_words_that_no_verb_knows_exit_with_2(words: tuple[str, ...], folder: Path) -> None:
    result = run(*words)
    assert result.code == 2
    assert "Traceback" not in result.err
    assert list(folder.iterdir()) == []
