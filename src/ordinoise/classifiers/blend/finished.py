"""Fits that are kept in a folder while others are still to be made, so that work that was stopped can continue."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import ordinoise
from ordinoise._files import regular_content, write_whole
from ordinoise.classifiers.blend.candidates import Candidate, Fitted
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.state import Shape, restored_member, store_member
from ordinoise.classifiers.saving import DAMAGE, Arrays

KEY, ABOUT = "fit", "about"
N_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, eq=False)
class FinishedFits:
    """The finished fits of one blend.

    Attributes
    ----------
    folder : Path
        Made with the first fit that is kept.
    digest : str
        Of everything that decides the result. A fit of other data or other settings has another name and is not seen.
    shape : Shape
        What is read must fit it.
    """

    folder: Path
    digest: str
    shape: Shape

    @classmethod
    def of(
        cls,
        folder: Path,
        candidates: Mapping[str, Candidate],
        data: Recorded,
        folds: NDArray[Any],
        seed: int,
        start: Mapping[str, float] | None,
    ) -> Self:
        """The fits of these candidates; `start` are the likelihoods of the blend that they start from."""
        digest = hashlib.sha256(repr((ordinoise.__version__, dict(candidates), seed, start)).encode())
        for array in _arrays(data, folds):
            digest.update(repr((array.dtype.str, array.shape, array.strides)).encode())
            digest.update(array.ravel(order="K").view(np.uint8).data if array.size else b"")
        n_counts = [some.matrix.shape[1] for some in data.table.counts]
        shape = Shape(data.n_classes, data.table.features.shape[1], n_counts, data.table.filling.codes)
        return cls(folder, digest.hexdigest(), shape)

    def read(self, name: str, number: int) -> Fitted | None:
        """A fit that was kept; None if there is none, or if its file is damaged."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            content = regular_content(self._path(name, number))
            if hashlib.sha256(content[N_DIGEST:]).digest() != content[:N_DIGEST]:
                return None
            arrays: Arrays = load(content[N_DIGEST:])
            about = json.loads(arrays.pop(ABOUT).tobytes())
            return Fitted(restored_member(about["member"], arrays, self.shape), about["curve"])
        except (OSError, SafetensorError, *DAMAGE):
            return None

    def write(self, name: str, number: int, fitted: Fitted) -> None:
        """Keep a fit; a full disk or a folder that is gone costs no more than that it is not kept."""
        from safetensors.numpy import save

        arrays: Arrays = {}
        about = {"member": store_member(KEY, fitted.model, arrays), "curve": [float(loss) for loss in fitted.curve]}
        arrays[ABOUT] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        content = save({key: np.ascontiguousarray(array) for key, array in arrays.items()})
        with suppress(OSError):
            self.folder.mkdir(exist_ok=True)
            write_whole(self._path(name, number), hashlib.sha256(content).digest() + content)

    def _path(self, name: str, number: int) -> Path:
        return self.folder / f"{self.digest[:32]}-{re.sub('[^a-z]', '-', name)}-{number}.fit"


def _arrays(data: Recorded, folds: NDArray[Any]) -> Iterator[NDArray[Any]]:
    table, filling = data.table, data.table.filling
    yield from (folds, data.ranks, data.weights, data.matrices, table.features, filling.medians, filling.flagged)
    yield from (array for array in (data.index, data.groups) if array is not None)
    for column, codes in filling.codes.items():
        yield from (np.array([column]), codes)
    for counts in table.counts:
        yield from (counts.matrix.data, counts.matrix.indices, counts.matrix.indptr)
