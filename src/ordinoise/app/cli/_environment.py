"""Settings of libraries in the environment under which they end the process or raise errors that name no cause."""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping

from ordinoise._validation import complain

RULES = {
    "POLARS_MAX_THREADS": (re.compile("0*[1-9][0-9]{0,3}"), "be a whole number from 1 to 9999"),
    "NUMBA_DISABLE_JIT": (re.compile("0"), "be 0, as networks run compiled alone"),
}
"""What a variable must match, unless it is empty, and the rule in words."""


def check_environment(environment: MutableMapping[str, str] = os.environ) -> None:
    """Refuse settings under which a library would end the process; set the one for pictures, which are only files."""
    for name, (pattern, rule) in RULES.items():
        given = environment.get(name, "")
        if given and not pattern.fullmatch(given):
            raise complain(name, rule, repr(given), "unset it")
    environment["MPLBACKEND"] = "agg"
