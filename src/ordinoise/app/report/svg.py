"""Charts as inline SVG: drawn by matplotlib, colored by the style sheet of the page."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from ordinoise._interrupts import waiting_signals
from ordinoise.displays.style import Palette
from ordinoise.displays.style import remove_frame as remove_frame

# Placeholder colors, replaced by variables of the style sheet, so that one drawing works in light and dark mode.
INK, MUTED, LINE, ACCENT, WRONG, SURFACE = (f"#01000{place}" for place in range(1, 7))
VARIABLES = {INK: "ink", MUTED: "muted", LINE: "line", ACCENT: "accent", WRONG: "wrong", SURFACE: "surface"}
PAGE = Palette(INK, MUTED, ACCENT, WRONG, SURFACE)
# The parts of viridis that are readable on a light and on a dark page; chosen by eye.
ON_LIGHT, ON_DARK = (0.0, 0.58), (0.42, 1.0)

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 12.5,
    # A dollar sign in the name of a grade does not start a formula.
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": LINE,
    "axes.linewidth": 1.0,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.8,
}
_GRADE = re.compile(r"#02([0-9a-f]{4})")
_FAMILY = re.compile(r"font-family:[^;]*;?")
# Older versions of matplotlib write size and family in one property.
_SHORTHAND = re.compile(r"font:[^;]*?([\d.]+px)[^;]*")
_LONG_FRACTION = re.compile(r"(\d\.\d\d)\d+")


@dataclass(frozen=True)
class Chart:
    """A chart and its caption.

    Attributes
    ----------
    drawing : str
        Inline SVG; all its text is escaped.
    caption : str
        How to read it.
    """

    drawing: str
    caption: str


def grade_color(grade: int) -> str:
    """The placeholder color of a grade, which the page replaces by one color for light and one for dark mode."""
    return f"#02{grade:04x}"


def grade_colors(n_classes: int, ends: tuple[float, float]) -> list[str]:
    """Colors of the grades in order, evenly spaced on a part of viridis."""
    return [to_hex(color) for color in colormaps["viridis"](np.linspace(*ends, max(n_classes, 2)))][:n_classes]


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """A figure of `width` times `height` pixels in the style of the page."""
    with rc_context(_SETTINGS), warnings.catch_warnings():
        # The browser draws the text, with letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph ")
        figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        yield figure


def chart(name: str, figure: Figure, alt: str, caption: str) -> Chart:
    """A finished figure as inline SVG with an alternative text.

    Wide charts keep a minimal width at which their text is readable; the page scrolls them.
    """
    content = io.BytesIO()
    # No date and no random ids: the same findings give the same page.
    with rc_context({**_SETTINGS, "svg.hashsalt": name}), warnings.catch_warnings(), waiting_signals():
        warnings.filterwarnings("ignore", message="Glyph ")
        figure.savefig(content, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    root = ElementTree.fromstring(content.getvalue())
    _tidy(root, name)
    width = float(root.attrib["viewBox"].split()[2])
    size = f"max-width: {1.1 * width:.0f}px; min-width: {min(512.0, 0.72 * width):.0f}px"
    root.attrib.update({"role": "img", "aria-label": alt, "style": size})
    return Chart(ElementTree.tostring(root, encoding="unicode"), caption)


def _tidy(root: ElementTree.Element, name: str) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in {"metadata", "style"}:
                parent.remove(child)
    elements = list(root.iter())
    referred = set(re.findall(r"#([\w-]+)", " ".join(_references(elements))))
    for element in elements:
        element.tag = _local(element.tag)
        element.attrib = {_local(key): value for key, value in element.attrib.items()}
        element.tail = None
        element.text = element.text if element.tag == "text" else None
        _tidy_attributes(element, name, referred)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)


def _references(elements: list[ElementTree.Element]) -> Iterator[str]:
    for element in elements:
        yield from (value for key, value in element.attrib.items() if _local(key) != "id" and "#" in value)


def _tidy_attributes(element: ElementTree.Element, name: str, referred: set[str]) -> None:
    attributes = element.attrib
    if "id" in attributes:
        identity = attributes.pop("id")
        if identity in referred:
            attributes["id"] = f"{name}-{identity}"
    for key in attributes.keys() - {"id"}:
        value = attributes[key]
        if key == "href" or "url(#" in value:
            attributes[key] = re.sub(r"#([\w-]+)", rf"#{name}-\1", value)
        elif key == "style":
            attributes[key] = _page_colors(_SHORTHAND.sub(r"font-size: \1", _FAMILY.sub("", value)))
        else:
            attributes[key] = " ".join(_LONG_FRACTION.sub(r"\1", value).split())


def _page_colors(style: str) -> str:
    for color, variable in VARIABLES.items():
        style = style.replace(color, f"var(--{variable})")
    return _GRADE.sub(lambda found: f"var(--g{int(found[1], 16)})", style)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
