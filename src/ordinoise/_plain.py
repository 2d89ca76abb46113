"""Records and JSON: dataclasses as plain values and back, by the type hints of their fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np

from ordinoise._validation import complain

LARGEST = 2**63  # whole numbers from here on are damage
Record = TypeVar("Record")


def as_plain(value: Any) -> Any:
    """A record as mappings, lists, numbers and text, ready for JSON.

    A part with a `to_dict` is what that gives; mappings are taken to hold plain values.
    """
    if is_dataclass(value):
        return {field.name: _part(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (tuple, list)):
        return [_part(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return str(value) if isinstance(value, Path) else value


def _part(value: Any) -> Any:
    """A value inside of a record."""
    return value.to_dict() if hasattr(value, "to_dict") else as_plain(value)


def without_nan(plain: Any) -> Any:
    """Plain values with null in place of numbers that JSON cannot hold."""
    if isinstance(plain, dict):
        return {key: without_nan(item) for key, item in plain.items()}
    if isinstance(plain, list):
        return [without_nan(item) for item in plain]
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def of_plain(kind: type[Record], plain: Any, place: str = "") -> Record:
    """The record that `as_plain` gave; anything else is refused with one sentence that names the place.

    Whole numbers must not be negative, numbers must be finite, text must be printable, and no entry may be missing or
    unknown. A record checks in ``__post_init__`` what concerns several of its fields.

    Parameters
    ----------
    kind : type
        A dataclass. A part whose type has a `from_dict` is read by it.
    plain : mapping
    place : str
        Where the record is in a larger one, such as ``suspects[3]``.
    """
    where = place or kind.__name__
    if not isinstance(plain, Mapping):
        raise complain(where, "be a mapping", _shown(plain))
    hints, required = _fields(cast(Hashable, kind))
    for rule, names in (("have an entry", required - plain.keys()), ("have no entry", plain.keys() - hints.keys())):
        if names:
            raise complain(where, f"{rule} {_shown(min(names, key=str))}", "none" if names <= required else "one")
    inner = {name: _value(hints[name], item, f"{place}.{name}" if place else name) for name, item in plain.items()}
    return _placed(place, lambda: kind(**inner))


@lru_cache
def _fields(kind: Any) -> tuple[dict[str, Any], set[str]]:
    """Types of the fields by name, and the names of those without a default."""
    hints = get_type_hints(kind)
    known = [field for field in fields(kind) if field.init]
    needed = {field.name for field in known if field.default is MISSING and field.default_factory is MISSING}
    return {field.name: hints[field.name] for field in known}, needed


def _placed(place: str, made: Callable[[], Any]) -> Any:
    """What a function makes; its complaint names the place."""
    try:
        return made()
    except ValueError as error:
        raise ValueError(f"{place}.{error}" if place else str(error)) from None


def _value(hint: Any, plain: Any, place: str) -> Any:
    """A value of a type, from what JSON holds for it."""
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind is UnionType:
        return _value(_alternative(parts, plain), plain, place)
    if hasattr(kind, "from_dict"):
        return _placed(place, lambda: kind.from_dict(plain))
    if isinstance(kind, type) and is_dataclass(kind):
        return of_plain(kind, plain, place)
    if not _is_of(kind, plain):
        raise complain(place, f"be {KINDS[kind]}", _shown(plain))
    if kind is tuple:
        each = parts[:1] * len(plain) if parts[-1] is ... else parts
        if len(each) != len(plain):
            raise complain(place, f"be a list of {len(each)}", _shown(plain))
        return tuple(
            _value(one, item, f"{place}[{at}]") for at, (one, item) in enumerate(zip(each, plain, strict=True))
        )
    if kind is Mapping:
        return {_key(parts[0], key, place): _value(parts[1], item, f"{place}[{key!r}]") for key, item in plain.items()}
    if kind is np.ndarray:
        return np.asarray(plain, dtype=np.float64)
    return Path(plain) if kind is Path else plain


def _key(hint: Any, key: Any, place: str) -> Any:
    """The key of a mapping; JSON has only text, so whole numbers are spelled."""
    if hint is int and isinstance(key, str) and key.isdecimal():
        return int(key)
    return _value(hint, key, f"key of {place}")


KINDS = {
    str: "text", bool: "true or false", int: "a whole number from 0", float: "a finite number", NoneType: "null",
    Path: "the path of a file", tuple: "a list", Mapping: "a mapping", np.ndarray: "an array of numbers",
}  # fmt: skip


def _is_of(kind: Any, plain: Any) -> bool:
    """Whether JSON holds a value of this type."""
    if kind in (str, Path):
        return isinstance(plain, str) and plain == plain.encode(errors="replace").decode()
    if kind in (int, float):
        whole = isinstance(plain, int) and not isinstance(plain, bool) and abs(plain) < LARGEST
        return (whole and plain >= 0) if kind is int else whole or (isinstance(plain, float) and math.isfinite(plain))
    if kind is np.ndarray:
        try:
            return np.asarray(plain, dtype=np.float64) is not None
        except (TypeError, ValueError, OverflowError, RecursionError):
            return False
    return kind is Any or isinstance(plain, (tuple, list) if kind is tuple else kind)


def _alternative(hints: tuple[Any, ...], plain: Any) -> Any:
    """The first type of a union that fits; the last one if none does, whose complaint is then raised."""
    *others, last = (hint for hint in hints if hint is not NoneType)
    if plain is None and NoneType in hints:
        return NoneType
    for hint in others:
        if is_dataclass(hint):
            if isinstance(plain, Mapping) and _fields(cast(Hashable, hint))[1] <= plain.keys():
                return hint
        elif _is_of(get_origin(hint) or hint, plain):
            return hint
    return last


def _shown(plain: Any) -> str:
    return repr(plain)[:60]
