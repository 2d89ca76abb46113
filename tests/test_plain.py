"""Records to JSON and back: the same record, or one sentence that names the place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ordinoise._plain import as_plain, of_plain
from ordinoise._validation import Floats, complain
from ordinoise.noise import Doubt, Noise


@dataclass(frozen=True)
class Part:
    name: str
    share: float
    ends: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.share > 1:
            raise complain("share", "be at most 1", self.share)


@dataclass(frozen=True, kw_only=True)
class Named(Part):
    owner: str


@dataclass(frozen=True, eq=False)
class Whole:
    parts: tuple[Named | Part, ...]
    counts: Mapping[str, int]
    settings: Mapping[str, Any]
    noise: Noise
    matrix: Floats
    is_done: bool = False
    at: int | None = None


NOISE = Noise(np.array([[0.9, 0.1], [0.3, 0.7]]), doubts=(Doubt("code", "a sentence"),), rate_range=(0.0, 0.4))
WHOLE = Whole(
    (Part("a", 0.5), Named("b", 1, (0.25, 1e-300), owner="Ann")), {"x": 3}, {"seed": 0, "list": [None]}, NOISE,
    np.array([[1.5, 2]]), True,
)  # fmt: skip


def _json(value: Any) -> Any:
    return json.loads(json.dumps(as_plain(value), allow_nan=False))


def test_a_record_is_the_same_after_json() -> None:
    plain = _json(WHOLE)
    again = of_plain(Whole, plain)
    assert _json(again) == plain
    assert again.parts == WHOLE.parts
    assert again.matrix.dtype == np.float64
    assert (again.noise.rate_range, again.noise.doubts) == (NOISE.rate_range, NOISE.doubts)


def test_entries_with_a_default_may_be_missing() -> None:
    plain = _json(WHOLE)
    del plain["at"], plain["is_done"], plain["parts"][0]["ends"]
    assert (of_plain(Whole, plain).at, of_plain(Whole, plain).is_done) == (None, False)


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (["parts", 1, "share"], 2, "parts[1].share must be at most 1, got 2"),
        (["parts", 1, "share"], True, "parts[1].share must be a finite number, got True"),
        (["parts", 1, "share"], float("nan"), "parts[1].share must be a finite number, got nan"),
        (["parts", 1, "share"], 10**400, "parts[1].share must be a finite number, got 1000000"),
        (["parts", 1, "owner"], "\ud800", r"parts[1].owner must be text, got '\ud800'"),
        (["parts", 1, "ends"], [1.0], "parts[1].ends must be a list of 2, got [1.0]"),
        (["parts", 1, "ends", 0], "0", "parts[1].ends[0] must be a finite number, got '0'"),
        (["parts", 1, "other"], 3, "parts[1] must have no entry 'other', got one"),
        (["parts", 0], 3, "parts[0] must be a mapping, got 3"),
        (["parts"], {}, "parts must be a list, got {}"),
        (["counts", "x"], -1, "counts['x'] must be a whole number from 0, got -1"),
        (["settings"], [], "settings must be a mapping, got []"),
        (["noise", "rate_range"], 3, "noise.rate_range must be a list, got 3"),
        (["noise", "doubts", 0, "code"], None, "noise.doubts[0].code must be text, got None"),
        (["noise", "matrices"], [[0.9, 0.2], [0, 1]], "noise.noise_matrix rows must sum to 1 (row = true label), got"),
        (["matrix"], [[1], [1, 2]], "matrix must be an array of numbers, got [[1], [1, 2]]"),
        (["is_done"], 1, "is_done must be true or false, got 1"),
        (["at"], 1.0, "at must be a whole number from 0, got 1.0"),
        (["at"], 2**63, "at must be a whole number from 0, got 9223372036854775808"),
    ],
)
def test_anything_else_is_refused_with_its_place(path: list[Any], value: Any, sentence: str) -> None:
    plain = holder = _json(WHOLE)
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    with pytest.raises(ValueError, match=r" must .*, got ") as caught:
        of_plain(Whole, plain)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (["counts"], "Whole must have an entry 'counts', got none"),
        (["parts", 0, "name"], "parts[0] must have an entry"),
    ],
)
def test_a_missing_entry_is_named(path: list[Any], sentence: str) -> None:
    plain = holder = _json(WHOLE)
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    with pytest.raises(ValueError, match=r" must ") as caught:
        of_plain(Whole, plain)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("plain", [None, [], 3, "a"])
def test_what_is_no_mapping_is_refused(plain: Any) -> None:
    with pytest.raises(ValueError, match="Part must be a mapping, got "):
        of_plain(Part, plain)
