"""Fits that are kept in a folder while others are still to be made, so that work that was stopped can continue."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import ordinoise
from ordinoise._files import regular_content, write_whole
from ordinoise.classifiers.blend.candidates import Candidate, Fitted
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.state import restored_member, store_member
from ordinoise.classifiers.saving import DAMAGE, Arrays

if TYPE_CHECKING:
    from ordinoise.classifiers.ordinal import OrdinalClassifier

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
    model : OrdinalClassifier
        Its classes and columns check what is read.
    """

    folder: Path
    digest: str
    model: OrdinalClassifier

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
            return Fitted(restored_member(about["member"], arrays, self.model), about["curve"])
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


def blend_digest(
    candidates: Mapping[str, Candidate],
    data: Recorded,
    folds: NDArray[Any],
    seed: int,
    start: Mapping[str, float] | None,
) -> str:
    """Digest of all that decides the fits of a blend; `start` are the likelihoods of the blend that it starts from."""
    found = hashlib.sha256(repr((ordinoise.__version__, dict(candidates), seed, start)).encode())
    for array in _arrays(data, folds):
        found.update(repr((array.dtype.str, array.shape, array.strides)).encode())
        found.update(array.ravel(order="K").view(np.uint8).data if array.size else b"")
    return found.hexdigest()


def _arrays(data: Recorded, folds: NDArray[Any]) -> Iterator[NDArray[Any]]:
    table, filling = data.table, data.table.filling
    yield from (folds, data.ranks, data.weights, data.matrices, table.features, filling.medians, filling.flagged)
    yield from (array for array in (data.index, data.groups) if array is not None)
    for column, codes in filling.codes.items():
        yield from (np.array([column]), codes)
    for counts in table.counts:
        yield from (counts.matrix.data, counts.matrix.indices, counts.matrix.indptr)
