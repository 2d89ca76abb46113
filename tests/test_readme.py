"""The README's code runs as it stands, and its links work where it is shown."""

import doctest
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ordinoise
from ordinoise.noise import inverse_decay

README = Path(__file__).parents[1] / "README.md"


def _blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


def _printed(block: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    exec(compile(block, str(README), "exec"), {})
    return capsys.readouterr().out.splitlines()


def test_the_first_example_learns_finds_the_noise_and_ranks_the_labels(capsys: pytest.CaptureFixture[str]) -> None:
    accuracy, phrase, *rest = _printed(_blocks()[0], capsys)
    assert float(accuracy) > 0.95
    assert re.search(r"if one matrix describes the noise, about 3\d\.\d% of the labels are wrong", phrase)
    np.testing.assert_allclose(
        np.array([row.split() for row in rest[:4]], dtype=float), inverse_decay(4, 0.15), atol=0.05
    )
    assert "suggested" in " ".join(rest[4:])


def test_the_example_with_a_model_of_your_own_says_how_many_labels_are_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    headline, names, *_ = _printed(_blocks()[1], capsys)
    assert re.search(r"LabelIssues: between \d+ and \d+ of 600 labels are wrong", headline)
    assert "suggested" in names


def test_every_make_target_named_in_the_readme_exists() -> None:
    makefile = (README.parent / "Makefile").read_text()
    for target in re.findall(r"make ([a-z]+)", README.read_text()):
        assert f"\n{target}:" in makefile


@pytest.mark.parametrize(
    "workflow", sorted((README.parent / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem
)
def test_every_step_of_a_workflow_is_a_make_target(workflow: Path) -> None:
    makefile, steps = (README.parent / "Makefile").read_text(), re.findall(r"run: (.*)", workflow.read_text())
    assert steps
    for step in steps:
        assert re.fullmatch(r"make [a-z]+", step), step
        assert f"\n{step.removeprefix('make ')}:" in makefile


def test_every_file_linked_from_the_readme_exists() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (README.parent / link).exists(), link


# What PyPI shows ----------------------------------------------------------------------------------------


def _relative(text: str) -> list[str]:
    return re.findall(r"\]\((?!https?:)([^)]+)\)", text)


def test_the_long_description_has_no_relative_link_with_or_without_an_address() -> None:
    description = pytest.importorskip("tools.package_page", reason="needs hatchling")
    readme = README.read_text()
    assert _relative(readme)
    assert _relative(description.long_description(readme, None, "1.0")) == []
    linked = description.long_description(readme, "https://example.org/ordinoise", "1.0")
    assert _relative(linked) == []
    assert linked.count("https://example.org/ordinoise/raw/v1.0/docs/_static/") == readme.count("](docs/_static/")
    assert doctest.testmod(description).failed == 0


def test_without_an_address_no_picture_and_no_caption_is_left() -> None:
    description = pytest.importorskip("tools.package_page", reason="needs hatchling")
    text = description.long_description(
        "One.\n\n![A](a.png)\n\n*A caption.*\n\n[Two](b.md) and *three*.\n", None, "1.0"
    )
    assert text == "One.\n\nTwo and *three*.\n"


def test_the_addresses_come_from_the_environment_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = pytest.importorskip("tools.package_page", reason="needs hatchling").PackagePage(README.parent, {})
    for variable in ("ORDINOISE_REPOSITORY", "ORDINOISE_DOCUMENTATION"):
        monkeypatch.delenv(variable, raising=False)
    bare: dict[str, Any] = {"version": "1.0"}
    hook.update(bare)
    assert bare["urls"] == {}
    monkeypatch.setenv("ORDINOISE_REPOSITORY", "https://example.org/o/")
    linked: dict[str, Any] = {"version": "1.0"}
    hook.update(linked)
    assert set(linked["urls"].values()) == {
        "https://example.org/o",
        "https://example.org/o/issues",
        "https://example.org/o/blob/v1.0/CHANGELOG.md",
        "https://example.org/o/blob/v1.0/docs/index.md",
    }
    assert "https://example.org/o/blob/v1.0/docs/why.md" in linked["readme"]["text"]
    monkeypatch.setenv("ORDINOISE_DOCUMENTATION", "https://pages.example.org/o/")
    hook.update(linked)
    assert linked["urls"]["Documentation"] == "https://pages.example.org/o"
    monkeypatch.setenv("ORDINOISE_REPOSITORY", "javascript:alert(1)")
    with pytest.raises(ValueError, match="ORDINOISE_REPOSITORY must be an address that starts with https://, got"):
        hook.update(linked)


def test_a_release_names_the_repository_that_it_is_built_in() -> None:
    release = (README.parent / ".github" / "workflows" / "release.yml").read_text()
    assert "ORDINOISE_REPOSITORY: ${{ github.server_url }}/${{ github.repository }}" in release


def test_the_version_is_the_same_in_the_package_the_changelog_and_the_citation() -> None:
    changelog, citation = ((README.parent / name).read_text() for name in ("CHANGELOG.md", "CITATION.cff"))
    headings = re.findall(r"^## (.*)", changelog, flags=re.M)
    assert headings[0] == "Unreleased"
    assert headings[1].split()[0] == ordinoise.__version__
    assert re.findall(r"^version: (.*)", citation, flags=re.M) == [ordinoise.__version__]


def test_every_python_of_the_classifiers_is_in_the_matrix_of_the_workflow() -> None:
    project = tomllib.loads((README.parent / "pyproject.toml").read_text())["project"]
    named = [text.split(" :: ")[2] for text in project["classifiers"] if re.search(r":: 3\.\d+", text)]
    workflow = (README.parent / ".github" / "workflows" / "test.yml").read_text()
    assert re.findall(r'"(3\.\d+)"', re.findall(r"python: \[.*\]", workflow)[0]) == named
