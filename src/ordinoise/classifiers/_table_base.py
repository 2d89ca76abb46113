"""Base of the classifiers that take missing values and categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, validate_data

from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.columns.coding import Columns, is_frame
from ordinoise.columns.refusals import one_sentence


class TableClassifierBase(OrdinalClassifierBase):
    """Takes frames with categories and missing values; `columns_` holds the meaning of each code."""

    categorical_features: Any
    columns_: Columns

    def _checked_features(self, X: Any, *, reset: bool) -> NDArray[np.floating]:
        """Features as finite numbers or NaN, categories as codes; column names are stored or compared."""
        with one_sentence(X):
            return self._converted(X, reset=reset)

    def _converted(self, X: Any, *, reset: bool) -> NDArray[np.floating]:
        wanted: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
        if not is_frame(X) and not (self._names_columns() if reset else self.columns_.categories):
            features: NDArray[np.floating] = validate_data(self, X, reset=reset, **wanted)
            self.columns_ = Columns({}) if reset else self.columns_
            return features if self.columns_.kept is None else features[:, list(self.columns_.kept)]
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            self.columns_ = Columns.of(X, self.categorical_features)
        numbers: NDArray[np.floating] = check_array(self.columns_.encoded(X), **wanted)
        return numbers

    @property
    def _feature_names(self) -> list[str] | None:
        """Names of the feature columns; None if columns have no names."""
        names = getattr(self, "feature_names_in_", None)
        kept = self.columns_.kept
        return None if names is None else [str(names[j]) for j in (range(len(names)) if kept is None else kept)]

    def _names_columns(self) -> bool:
        """Whether `categorical_features` names columns."""
        named = self.categorical_features
        return named is not None and not (isinstance(named, str) and named == "auto")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
