"""Trials of an experiment as records of plain values, and the key of each in a store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Protocol

import numpy as np

from ordinoise._validation import complain

KIND = "kind"
KEY_LENGTH = 24
"""Hexadecimal digits of a key; with 96 bits, two of a billion trials collide with a probability below 1e-11."""


class Trial(Protocol):
    """A unit of work: a frozen dataclass of plain values, everything that its result depends on.

    Plain values are str, int, float, bool, None, tuples of them, and further frozen dataclasses.
    """

    @property
    def cost(self) -> float:
        """Expected work relative to the other trials; only the estimate of the time left uses it."""
        ...


def trial_record(trial: Any) -> dict[str, Any]:
    """The fields of a trial as JSON values, and the name of its class as `kind`.

    Parameters
    ----------
    trial : frozen dataclass
        Tuples become lists; a nested dataclass becomes a nested record.

    Returns
    -------
    dict
        Unchanged by writing it as JSON and reading it back.
    """
    return _record(trial, with_defaults=True)


def trial_key(trial: Any) -> str:
    """The key of a trial in a store: 24 hexadecimal digits, the same in every process and on every machine.

    The first digits of the SHA-256 of the record's canonical JSON, without the fields that have their default value.
    So adding a field whose default means what was done before keeps the keys of old trials; the meaning of a default
    must not change later.
    """
    return hashlib.sha256(_canonical(_record(trial, with_defaults=False)).encode()).hexdigest()[:KEY_LENGTH]


def as_plain(argument: str, value: Any, *, with_defaults: bool = True) -> Any:
    """`value` as JSON values; the error for anything else names its place, starting with `argument`."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, tuple | list):
        return [as_plain(f"{argument}[{at}]", item, with_defaults=with_defaults) for at, item in enumerate(value)]
    if isinstance(value, Mapping):
        if all(isinstance(name, str) for name in value):
            return {
                name: as_plain(f"{argument}.{name}", item, with_defaults=with_defaults) for name, item in value.items()
            }
        raise complain(
            argument, "have strings as keys", repr(next(name for name in value if not isinstance(name, str)))
        )
    if is_dataclass(value) and not isinstance(value, type):
        return _record(value, with_defaults=with_defaults)
    raise complain(
        argument, "be a plain value (a string, number, boolean, None, or tuple of them)", type(value).__name__
    )


def _record(trial: Any, *, with_defaults: bool) -> dict[str, Any]:
    name = type(trial).__name__
    if not is_dataclass(trial) or isinstance(trial, type) or not trial.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise complain("trial", "be a frozen dataclass", name)
    record: dict[str, Any] = {KIND: name}
    for field in fields(trial):
        if field.name == KIND:
            raise complain(name, f"have no field {KIND!r}, the name of the class", f"{KIND!r}", "rename the field")
        value = as_plain(f"{name}.{field.name}", getattr(trial, field.name), with_defaults=with_defaults)
        if with_defaults or not _is_default(value, field):
            record[field.name] = value
    return record


def _is_default(value: Any, field: Field[Any]) -> bool:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    # Compared as text: in Python 1 == 1.0 == True, and NaN != NaN.
    return default is not MISSING and _canonical(value) == _canonical(
        as_plain(field.name, default, with_defaults=False)
    )


def _canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, floats with all digits, ``NaN`` and ``Infinity`` as Python's reader accepts them."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
