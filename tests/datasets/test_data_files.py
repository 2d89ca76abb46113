from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ordinoise.datasets import MissingFileError
from ordinoise.datasets.files import DataFile, locate, read_numbers, verified
from ordinoise.datasets.paper import abalone, boston

TEXT = "1,2\n3,4\n5,6\n"
FILE = DataFile("paper/deep/small.csv", 3, hashlib.sha256(TEXT.encode()).hexdigest(), "nowhere")


def put(folder: Path, text: str = TEXT) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small.csv").write_text(text)
    return folder / "small.csv"


def test_the_file_is_found_from_every_folder_on_the_way_down(tmp_path: Path) -> None:
    path = put(tmp_path / "paper" / "deep")
    for folder in (tmp_path, tmp_path / "paper", tmp_path / "paper" / "deep"):
        assert locate(FILE, folder) == path
        assert locate(FILE, str(folder)) == path


def test_the_environment_names_the_folder_where_no_data_dir_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORDINOISE_DATA", str(tmp_path))
    path = put(tmp_path)
    assert locate(FILE) == path


def test_data_dir_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "environment")
    monkeypatch.setenv("ORDINOISE_DATA", str(tmp_path / "environment"))
    path = put(tmp_path / "argument")
    assert locate(FILE, tmp_path / "argument") == path


def test_an_absent_file_is_named_with_the_folder_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError) as error:
        abalone(tmp_path)
    sentence = str(error.value)
    assert sentence.startswith("data_dir must hold 'abalone.data'")
    assert f"got '{tmp_path}' without it" in sentence
    assert "set ORDINOISE_DATA" in sentence
    assert "fetch=True" in sentence
    assert "\n" not in sentence


def test_an_absent_folder_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"got '.*nowhere', which is not a folder"):
        boston(tmp_path / "nowhere")


def test_an_error_blames_the_variable_that_named_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDINOISE_DATA", str(tmp_path))
    with pytest.raises(MissingFileError, match=r"^ORDINOISE_DATA must hold 'housing.data'"):
        boston()


@pytest.mark.usefixtures("no_data_variable")
def test_no_folder_at_all_is_one_sentence() -> None:
    with pytest.raises(MissingFileError, match=r"^data_dir must hold 'housing.data'.* got None and no ORDINOISE"):
        boston()


def test_the_archives_file_passes_and_no_other_does(tmp_path: Path) -> None:
    path = put(tmp_path)
    assert verified(FILE, tmp_path) == path
    put(tmp_path, TEXT.replace("6", "7"))
    with pytest.raises(ValueError, match=r"must be the archive's file of 3 rows .* got 3 rows .*verify=False"):
        verified(FILE, tmp_path)
    assert verified(FILE, tmp_path, verify=False) == path


def test_a_truncated_file_is_refused_with_its_number_of_rows(tmp_path: Path) -> None:
    put(tmp_path, TEXT[:8])
    with pytest.raises(ValueError, match=r"small.csv must be the archive's file of 3 rows .* got 2 rows"):
        verified(FILE, tmp_path)


def test_header_lines_are_not_counted_as_rows(tmp_path: Path) -> None:
    text = "a,b\n" + TEXT
    put(tmp_path, text)
    file = DataFile("small.csv", 3, hashlib.sha256(text.encode()).hexdigest(), "nowhere", n_header=1)
    assert verified(file, tmp_path).name == "small.csv"


def test_numbers_and_letters_are_read(tmp_path: Path) -> None:
    path = put(tmp_path, "M,2\n\nI,4.5\n")
    assert read_numbers(path, 2, codes={"M": 0.0, "I": 2.0}).tolist() == [[0, 2], [2, 4.5]]
    assert read_numbers(put(tmp_path, " 1   2\n 3 4\n"), 2, None).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "an empty file"),
        ("1,2\n3\n", "one that does not parse"),
        ("1,x\n", "one that does not parse"),
        ("1,2,3\n", "rows of 3"),
        ("1,nan\n", "nan"),
    ],
)
def test_a_file_that_is_no_table_of_numbers_is_one_sentence(tmp_path: Path, text: str, got: str) -> None:
    with pytest.raises(ValueError, match=f"^small.csv must hold rows of 2 finite numbers, got {got}") as error:
        read_numbers(put(tmp_path, text), 2)
    assert "\n" not in str(error.value)


def test_an_unknown_letter_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"small.csv must hold rows of 2 finite numbers, got one that does not"):
        read_numbers(put(tmp_path, "Q,1\n"), 2, codes={"M": 0.0})
