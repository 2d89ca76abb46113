"""Readers of what the package itself writes: audits, noise, models, checkpoints and databases."""

from __future__ import annotations

import json
import shutil
import sqlite3
from abc import abstractmethod
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np

from tools.fuzz import mutations
from tools.fuzz.readers import LostError, Reader
from tools.fuzz.seeds import CLASSES, read_json


class JsonReader(Reader):
    """A JSON file in a folder."""

    folder: ClassVar[str]
    name: ClassVar[str]

    def start(self) -> None:
        self.copy = Path(shutil.copytree(self.seeds / self.folder, self.scratch / self.folder))
        self.whole = (self.copy / self.name).read_bytes()
        self.plain = read_json(self.copy / self.name)
        self.use()  # what is imported and compiled for the first input is no part of its time

    def draw(self, rng: Random) -> bytes:
        if rng.random() < 0.7:
            return mutations.json_bytes(mutations.changed_json(self.plain, rng))
        return self._mutant([self.whole], rng)

    def read(self, data: bytes) -> None:
        (self.copy / self.name).write_bytes(data)
        try:
            self.use()
        finally:
            if (self.copy / self.name).read_bytes() != data:
                raise LostError("reading changed the file")

    @abstractmethod
    def use(self) -> None:
        """Read the folder and use what it holds."""


class AuditReader(JsonReader):
    """audit.json."""

    share, folder, name = 8, "audit", "audit.json"

    def use(self) -> None:
        from ordinoise.app.records.audit import read_record
        from ordinoise.app.review.reasons import reasons

        record = read_record(self.copy)
        json.dumps(record.to_dict(), allow_nan=False)
        for suspect in record.suspects:
            reasons(record, suspect)


class NoiseReader(Reader):
    """A noise record."""

    share = 4

    def draw(self, rng: Random) -> bytes:
        whole = read_json(self.seeds / "audit" / "audit.json")
        assert isinstance(whole, dict)
        return mutations.json_bytes(mutations.changed_json(whole["noise"], rng))

    def read(self, data: bytes) -> None:
        from ordinoise.noise import Noise

        noise = Noise.from_dict(json.loads(data))
        json.dumps(noise.to_dict())
        str(noise)


class ModelReader(JsonReader):
    """model.json of a network."""

    share, folder, name = 6, "mlp", "model.json"

    def use(self) -> None:
        from ordinoise.classifiers import load_model

        model = load_model(self.copy)
        features = np.random.default_rng(0).normal(size=(5, 2))
        model.predict(features)
        probabilities = model.predict_proba(features)
        if not np.isfinite(probabilities).all():
            raise LostError("probabilities that are not finite")
        str(model.describe())


class BoostingReader(ModelReader):
    """model.json of trees."""

    share, folder = 4, "boosting"


class BlendReader(ModelReader):
    """model.json of a blend."""

    share, folder = 3, "blend"


class ArraysReader(ModelReader):
    """Arrays of a network."""

    share, name = 6, "arrays.safetensors"

    def start(self) -> None:
        from safetensors.numpy import load

        self.copy = Path(shutil.copytree(self.seeds / self.folder, self.scratch / self.folder))
        self.whole = (self.copy / self.name).read_bytes()
        self.arrays = load(self.whole)
        self.use()

    def draw(self, rng: Random) -> bytes:
        from safetensors.numpy import save

        if rng.random() < 0.3:
            return self._mutant([self.whole], rng)
        arrays = {name: array.copy() for name, array in self.arrays.items()}
        for _ in range(rng.choice((1, 1, 2, 5))):
            name = rng.choice(list(arrays) or ["none"])
            arrays[name] = self._changed(arrays.get(name, np.zeros(1)), rng)
            if rng.random() < 0.1:
                arrays[rng.choice(["", "other", name + "x"])] = arrays.pop(name)
        return bytes(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))

    def _changed(self, array: Any, rng: Random) -> Any:
        kind = rng.randrange(7)
        if kind == 0:
            return array.astype(rng.choice((np.float32, np.float64, np.int64, np.uint8, np.bool_, np.int32)))
        if kind == 1:
            return array.reshape(-1)[: rng.randrange(array.size + 1)]
        if kind == 2:
            return rng.choice(
                (array[None], array.reshape(-1), np.zeros((0, 3)), np.concatenate([array.reshape(-1)] * 2))
            )
        if array.size:
            flat = array.reshape(-1)
            for _ in range(rng.choice((1, 1, 3))):
                value = rng.choice(
                    (0, -1, 1, 2, 127, 1e300, float("nan"), float("inf"), 2**31 - 1, -(2**31), len(flat))
                )
                with np.errstate(all="ignore"):
                    flat[rng.randrange(flat.size)] = np.array(value).astype(array.dtype)
        return array


class TreesReader(ArraysReader):
    """Arrays of trees."""

    share, folder = 8, "boosting"


class TaskReader(JsonReader):
    """task.json beside a model, used to predict the table."""

    share, folder, name = 4, "model", "task.json"

    def use(self) -> None:
        from ordinoise.app.verbs.model import predict_file
        from ordinoise.app.verbs.request import PredictionRequest

        predict_file(PredictionRequest(self.copy, self.seeds / "t.csv"))


class CheckpointReader(Reader):
    """A checkpoint of PyTorch."""

    share = 4

    def start(self) -> None:
        self.whole = (self.seeds / "checkpoint").read_bytes()

    def draw(self, rng: Random) -> bytes:
        return self._mutant([self.whole], rng)

    def read(self, data: bytes) -> None:
        from ordinoise.learners.torch.checkpoints import read_checkpoint

        state = read_checkpoint(self._written("checkpoint", data))
        if state["model"]["w"].tolist() != [0, 1, 2, 3, 4, 5]:
            raise LostError("a damaged checkpoint is read as a whole one")


class DatabaseReader(Reader):
    """A file of SQLite."""

    file: ClassVar[str]

    def start(self) -> None:
        self.whole = (self.seeds / self.file).read_bytes()

    def draw(self, rng: Random) -> bytes:
        if rng.random() < 0.1:
            return self.whole[:100] + rng.randbytes(100)
        data = bytearray(self._mutant([self.whole], rng))
        data[:16] = self.whole[:16] if rng.random() < 0.8 else data[:16]
        return bytes(data)

    def fresh(self, data: bytes) -> Path:
        """The input as a file without the log of the one before it."""
        for left in self.scratch.glob("s.sqlite*"):
            left.unlink()
        return self._written("s.sqlite", data)


class DecisionsReader(DatabaseReader):
    """decisions.sqlite."""

    share, file = 4, "audit/decisions.sqlite"

    def read(self, data: bytes) -> None:
        from ordinoise.app.review import DecisionStore
        from ordinoise.app.review.settled import settled_rows

        path = self.fresh(data)
        with DecisionStore(path) as store:
            before = store.history()
            event = store.decide("Ann", 4, CLASSES[0])
            store.states()
            settled_rows(store.history(), (), ())
        with sqlite3.connect(path) as connection:
            ids = {found for (found,) in connection.execute("SELECT id FROM events")}
        connection.close()
        if not {event.id, *(one.id for one in before)} <= ids:
            raise LostError("a confirmed decision is not in the file")


class ResultsReader(DatabaseReader):
    """Results of trials."""

    share, file = 3, "results.sqlite"

    def read(self, data: bytes) -> None:
        from ordinoise.jobs import ResultStore

        with ResultStore(self.fresh(data)) as store:
            store.keys()
            store.results()
