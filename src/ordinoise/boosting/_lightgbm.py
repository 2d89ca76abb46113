"""The door to LightGBM, which is an extra."""

from __future__ import annotations

from typing import Any


def lightgbm() -> Any:
    """The module, or one sentence that says how to get it."""
    try:
        import lightgbm as module
    except ImportError:
        raise ImportError('gradient boosting needs LightGBM; pip install "ordinoise[boosting]"') from None
    return module


def known_names() -> dict[str, set[str]]:
    """Every parameter of LightGBM under its first name, with all the names that mean the same."""
    aliases = lightgbm().basic._ConfigAliases._get_all_param_aliases()
    return {name: {name, *others} for name, others in aliases.items()}
