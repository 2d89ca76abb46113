"""The report page, rendered from findings."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from ordinoise._files import write_whole
from ordinoise._text import NOTHING, percent
from ordinoise.app.report import words
from ordinoise.app.report.contents import Findings, contents_of, sections_of
from ordinoise.app.report.svg import ON_DARK, ON_LIGHT, grade_colors


def write_report(path: Path, findings: Findings) -> None:
    """Write the report as one HTML file that works without network, server or other files."""
    write_whole(path, report_html(findings).encode())


def report_html(findings: Findings) -> str:
    """The report as HTML; the same findings give the same text."""
    record = findings.record
    return rendered(
        "report.html.j2", findings.heading, record.ordinoise, sections_of(record), len(record.classes),
        contents_of(findings),
    )  # fmt: skip


def rendered(
    template: str, heading: str, version: str, sections: Mapping[str, str], n_classes: int, contents: Mapping[str, Any]
) -> str:
    """A page of this package: a template that fills the common frame with its contents."""
    return str(
        _environment().get_template(template).render(
            **contents,
            heading=heading,
            version=version,
            sections=sections,
            style=_part("report.css") + _grade_variables(n_classes),
            script=_part("report.js"),
            script_hash=_hash(_part("report.js")),
        )
    )  # fmt: skip


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_part), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters = (words.count, words.counted, percent, words.number, words.shortened, words.printable)
    environment.filters.update({one.__name__: one for one in filters})
    environment.filters["estimate"] = lambda one: NOTHING if one is None else one.words(words.number)
    environment.filters["ends"] = lambda one: one.span(words.number)
    return environment


@cache
def _part(name: str) -> str:
    """A file of this package, with the line ends that browsers see, so that the hash of the script matches."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _grade_variables(n_classes: int) -> str:
    light, dark = (
        ";".join(f"--g{grade}:{color}" for grade, color in enumerate(grade_colors(n_classes, ends)))
        for ends in (ON_LIGHT, ON_DARK)
    )
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"
