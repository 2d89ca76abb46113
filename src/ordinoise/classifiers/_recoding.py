"""Labels that a tool of scikit-learn replaced by numbers, in the order of the alphabet, before it called `fit`."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import LabelEncoder

from ordinoise._validation import complain

Labels = tuple[NDArray[Any], ...]

ADVICE = (
    "a tool of scikit-learn, such as cross_val_predict or VotingClassifier, may have recoded them; pass whole numbers "
    "in the order of the grades, such as y.cat.codes, or use ordinoise.out_of_fold(model, X, y)"
)


def labels_outside(kept: Labels) -> Labels:
    """The labels that the tools around a clone were given, innermost first; `kept` are those of the copied model.

    Some tools fit clones to ranks among the sorted labels, and the clone itself sees only the ranks. What they recode
    with stands on the call stack while they clone. A clone that this package makes is fitted to ranks in the right
    order.
    """
    found: list[NDArray[Any]] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("ordinoise."):
            return tuple(found)
        if module.startswith("sklearn."):
            found += [labels for value in frame.f_locals.values() for labels in _labels_of(value)]
        frame = frame.f_back
    return (*found, *kept)


def _labels_of(tool: Any) -> list[NDArray[Any]]:
    """The labels that a tool recodes, if it does."""
    if isinstance(tool, LabelEncoder):
        return [tool.classes_] if hasattr(tool, "classes_") else []
    attributes = getattr(tool, "__dict__", {})
    ensemble = sys.modules.get("sklearn.ensemble")  # loaded if the tool is one of it; it takes long
    if ensemble is not None and isinstance(tool, ensemble.BaggingClassifier) and "classes_" in attributes:
        return [tool.classes_]
    parts = attributes.values() if hasattr(tool, "fit") else ()
    return [labels for part in parts if isinstance(part, LabelEncoder) for labels in _labels_of(part)]


def refuse_recoded(column: NDArray[Any], outside: Labels, classes: Any) -> None:
    """Refuse ranks in the order of the alphabet; ranks of whole numbers are in order unless `classes` names them."""
    if column.dtype.kind not in "iub":
        return
    is_text = classes is not None and any(isinstance(label, str) for label in np.asarray(classes).tolist())
    given = next((labels for labels in outside if labels.dtype.kind in "OUST"), None)
    if given is None and classes is not None:
        given = next((labels for labels in outside if not np.isin(column, labels).all()), None)
    if given is not None or is_text:
        names = np.asarray(classes if is_text or given is None else given).tolist()
        rule = f"hold only the labels {names}" if is_text else f"hold the labels that were passed, {names}"
        raise complain("y", rule, f"whole numbers such as {column[-1]}", ADVICE)
