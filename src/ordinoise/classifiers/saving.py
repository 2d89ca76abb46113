"""Models on disk: one folder with settings in JSON and arrays in safetensors. Nothing is ever unpickled.

What every classifier has (parameters, classes, column names, noise, facts, prediction sets) is saved and restored
here; a classifier adds what it learned.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import ordinoise
from ordinoise._files import MOST_SETTINGS, new_folder, regular_content, write_whole
from ordinoise._plain import as_plain, of_plain
from ordinoise._validation import as_choice, as_count, as_number, complain
from ordinoise.columns.coding import Columns
from ordinoise.labels import as_known_kind, ordered_classes
from ordinoise.noise import Noise
from ordinoise.noise.record import ARRAYS as NOISE_ARRAYS
from ordinoise.scoring.sets import LEVELS, SetCalibration

if TYPE_CHECKING:
    from ordinoise.classifiers.base import OrdinalClassifierBase

FORMAT = "ordinoise-model"
FORMAT_VERSION = 4
SETTINGS, ARRAYS = "model.json", "arrays.safetensors"

NOISE, SETS = "noise.", "set_thresholds"
PARTS = ("categories", "kept", "spelled", "texts")
SPELLINGS = "spellings"  # in models of frames with text that stands for numbers or dates
SPELLED = ("number", "flag", "date")
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError, MemoryError)
"""What reading a damaged folder may raise."""
TYPES = re.compile(r"O|[<>|]?(b1|[iu][1248]|f(2|4|8|12|16))|[<>]U\d{1,9}")
"""Types of arrays, as `as_json` writes them."""
PLAIN = (type(None), bool, int, float, str)
CLASSIFIERS = {
    "OrdinalBoostingClassifier": "boosting",
    "OrdinalClassifier": "ordinal",
    "OrdinalMLPClassifier": "mlp",
    "OrdinalTorchClassifier": "torch",
}

Arrays = dict[str, NDArray[Any]]


def load_model(path: str | os.PathLike[str]) -> OrdinalClassifierBase:
    """The model in a folder that `save` wrote, of any of our classes.

    A PyTorch model with a module of your own needs its class's `load`, which takes the module.

    Parameters
    ----------
    path : path
        The folder.
    """
    kind = as_choice("kind of model", str(_header(Path(path)).get("kind")), CLASSIFIERS)
    module = importlib.import_module(f"ordinoise.classifiers.{CLASSIFIERS[kind]}")
    model: OrdinalClassifierBase = getattr(module, kind).load(path)
    return model


def shared_state(model: OrdinalClassifierBase, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """What all classifiers save: settings for JSON, and arrays."""
    noise = model.noise_.to_dict()
    arrays = {f"{NOISE}{name}": np.asarray(noise.pop(name)) for name in NOISE_ARRAYS if noise[name] not in (None, [])}
    settings = {
        "parameters": {name: as_json(name, value) for name, value in parameters.items()},
        "classes": as_json("classes", model.classes_),
        "n_features": getattr(model, "n_features_in_", None),
        "feature_names": as_json("feature_names", getattr(model, "feature_names_in_", None)),
        "noise": noise,
        "facts": getattr(model, "training_facts_", None),
        "n_calibration": None,
    }
    if model.set_calibration_ is not None:
        settings["n_calibration"] = model.set_calibration_.n_samples
        arrays[SETS] = model.set_calibration_.thresholds
    return settings, arrays


def restored_shared(settings: Mapping[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """The fitted attributes that `shared_state` saved, and the other arrays, which are the classifier's own."""
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise complain(f"array {name}", "hold finite numbers", "others")
    found: dict[str, Any] = {"classes_": _as_classes(from_json(settings["classes"])), "set_calibration_": None}
    n_classes = len(found["classes_"])
    if settings["n_features"] is not None:
        found["n_features_in_"] = as_count("n_features", settings["n_features"], 1)
    names = from_json(settings["feature_names"])
    if names is not None:
        found["feature_names_in_"] = _as_names(names, settings["n_features"])
    parts = {name.removeprefix(NOISE): array for name, array in arrays.items() if name.startswith(NOISE)}
    found["noise_"] = Noise.of(Noise.from_dict({**settings["noise"], **parts}), n_classes)
    if settings["facts"] is not None:
        found["training_facts_"] = _as_facts(settings["facts"], n_classes)
    if settings["n_calibration"] is not None:
        n_samples = as_count("n_calibration", settings["n_calibration"], 1)
        found["set_calibration_"] = SetCalibration(_as_thresholds(arrays[SETS], n_classes), n_samples)
    return found, {name: array for name, array in arrays.items() if not name.startswith(NOISE) and name != SETS}


