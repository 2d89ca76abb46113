"""Base of the classifiers that take missing values and categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, validate_data

from ordinoise._frames import as_native
from ordinoise._sparse import is_sparse
from ordinoise._validation import complain
from ordinoise.classifiers.base import OrdinalClassifierBase
from ordinoise.columns.coding import Columns, is_auto, is_frame
from ordinoise.columns.refusals import one_sentence


class TableClassifierBase(OrdinalClassifierBase):
    """Takes frames with categories and missing values; `columns_` holds the meaning of each code."""

    categorical_features: Any
    text_features: Any = None
    columns_: Columns

    def _checked_features(self, X: Any, *, reset: bool) -> Any:
        """Features as finite numbers or NaN, categories as codes; column names are stored or compared.

        A sparse matrix stays one, as CSR; missing values are not allowed in it.
        """
        X = as_native(X)
        with one_sentence(X):
            return self._converted(X, reset=reset)

    def _converted(self, X: Any, *, reset: bool) -> Any:
        wanted: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
        if is_sparse(X):
            return self._converted_sparse(X, reset=reset)
        columns = None if reset else self.columns_
        if not is_frame(X) and not (self._names_columns() if columns is None else columns.categories or columns.texts):
            features: NDArray[np.floating] = validate_data(self, X, reset=reset, **wanted)
            self.columns_ = Columns({}) if reset else self.columns_
            return features if self.columns_.kept is None else features[:, list(self.columns_.kept)]
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            self.columns_ = Columns.of(X, self.categorical_features, self.text_features)
        wanted |= {"ensure_min_features": 0} if self.columns_.texts else {}
        numbers: NDArray[np.floating] = check_array(self.columns_.encoded(X), **wanted)
        return numbers

    def _converted_sparse(self, X: Any, *, reset: bool) -> Any:
        if self._names_columns() if reset else self.columns_.categories or self.columns_.texts:
            raise complain("X", "be a frame or a dense array to have categorical or text columns", "a sparse matrix")
        self.columns_ = Columns({}) if reset else self.columns_
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])

    @property
    def _feature_names(self) -> list[str] | None:
        """Names of the feature columns; None if columns have no names."""
        names = getattr(self, "feature_names_in_", None)
        kept = self.columns_.kept
        return None if names is None else [str(names[j]) for j in (range(len(names)) if kept is None else kept)]

    def _names_columns(self) -> bool:
        """Whether `categorical_features` or `text_features` names columns."""
        named = self.categorical_features, self.text_features
        return any(some is not None and not is_auto(some) for some in named)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
