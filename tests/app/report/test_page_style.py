"""Contrast of the page's colors, in both schemes (WCAG 2.1, level AA)."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from ordinoise.app.report.svg import ON_DARK, ON_LIGHT, grade_colors

CSS = files("ordinoise.app.report").joinpath("report.css").read_text(encoding="utf-8")
BLOCKS = re.findall(r":root \{(.*?)\}", CSS, re.S)
SCHEMES = {
    name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    for name, block in zip(("light", "dark"), BLOCKS, strict=False)
}
TEXTS = [
    *[(text, ground) for text in ("ink", "muted", "accent", "wrong", "good") for ground in ("page", "surface")],
    ("ink", "heat-right"),
    ("ink", "heat-wrong"),
]
SHAPES = [("edge", "page"), ("edge", "surface"), ("wrong", "line"), ("accent", "line")]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_black_on_white_is_21_to_1() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_text_stands_out(scheme: str, text: str, ground: str) -> None:
    assert contrast(SCHEMES[scheme][text], SCHEMES[scheme][ground]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("shape", "ground"), SHAPES)
def test_shapes_that_carry_meaning_stand_out(scheme: str, shape: str, ground: str) -> None:
    assert contrast(SCHEMES[scheme][shape], SCHEMES[scheme][ground]) >= 3


@pytest.mark.parametrize(("scheme", "ends"), [("light", ON_LIGHT), ("dark", ON_DARK)])
def test_colors_of_grades_stand_out_and_rise_in_lightness(scheme: str, ends: tuple[float, float]) -> None:
    colors = grade_colors(9, ends)
    assert all(contrast(color, SCHEMES[scheme]["surface"]) >= 3 for color in colors)
    lightness = [_luminance(color) for color in colors]
    assert lightness == sorted(lightness)


def test_both_schemes_have_every_color() -> None:
    assert SCHEMES["light"].keys() == SCHEMES["dark"].keys()