def columns_state(columns: Columns) -> dict[str, Any]:
    """The columns for JSON."""
    spellings = {position: as_plain(spelling) for position, spelling in columns.spellings.items()}
    found = {name: as_json(name, getattr(columns, name)) for name in PARTS}
    return found | ({SPELLINGS: as_json(SPELLINGS, spellings)} if spellings else {})


def columns_from(plain: Mapping[str, Any], n_columns: int) -> Columns:
    """The columns that `columns_state` described, of a table with `n_columns` columns."""
    parts = PARTS if SPELLINGS not in plain else (*PARTS, SPELLINGS)
    columns = of_plain(Columns, {name: from_json(plain[name]) for name in parts}, "columns")
    if columns.kept is None if columns.texts else columns.kept == ():
        raise complain("columns", "keep one beside those of text", columns.kept)
    for position in (*(columns.kept or ()), *columns.texts):
        as_count("column", position, 0, n_columns - 1)
    for position in (*columns.categories, *columns.spelled, *columns.spellings):
        as_count("column", position, 0, columns.n_features(n_columns) - 1)
    for kind in columns.spelled.values():
        as_choice("kind of column", kind, SPELLED)
    return columns


def _as_classes(classes: Any) -> NDArray[Any]:
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        raise complain("classes", "be an array of at least two labels", repr(classes))
    ordered_classes(classes, classes)
    as_known_kind("classes", classes)
    if classes.dtype.kind == "f" and not np.isfinite(classes).all():
        raise complain("classes", "be finite", classes.tolist())
    return classes


@dataclass(frozen=True)
class _Facts:
    """The facts of a model card, as they are stored."""

    n_samples: int | None
    recorded_counts: tuple[int, ...] | None
    scores: Mapping[str, Mapping[str, float]]
    versions: Mapping[str, str]


def _as_facts(plain: Any, n_classes: int) -> dict[str, Any]:
    """The facts of a model card, each of the right type."""
    facts = of_plain(_Facts, plain, "facts")
    if facts.recorded_counts is not None and len(facts.recorded_counts) != n_classes:
        raise complain("recorded_counts", f"be {n_classes} numbers", facts.recorded_counts)
    for metric, score in facts.scores.items():
        if ("low" in score) != ("high" in score):
            raise complain(f"score {metric}", "have both ends of its interval or none", score)
    return dict(plain)


def _as_names(names: Any, n_features: Any) -> NDArray[Any]:
    if not isinstance(names, np.ndarray) or names.shape != (n_features,):
        raise complain("feature_names", f"be an array of {n_features} names", repr(names))
    if not all(isinstance(name, str) for name in names.tolist()):
        raise complain("feature_names", "be text", names.tolist())
    return names


def _as_thresholds(thresholds: NDArray[Any], n_classes: int) -> NDArray[Any]:
    is_known = thresholds.shape in ((LEVELS,), (n_classes, LEVELS)) and (np.diff(thresholds) >= 0).all()
    if not is_known or not thresholds.min() >= 0:
        raise complain(f"array {SETS}", f"hold {LEVELS} ascending numbers", f"shape {thresholds.shape}")
    as_number("the highest threshold", float(thresholds.max()), 0.0, 1.0)
    return thresholds


def check_arrays(arrays: Arrays, expected: Mapping[str, str]) -> None:
    """Refuse any other arrays than the expected ones, each with its number type."""
    if set(arrays) != set(expected):
        raise complain("arrays", f"be {sorted(expected)[:8]}", sorted(arrays)[:8])
    for name, kind in expected.items():
        if arrays[name].dtype != np.dtype(kind):
            raise complain(f"array {name}", f"hold {kind} numbers", arrays[name].dtype)


