"""The fit of the front door to several ratings per item."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ordinoise._validation import Ints
from ordinoise.classifiers._progress import fit_progress
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.evidence import rated_answer
from ordinoise.classifiers.blend.items import Consensus, Items
from ordinoise.classifiers.blend.mixture import Blend
from ordinoise.classifiers.blend.recorded import correction_evidence
from ordinoise.estimation.resolution import needs_data
from ordinoise.labels import Verified, as_column

if TYPE_CHECKING:
    from ordinoise.classifiers.ordinal import OrdinalClassifier


def rated_items(model: OrdinalClassifier, plain: Recorded, items: Any, weighted: Ints) -> Items | None:
    """The items, if they have several ratings that are not simply trusted."""
    if items is None or model.noise is None:
        return None
    rated = Items.of(plain, as_column("items", items)[weighted])
    return rated if rated.are_repeated else None


def consensus_of(model: OrdinalClassifier, rated: Items, raters: Any, trusted: Verified | None, seed: int) -> Consensus:
    """What the ratings alone say about the items, by raters that are estimated or known."""
    from ordinoise.estimation.raters.estimator import RepeatedLabels  # here: a prediction needs none of it

    asked = model.noise
    if isinstance(asked, str) or (isinstance(asked, RepeatedLabels) and needs_data(asked)):
        estimator = RepeatedLabels() if isinstance(asked, str) else clone(asked)
        estimator.set_params(classes=np.arange(rated.rows.n_classes), random_state=seed)
        return rated.by_raters(estimator, raters, trusted)
    return rated.by_matrices(*model._resolved_noise(rated.rows, raters, seed), trusted)


def rated_blend(
    model: OrdinalClassifier, rated: Items, raters: Any, trusted: Verified | None, rng: np.random.Generator
) -> Blend:
    """The blend that the evidence prefers, or that was asked for; sets `noise_` and `folds_`."""
    noise_seed, seed = (int(each) for each in rng.integers(2**31, size=2))
    found = consensus_of(model, rated, raters, trusted, noise_seed)
    folds = model._folds(found.ranks, rng, rated.groups)
    model.folds_ = folds[:, rated.numbers]
    is_estimated, verified = found.noise.is_estimated, trusted is not None
    joint = rated.jointly(found.likelihood, found.ranks), np.arange(len(rated.names))
    compares = is_estimated and model.answer == "auto" and raters is not None and not verified
    with fit_progress(model.verbose, (3 if compares else 1) * model._n_fits(folds, joint[0])) as on_fit:

        def fitted(data: Recorded, item: Ints) -> Blend:
            return rated.expanded(model._fitted_blend(data, folds[:, item], seed, on_fit), item)

        corrected = fitted(*joint) if compares else None
        gain = None
        if corrected is not None:
            gain = correction_evidence(fitted(*rated.trusting()), corrected, found.noise, rated.rows).gain
        answer, reason = model.answer, "asked for"
        if answer == "auto":
            answer, reason = rated_answer(found.noise, gain, verified=verified or not is_estimated)
        model.noise_ = replace(found.noise, answer=answer, reason=reason)
        if answer == "trusting":
            return fitted(*rated.voting())
        return corrected or fitted(*joint)
