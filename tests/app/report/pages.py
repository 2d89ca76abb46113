"""A page taken apart: its elements with their attributes and texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

EMPTY = {"meta", "input", "link", "br", "img", "hr"}


@dataclass
class Element:
    """An element with its parent chain, so that a test can ask where it stands."""

    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it, with single spaces."""
        return " ".join("".join(self.pieces).split())


class Page(HTMLParser):
    """Every element of a page in order; an end tag that fits no open element is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html)
        self.close()
        assert not self._open, [element.tag for element in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parents = tuple(element.tag for element in self._open)
        element = Element(tag, {key: value or "" for key, value in attrs}, parents)
        self.elements.append(element)
        if tag not in EMPTY:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.pieces.append(data)

    def all(self, *tags: str) -> list[Element]:
        """Elements of these kinds, in order."""
        return [element for element in self.elements if element.tag in tags]

    def one(self, identity: str) -> Element:
        """The element with an id."""
        (found,) = [element for element in self.elements if element.attributes.get("id") == identity]
        return found

    def rows_of(self, css_class: str) -> list[list[Element]]:
        """Cells of the body of the table with a class, row by row."""
        rows: list[list[Element]] = []
        inside = False
        for element in self.elements:
            if element.tag == "table":
                inside = css_class in element.attributes.get("class", "").split()
            elif inside and element.tag == "tr" and "tbody" in element.parents:
                rows.append([])
            elif inside and element.tag in {"td", "th"} and "tbody" in element.parents:
                rows[-1].append(element)
        return rows
