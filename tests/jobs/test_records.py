import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field, make_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinoise.jobs import trial_key, trial_record


@dataclass(frozen=True)
class Noise:
    rate: float
    kind_of_decay: str = "inverse"


@dataclass(frozen=True)
class Uniform:
    rate: float
    kind_of_decay: str = "inverse"


@dataclass(frozen=True)
class Fit:
    data: str
    seed: Any
    noise: Any = None
    sizes: tuple[int, ...] = (8, 4)
    limits: tuple[float, ...] = field(default_factory=tuple)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)


def test_the_record_holds_every_field_and_the_class() -> None:
    record = trial_record(Fit("wine", 3, Noise(0.1)))
    noise = {"kind": "Noise", "rate": 0.1, "kind_of_decay": "inverse"}
    assert record == {"kind": "Fit", "data": "wine", "seed": 3, "noise": noise, "sizes": [8, 4], "limits": []}


@given(value=plain)
def test_a_record_survives_a_way_through_json(value: Any) -> None:
    text = json.dumps(trial_record(Fit("wine", value)))
    assert json.dumps(json.loads(text)) == text


def test_the_key_is_the_hash_of_what_is_not_default() -> None:
    text = '{"data":"wine","kind":"Fit","noise":{"kind":"Noise","rate":0.1},"seed":3}'
    assert trial_key(Fit("wine", 3, Noise(0.1))) == hashlib.sha256(text.encode()).hexdigest()[:24]


def test_another_process_gives_the_same_key() -> None:
    code = (
        "from dataclasses import make_dataclass\nfrom ordinoise.jobs import trial_key\n"
        "Fit = make_dataclass('Fit', ['data', 'seed'], frozen=True)\nprint(trial_key(Fit('wine', 0.1)))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    other = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == trial_key(Fit("wine", 0.1))


@given(one=plain, other=plain)
def test_keys_are_equal_exactly_where_records_are(one: Any, other: Any) -> None:
    same_record = json.dumps(trial_record(Fit("wine", one))) == json.dumps(trial_record(Fit("wine", other)))
    assert (trial_key(Fit("wine", one)) == trial_key(Fit("wine", other))) == same_record


def test_a_new_field_at_its_default_leaves_the_key_as_it_was() -> None:
    later = make_dataclass(
        "Fit",
        [
            ("data", str),
            ("seed", int),
            ("noise", Any, None),
            ("nan", float, field(default=float("nan"))),
            ("k", int, 5),
        ],
        frozen=True,
    )
    later_noise = make_dataclass("Noise", [("rate", float), ("centre", tuple, (0.5,))], frozen=True)
    assert trial_key(later("wine", 3, later_noise(0.1))) == trial_key(Fit("wine", 3, Noise(0.1)))
    assert trial_key(later("wine", 3, later_noise(0.1), k=6)) != trial_key(Fit("wine", 3, Noise(0.1)))
    assert trial_key(later("wine", 3, later_noise(0.1, (0.4,)))) != trial_key(Fit("wine", 3, Noise(0.1)))


def test_a_value_that_merely_equals_the_default_counts() -> None:
    one = make_dataclass("One", [("flag", Any, 1)], frozen=True)
    assert len({trial_key(one(value)) for value in (1, 1.0, True)}) == 3


def test_classes_with_equal_fields_have_other_keys() -> None:
    assert trial_key(Noise(0.1)) != trial_key(Uniform(0.1))
    assert trial_key(Fit("wine", 3, Noise(0.1))) != trial_key(Fit("wine", 3, Uniform(0.1)))


def test_numbers_of_numpy_are_those_of_python() -> None:
    assert trial_key(Fit("wine", np.int64(3), Noise(np.float64(0.1)))) == trial_key(Fit("wine", 3, Noise(0.1)))
    assert trial_record(Fit("wine", np.float32(0.5)))["seed"] == 0.5
    assert trial_record(Fit("wine", np.arange(3)))["seed"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("trial", "message"),
    [
        (Fit("wine", {1}), r"Fit.seed must be a plain value \(.*\), got set"),
        (Fit("wine", (1, [object()])), r"Fit.seed\[1\]\[0\] must be a plain value .*, got object"),
        (Fit("wine", 3, Noise(Noise)), r"Noise.rate must be a plain value .*, got type"),  # type: ignore[arg-type]
        (Fit("wine", {3: 4}), "Fit.seed must have strings as keys, got 3"),
        (make_dataclass("Loose", ["seed"])(3), "trial must be a frozen dataclass, got Loose"),
        (3, "trial must be a frozen dataclass, got int"),
        (Fit, "trial must be a frozen dataclass, got type"),
        (make_dataclass("Odd", ["kind"], frozen=True)(3), "Odd must have no field 'kind'.*rename the field"),
    ],
)
def test_what_is_not_plain_is_refused_by_name(trial: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trial_key(trial)
    with pytest.raises(ValueError, match=message):
        trial_record(trial)
