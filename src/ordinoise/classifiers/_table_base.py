"""What the classifiers share that take missing values and categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, validate_data

from ordinoise.classifiers._columns import Columns, is_frame
from ordinoise.classifiers.base import OrdinalClassifierBase


class TableClassifierBase(OrdinalClassifierBase):
    """Frames with categories and gaps in; what each code stands for is remembered in `columns_`."""

    categorical_features: Any
    columns_: Columns

    def _checked_features(self, X: Any, *, reset: bool) -> NDArray[np.floating]:
        """Numbers without infinities, categories as codes; column names remembered or compared."""
        wanted: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
        if not is_frame(X) and not (self._names_columns() if reset else self.columns_.categories):
            features: NDArray[np.floating] = validate_data(self, X, reset=reset, **wanted)
            self.columns_ = Columns({}) if reset else self.columns_
            return features
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            self.columns_ = Columns.of(X, self.categorical_features)
        numbers: NDArray[np.floating] = check_array(self.columns_.encoded(X), **wanted)
        return numbers

    def _names_columns(self) -> bool:
        """Whether some columns are said to be categorical."""
        named = self.categorical_features
        return named is not None and not (isinstance(named, str) and named == "auto")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
