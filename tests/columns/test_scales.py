"""Orders that the names of grades say, and lists for which none is clear."""

from __future__ import annotations

import random

import pytest

from ordinoise.columns.categories import folded
from ordinoise.columns.scales import proposed_order
from ordinoise.columns.words import SCALES

ORDERED = [
    "D < C < B- < B < B+ < A- < A",
    "D < CCC < B < BB < BBB < A < AA < AAA",
    "d < c < b < a",
    "I < IIA < IIB < IIIC < IV",
    "Stage I < Stage II < Stage IIIA",
    "BI-RADS 3 < BI-RADS 4a < BI-RADS 4b < BI-RADS 5",
    "T1a < T1b < T2",
    "G1 < G2 < G3",
    "1 - poor < 2 - fair < 3 - good",
    "1: low < 2: high",
    "2,5 stars < 3 stars < 10 stars",
    "3/5 < 4/5 < 5/5",
    "\u2605 < \u2605\u2605\u2605 < \u2605\u2605\u2605\u2605\u00bd",
    "\u2605\u2606\u2606 < \u2605\u2605\u2606",
    "low < medium < high",
    "Very_Low < low < HIGH",
    "niedrig < mittel < hoch",
    "faible < moyen < \u00e9lev\u00e9",
    "niski < \u015bredni < wysoki",
    "none < mild < moderate < severe",
    "Strongly disagree < Disagree < Neutral < Agree < Strongly agree",
    "never < rarely < sometimes < often < always",
    "nie < manchmal < oft < immer",
    "mangelhaft < ausreichend < befriedigend < gut < sehr gut",
    "poor < fair < good < very good < excellent",
    "XS < S < M < L < XL",
    "green < yellow < red",
    "A1 < A2 < B1 < B2 < C1 < C2",
]


@pytest.mark.parametrize("order", ORDERED)
def test_names_that_say_their_order_are_put_into_it(order: str) -> None:
    grades = order.split(" < ")
    for seed in range(3):
        assert proposed_order(random.Random(seed).sample(grades, len(grades))) == tuple(grades)


@pytest.mark.parametrize(
    "grades",
    [
        ["bronze", "silver", "gold"],
        ["0-4", "5-10", "10+"],
        ["<5", "5-10"],
        ["low", "medium", "purple"],
        ["low", "Low"],
        ["medium", "mittel"],
        ["yes", "no"],
        ["grade 1", "level 2"],
        ["4/5", "4/10"],
        ["A", "B", "X"],
        ["m", "f"],
        ["2024-01-01", "2024-01-02"],
        ["low"],
        [],
    ],
)
def test_names_without_a_clear_order_get_none(grades: list[str]) -> None:
    assert proposed_order(grades) is None


@pytest.mark.parametrize("number", range(len(SCALES)))
def test_every_word_of_a_scale_has_one_place_and_the_scale_is_found(number: int) -> None:
    words = [word for place in SCALES[number] for word in place.split("|")]
    assert len({folded(word) for word in words}) == len(words)
    assert [word for word in words if word != word.lower() or "-" in word or "_" in word] == []
    firsts = [place.split("|")[0] for place in SCALES[number]]
    assert proposed_order(firsts[::-1]) == tuple(firsts)
