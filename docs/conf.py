"""Sphinx settings. Build with `make docs`; a warning is an error."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

from ordinoise import __version__

project = "ordinoise"
author = "The ordinoise developers"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_measured", "_build"]

# A module's __all__ decides what its reference shows.
# What scikit-learn adds to every estimator is documented there.
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator",
    "exclude-members": "set_fit_request, set_partial_fit_request, set_score_request, get_metadata_routing, score",
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


def _plain_aliases(*event: Any) -> tuple[str | None, str | None]:
    """The signature with ``ArrayLike | None`` where Sphinx writes out its stand-in for the alias."""
    signature, returns = (text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in event[-2:])
    return signature, returns


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-signature", _plain_aliases)
