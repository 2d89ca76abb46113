"""What the package index shows: the README with links that work outside the repository, and the project's addresses.

The addresses come from the environment of the build, so that every copy of the repository publishes its own:
`ORDINOISE_REPOSITORY` names it, and `ORDINOISE_DOCUMENTATION` its pages; the workflow `release` sets both. Without a
repository the package has no addresses, and relative links of the README, which would be broken, are left out: pictures
go with their captions, and a link stays as its words.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)(\n\n\*[^\n]+\*(?=\n))?")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


class PackagePage(MetadataHookInterface):
    """Called by hatchling when the package is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme and the addresses of the package."""
        repository = _address("ORDINOISE_REPOSITORY")
        text = long_description((Path(self.root) / "README.md").read_text(), repository, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = addresses(repository, _address("ORDINOISE_DOCUMENTATION"), metadata["version"])


def _address(variable: str) -> str | None:
    value = os.environ.get(variable, "").removesuffix("/")
    if value and not value.startswith("https://"):
        raise ValueError(f"{variable} must be an address that starts with https://, got {value!r}")
    return value or None


def addresses(repository: str | None, documentation: str | None, version: str) -> dict[str, str]:
    """The addresses of the project; the documentation is that of the repository if it has no pages of its own.

    Examples
    --------
    >>> addresses("https://example.org/o", None, "1.0")["Documentation"]
    'https://example.org/o/blob/v1.0/docs/index.md'
    >>> addresses(None, None, "1.0")
    {}
    """
    if repository is None:
        return {}
    return {
        "Repository": repository,
        "Documentation": documentation or f"{repository}/blob/v{version}/docs/index.md",
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/v{version}/CHANGELOG.md",
    }


def long_description(readme: str, repository: str | None, version: str) -> str:
    """The README with links to the files of that version in the repository, or without them.

    Examples
    --------
    >>> long_description("See [why](docs/why.md).", None, "1.0")
    'See why.'
    >>> long_description("See [why](docs/why.md).", "https://example.org/o", "1.0")
    'See [why](https://example.org/o/blob/v1.0/docs/why.md).'
    """
    if repository is None:
        return re.sub(r"\n{3,}", "\n\n", LINK.sub(r"\1", PICTURE.sub("", readme)))
    pictures = PICTURE.sub(rf"![\1]({repository}/raw/v{version}/\2)\3", readme)
    return LINK.sub(rf"[\1]({repository}/blob/v{version}/\2)", pictures)
