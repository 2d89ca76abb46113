"""Other libraries on labels that people made."""

from dataclasses import replace

import numpy as np
import pytest

from studies import people
from studies.accuracy.contestants import CONTESTANTS
from studies.accuracy.contestants.base import Contestant
from studies.accuracy.problems import Problem
from studies.real import Problem as Rated

ITEMS, WHO = np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)
LABELS = np.array([0, 0, 4, 1, 2, 4, 3, 3, 3])


class Middle:
    """Predicts the middle one of the classes that it was trained on."""

    def fit(self, _: object, y: np.ndarray) -> None:
        self.middle = int(np.median(np.unique(y)))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.middle)


def test_a_contestant_is_judged_by_grades_also_if_a_grade_was_never_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Problem] = []

    def make(problem: Problem) -> Middle:
        seen.append(problem)
        return Middle()

    monkeypatch.setitem(CONTESTANTS, "middle", Contestant("middle", make, "none"))
    features = np.zeros((4, 2))
    data = Rated(features, np.array([0, 3, 4, 3]), np.zeros(4, int), features, np.array([3, 3, 1, 4]), 5)
    assert dict(people._errors_of("middle", data, 0)) == {"middle": (0 + 0 + 2 + 1) / 4}
    assert seen[0].n_classes == 3
    assert dict(people._errors_of("middle", replace(data, test_true=np.full(4, 3)), 0)) == {"middle": 0.0}


def test_votes_are_those_of_the_items_in_order() -> None:
    mixed = np.array([8, 3, 0, 5, 7, 1, 2, 4, 6])
    ratings = (ITEMS[mixed], WHO[mixed], LABELS[mixed])
    assert people.AGGREGATIONS["majority"](*ratings).tolist() == [0, 1, 3]
    assert people.AGGREGATIONS["median"](*ratings).tolist() == [0, 2, 3]
    assert people.AGGREGATIONS["mean, rounded"](*ratings).tolist() == [1, 2, 3]


@pytest.mark.filterwarnings("ignore")  # of crowd-kit beside a newer pandas
@pytest.mark.parametrize("name", ["Dawid-Skene, mode", "Dawid-Skene, median", "OneCoinDawidSkene", "MACE"])
def test_unanimous_raters_are_repeated_by_every_aggregation(name: str) -> None:
    pytest.importorskip("crowdkit", reason="needs crowd-kit, which make contestants installs")
    truth = np.array([4, 0, 2, 1, 4, 0, 3, 3])
    items = np.repeat(np.arange(8), 3)[::-1].copy()
    assert people.AGGREGATIONS[name](items, np.tile([0, 1, 2], 8), truth[items]).tolist() == truth.tolist()
