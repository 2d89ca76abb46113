"""Sphinx settings. Build with `make docs`; a warning is an error."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from ordinoise import __version__

project = "ordinoise"
author = "The ordinoise developers"
release = version = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "cyclopts.ext.sphinx"]
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_measured", "_build"]
# Notebooks are shown as stored; a test executes them, and `make notebooks` stores what they print now.
nb_execution_mode = "off"

# A module's __all__ decides what its reference shows.
# What scikit-learn adds to every estimator is documented there.
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator",
    "exclude-members": "get_metadata_routing, score",
}
autodoc_preserve_defaults = True
# The names of the array types instead of the unions behind them.
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Floats", "Ints", "Labels", "DataDir")}
napoleon_google_docstring = False
# Types stay words: as links, "array of shape (n_classes,)" would point at any attribute called n_classes.
napoleon_use_param = False
napoleon_use_rtype = False
# One line for "low, high : float", which the standard form of attributes would tear apart.
napoleon_custom_sections = [("Attributes", "params_style")]

html_theme = "furo"
html_title = f"ordinoise {version}"
html_show_copyright = False


def _plain_aliases(*event: Any) -> tuple[str | None, str | None]:
    """The signature with ``ArrayLike | None`` where Sphinx writes out its stand-in for the alias."""
    signature, returns = (text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in event[-2:])
    return signature, returns


def _skip_routing(*event: Any) -> bool | None:
    """Leave out the setters that scikit-learn adds for every argument it could route; None is the usual choice."""
    return True if re.fullmatch(r"set_\w+_request", event[2]) else None


def _mend_commands(app: Sphinx, doctree: nodes.document) -> None:
    """On the page of the command line, two dashes before an option stay two dashes, and examples are code."""
    if app.env.docname != "cli":
        return
    for text in list(doctree.findall(nodes.Text)):
        if "\u2013" in text:
            text.parent.replace(text, nodes.Text(text.replace("\u2013", "--")))
    for paragraph in doctree.findall(nodes.paragraph):
        label, example, command = paragraph.astext().partition("Example: ")
        if example and not label:
            paragraph.children = [nodes.Text(example), nodes.literal(command, command)]


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", _mend_commands, priority=100)  # before headings are collected
    app.connect("autodoc-skip-member", _skip_routing)
    app.connect("autodoc-process-signature", _plain_aliases)
