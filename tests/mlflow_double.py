"""As much of MLflow as the recipe uses, where MLflow is not installed: runs are folders, and NaN is refused."""

from __future__ import annotations

import contextlib
import math
import pickle
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


class MLflowDouble(ModuleType):
    """Stands in for the module ``mlflow``; keeps what is logged in `metrics`, `tags` and the folder ``mlruns``."""

    def __init__(self) -> None:
        super().__init__("mlflow")
        self.metrics: dict[str, float] = {}
        self.tags: dict[str, str] = {}
        self.sklearn = SimpleNamespace(log_model=self._log_model, load_model=self._load_model)

    def set_tracking_uri(self, uri: str) -> None:
        """Nothing to set."""

    @contextlib.contextmanager
    def start_run(self) -> Iterator[Any]:
        """A run with a new folder."""
        self.run = SimpleNamespace(info=SimpleNamespace(run_id=uuid.uuid4().hex))
        self.folder = Path("mlruns") / self.run.info.run_id
        self.folder.mkdir(parents=True)
        yield self.run

    def log_metric(self, name: str, value: float) -> None:
        """As MLflow's databases do, refuse NaN."""
        assert not math.isnan(value), f"{name} is NaN"
        self.metrics[name] = float(value)

    def log_metrics(self, values: Mapping[str, float]) -> None:
        """Several at once."""
        for name, value in values.items():
            self.log_metric(name, value)

    def set_tag(self, name: str, value: str) -> None:
        """Keep it."""
        self.tags[name] = value

    def log_artifacts(self, folder: str, name: str) -> None:
        """A copy of the folder."""
        shutil.copytree(folder, self.folder / name)

    def _log_model(self, model: Any, *, name: str, serialization_format: str) -> None:
        assert serialization_format in ("cloudpickle", "pickle")
        (self.folder / name).write_bytes(pickle.dumps(model))

    def _load_model(self, address: str) -> Any:
        _, run, name = address.split("/")
        return pickle.loads((Path("mlruns") / run / name).read_bytes())
