"""Models on disk: one folder with settings in JSON, arrays in safetensors and text files. Nothing is ever unpickled.

What every classifier has (parameters, classes, column names, noise, facts, prediction sets) is saved and restored
here; a classifier adds what it learned.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import ordinoise
from ordinoise._files import new_folder, write_whole
from ordinoise._validation import as_choice, as_number, complain
from ordinoise.columns.coding import Columns
from ordinoise.noise import Noise
from ordinoise.noise.record import ARRAYS as NOISE_ARRAYS
from ordinoise.scoring.sets import LEVELS, SetCalibration

if TYPE_CHECKING:
    from ordinoise.classifiers.base import OrdinalClassifierBase

FORMAT = "ordinoise-model"
FORMAT_VERSION = 2
SETTINGS, ARRAYS = "model.json", "arrays.safetensors"
FILES = "files"  # entry of the settings: file name to text; each becomes a file

NOISE, SETS = "noise.", "set_thresholds"
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


def restore_shared(model: OrdinalClassifierBase, settings: Mapping[str, Any], arrays: Arrays) -> Arrays:
    """Restore what `shared_state` saved, and return the other arrays, which are the classifier's own."""
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise complain(f"array {name}", "hold finite numbers", "others")
    model.classes_ = from_json(settings["classes"])
    if settings["n_features"] is not None:
        model.n_features_in_ = settings["n_features"]
    names = from_json(settings["feature_names"])
    if names is not None:
        model.feature_names_in_ = names
    parts = {name.removeprefix(NOISE): array for name, array in arrays.items() if name.startswith(NOISE)}
    model.noise_ = Noise.of(Noise.from_dict({**settings["noise"], **parts}), len(model.classes_))
    facts = settings["facts"]
    if facts is not None:
        if not isinstance(facts, dict):
            raise complain("facts", "be a mapping", type(facts).__name__)
        model.training_facts_ = facts
    model.set_calibration_ = None
    if settings["n_calibration"] is not None:
        model.set_calibration_ = SetCalibration(_as_thresholds(arrays[SETS]), int(settings["n_calibration"]))
    return {name: array for name, array in arrays.items() if not name.startswith(NOISE) and name != SETS}


def columns_state(columns: Columns) -> dict[str, Any]:
    """The columns for JSON."""
    return {name: as_json(name, getattr(columns, name)) for name in ("categories", "kept", "spelled")}


def columns_from(plain: Mapping[str, Any]) -> Columns:
    """The columns that `columns_state` described."""
    return Columns(**{name: from_json(plain[name]) for name in ("categories", "kept", "spelled")})


def _as_thresholds(thresholds: NDArray[Any]) -> NDArray[Any]:
    if thresholds.shape != (LEVELS,) or not (np.diff(thresholds) >= 0).all() or not 0 <= thresholds[0] <= 1:
        raise complain(f"array {SETS}", f"hold {LEVELS} ascending numbers", f"shape {thresholds.shape}")
    as_number("the highest threshold", float(thresholds[-1]), 0.0, 1.0)
    return thresholds


def check_arrays(arrays: Arrays, expected: Mapping[str, str]) -> None:
    """Refuse any other arrays than the expected ones, each with its number type."""
    if set(arrays) != set(expected):
        raise complain("arrays", f"be {sorted(expected)[:8]}", sorted(arrays)[:8])
    for name, kind in expected.items():
        if arrays[name].dtype != np.dtype(kind):
            raise complain(f"array {name}", f"hold {kind} numbers", arrays[name].dtype)


def write_folder(path: str | os.PathLike[str], kind: str, settings: dict[str, Any], arrays: Arrays) -> None:
    """Write a model folder under a temporary name, then rename it: it appears whole or not at all.

    Texts in ``settings["files"]`` become files; the settings keep their digests.
    """
    from safetensors.numpy import save

    texts = {name: text.encode() for name, text in settings.get(FILES, {}).items()}
    digests = {FILES: {name: _digest(text) for name, text in texts.items()}} if texts else {}
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "ordinoise": ordinoise.__version__,
        "kind": kind,
        "settings": settings | digests,
    }
    text = json.dumps(header, indent=1, allow_nan=False)
    with new_folder("path", Path(path)) as folder:
        write_whole(folder / SETTINGS, text.encode())
        write_whole(folder / ARRAYS, save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
        for name, content in texts.items():
            write_whole(folder / name, content)


def read_folder(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], Arrays]:
    """Settings and arrays of a model folder; a damaged or foreign folder is refused with one sentence."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    folder = Path(path)
    header = _header(folder)
    version = header.get("format_version")
    if version != FORMAT_VERSION:
        advice = "it was written by another version of ordinoise; fit the model again"
        raise complain("path", f"hold a model of format version {FORMAT_VERSION}", version, advice)
    if header.get("kind") != kind:
        raise complain("path", f"hold a model of kind {kind!r}", repr(header.get("kind")))
    if not isinstance(header.get("settings"), dict):
        raise complain("path", f"hold settings in {SETTINGS}", "none", "the folder is damaged")
    try:
        arrays: Arrays = load((folder / ARRAYS).read_bytes())
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        raise complain("path", f"hold arrays in {ARRAYS}", f"{type(error).__name__}", "the folder is damaged") from None
    settings = header["settings"]
    if FILES in settings:
        settings = settings | {FILES: _texts(folder, settings[FILES])}
    return settings, arrays


def _header(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise complain("path", "be a model folder", repr(str(folder)))
    try:
        header = json.loads((folder / SETTINGS).read_text())
    except (OSError, ValueError, RecursionError):
        raise complain("path", f"hold a readable {SETTINGS}", repr(str(folder)), "the folder is damaged") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise complain("path", "be an ordinoise model folder", repr(str(folder)))
    return header


def _texts(folder: Path, digests: Any) -> dict[str, str]:
    """The text files by name, checked against their digests."""
    texts = {}
    for name, digest in digests.items() if isinstance(digests, dict) else []:
        try:
            content = (folder / Path(name).name).read_bytes()
        except OSError:
            content = b""
        if _digest(content) != digest:
            raise complain("path", f"hold an unchanged {name}", repr(str(folder)), "the folder is damaged")
        texts[name] = content.decode()
    return texts


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
    return np.array(value["array"], dtype=np.dtype(value["dtype"])).reshape(value["shape"])
