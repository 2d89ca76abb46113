"""The long description of the package: the README, with links that work outside the repository.

Relative links and pictures become absolute if `[project.urls]` in pyproject.toml names a `Repository`. Without one they
would be broken on PyPI: pictures, with their captions, are left out, and a link stays as its words.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)(\n\n\*[^\n]+\*(?=\n))?")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


class LongDescription(MetadataHookInterface):
    """Called by hatchling when the package is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme of the package."""
        repository = metadata.get("urls", {}).get("Repository")
        text = long_description((Path(self.root) / "README.md").read_text(), repository, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def long_description(readme: str, repository: str | None, version: str) -> str:
    """The README with links to the files of that version in the repository, or without them.

    Examples
    --------
    >>> long_description("See [why](docs/why.md).", None, "1.0")
    'See why.'
    >>> long_description("See [why](docs/why.md).", "https://example.org/o", "1.0")
    'See [why](https://example.org/o/blob/v1.0/docs/why.md).'
    """
    if not repository:
        return re.sub(r"\n{3,}", "\n\n", LINK.sub(r"\1", PICTURE.sub("", readme)))
    address = repository.removesuffix("/")
    pictures = PICTURE.sub(rf"![\1]({address}/raw/v{version}/\2)\3", readme)
    return LINK.sub(rf"[\1]({address}/blob/v{version}/\2)", pictures)