def write_folder(
    path: str | os.PathLike[str], kind: str, settings: dict[str, Any], arrays: Arrays, *, overwrite: bool = False
) -> None:
    """Write a model folder under a temporary name, then rename it: it appears whole or not at all."""
    target = Path(path)
    if overwrite and target.exists():
        _header(target)  # only a model is replaced
        former = target.with_name(f".{target.name}-{uuid.uuid4().hex[:8]}")
        target.rename(former)
        try:
            write_folder(path, kind, settings, arrays)
        except BaseException:
            former.rename(target)
            raise
        shutil.rmtree(former)
        return
    from safetensors.numpy import save

    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "ordinoise": ordinoise.__version__,
        "kind": kind,
        "settings": settings,
    }
    text = json.dumps(header, indent=1, allow_nan=False)
    with new_folder("path", Path(path)) as folder:
        write_whole(folder / SETTINGS, text.encode())
        write_whole(folder / ARRAYS, save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))


def read_folder(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], Arrays]:
    """Settings and arrays of a model folder; a damaged or foreign folder is refused with one sentence."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    folder = Path(path)
    header = _header(folder)
    version = header.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        advice = "it was written by another version of ordinoise; fit the model again"
        raise complain("path", f"hold a model of format version {FORMAT_VERSION}", version, advice)
    if header.get("kind") != kind:
        raise complain("path", f"hold a model of kind {kind!r}", repr(header.get("kind")))
    if not isinstance(header.get("settings"), dict):
        raise complain("path", f"hold settings in {SETTINGS}", "none", "the folder is damaged")
    try:
        arrays: Arrays = load(regular_content(folder / ARRAYS))
    except (OSError, SafetensorError, ValueError, KeyError, MemoryError) as error:
        raise complain("path", f"hold arrays in {ARRAYS}", f"{type(error).__name__}", "the folder is damaged") from None
    return header["settings"], arrays


def _header(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise complain("path", "be a model folder", repr(str(folder)))
    try:
        header = json.loads(regular_content(folder / SETTINGS, MOST_SETTINGS).decode(), parse_constant=_refused)
    except (OSError, ValueError, RecursionError, MemoryError):
        raise complain("path", f"hold a readable {SETTINGS}", repr(str(folder)), "the folder is damaged") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise complain("path", "be an ordinoise model folder", repr(str(folder)))
    return header


def _refused(constant: str) -> None:
    raise complain("JSON", "hold finite numbers", constant)


def as_json(name: str, value: Any) -> Any:
    """`value` for JSON, tagged with its type where JSON has no such type; `from_json` inverts it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return None  # the state of a generator is not saved
    if isinstance(value, (tuple, list)):
        return {"list" if isinstance(value, list) else "tuple": [as_json(name, item) for item in value]}
    if isinstance(value, np.ndarray):
        kind = "O" if value.dtype.kind == "O" else value.dtype.str
        return {"array": [as_json(name, item) for item in value.ravel().tolist()], "shape": value.shape, "dtype": kind}
    if isinstance(value, Mapping):
        return {"pairs": [[as_json(name, key), as_json(name, item)] for key, item in value.items()]}
    if isinstance(value, Noise):
        return {"noise": value.to_dict()}
    if type(value).__module__.startswith("ordinoise.estimation"):
        parameters = {key: as_json(key, item) for key, item in value.get_params(deep=False).items()}
        return {"estimator": type(value).__name__, "parameters": parameters}
    raise complain(name, "be a value that can be saved as JSON", type(value).__name__)


def from_json(value: Any) -> Any:
    """The value that `as_json` encoded."""
    if isinstance(value, PLAIN):
        return value
    if "tuple" in value:
        return tuple(from_json(item) for item in value["tuple"])
    if "list" in value:
        return [from_json(item) for item in value["list"]]
    if "pairs" in value:
        return {from_json(key): from_json(item) for key, item in value["pairs"]}
    if "noise" in value:
        return Noise.from_dict(value["noise"])
    if "estimator" in value:
        from ordinoise import estimation

        known = {name: getattr(estimation, name) for name in estimation.__all__}
        return known[value["estimator"]](**{key: from_json(item) for key, item in value["parameters"].items()})
    return np.array(value["array"], dtype=_dtype(value["dtype"], value["array"])).reshape(value["shape"])


def _dtype(name: Any, items: list[Any]) -> np.dtype[Any]:
    """The type of an array, if saving writes such arrays; text has no more room than its longest item needs."""
    dtype = np.dtype(name) if isinstance(name, str) and TYPES.fullmatch(name) else None
    if dtype is None:
        raise complain("array", "have a type of numbers, text or objects", repr(name)[:40])
    if dtype.kind != "U":
        return dtype
    longest = max((len(str(item)) for item in items), default=1)
    return np.dtype(f"{name[0]}U{min(dtype.itemsize // 4, max(1, longest))}")
