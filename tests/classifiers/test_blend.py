"""What a fit of the front door learns is a function of the data, a plan and a seed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ordinoise import corrupt, inverse_decay
from ordinoise.classifiers.blend.coding import TableCoding
from ordinoise.classifiers.blend.data import Recorded
from ordinoise.classifiers.blend.fit import TrainingData, estimated_noise, fit_blend
from ordinoise.classifiers.blend.fitted import FittedBlend
from ordinoise.classifiers.blend.plan import BlendPlan
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.columns.coding import Columns
from ordinoise.datasets import synthetic

CLEAN = synthetic(25, random_state=0)
X, Y = CLEAN.features, corrupt(CLEAN.labels, inverse_decay(4, 0.15), random_state=1)
PLAN = BlendPlan("mlp", answer="cautious", n_folds=2, n_rounds=1, n_jobs=1)


@pytest.fixture(scope="module")
def data() -> TrainingData:
    coding, table = TableCoding.of(X, X, X.shape[1], Columns({}), np.arange(len(X)))
    return TrainingData(coding, Recorded(table, Y, np.ones(len(Y)), np.eye(4)[None]))


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_classifier_is_what_fit_blend_gives_and_what_its_state_restores(data: TrainingData) -> None:
    model = OrdinalClassifier("mlp", answer="cautious", n_folds=2, n_rounds=1, n_jobs=1, random_state=0).fit(X, Y)
    for _ in range(2):  # neither data nor plan remember a fit
        blend = fit_blend(data, PLAN, np.random.default_rng(0))
        assert_array_equal(blend.probabilities(data.rows.table), model.predict_proba(X))
        assert_array_equal(blend.out_of_fold, model.out_of_fold_)
        assert (blend.noise.reason, blend.learner) == (model.noise_.reason, model.learner_)
    alone = estimated_noise(data, PLAN, np.random.default_rng(0))
    assert_array_equal(alone.matrices, model.noise_.matrices)
    settings, arrays = blend.state()
    again = FittedBlend.of_state(settings, arrays, blend.noise, X.shape[1])
    assert_array_equal(again.probabilities(blend.coding.table(X, X)), model.predict_proba(X))
    with pytest.raises(ValueError, match="learner must be 'mlp', as its models are, got 'boosting'"):
        FittedBlend.of_state(settings | {"learner": "boosting"}, arrays, blend.noise, X.shape[1])
