"""What the page says in plain words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.report.cases import DOUBTS, findings, slipping, too_few_rows, with_noise
from ordinoise._text import percent
from ordinoise.app.records.audit import AuditRecord
from ordinoise.app.report.action import Baseline, baseline_of, steps_of
from ordinoise.app.report.axis import ScoreAxis
from ordinoise.app.report.certainty import MEANINGS, certainty_of
from ordinoise.app.report.contents import _threshold_places
from ordinoise.app.report.matrix import directions_of
from ordinoise.app.report.sentences import ANSWERS, directions_in_words, how_good, score_lines, summary, which_way
from ordinoise.app.report.words import (
    counted,
    first_of_consecutive,
    grades_in_words,
    listed,
    number,
    shortened,
    squeezed,
)
from ordinoise.estimation.score.doubts import doubts_about
from ordinoise.noise import Doubt
from ordinoise.scoring.evaluation import Evaluation
from ordinoise.scoring.metrics import CorrectedScore, ranked_probability_score


def counting(wrong: float, low: float, high: float, n_graded: int = 1599) -> AuditRecord:
    return replace(findings().record, wrong=wrong, wrong_low=low, wrong_high=high, n_graded=n_graded)


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (counting(212.2, 180, 245), "About 212 of 1,599 grades are probably wrong (13%; 95% interval 11% to 15%)."),
        (counting(1.1, 0.9, 1.4), "About 1 of 1,599 grades is probably wrong (0.1%; 95% interval 0.1% to 0.1%)."),
        (counting(0.1, 0, 0.4), "There is no sign that any of 1,599 grades is wrong."),
        (counting(0.1, 0, 7), "There is no sign that any of 1,599 grades is wrong, though up to 7 may be."),
        (counting(100, 0, 190), "About 100 of 1,599 grades may be wrong (6.3%; 95% interval 0% to 12%)."),
    ],
    ids=["usual", "one", "none", "perhaps none", "down to none"],
)  # fmt: skip
def test_the_number_of_wrong_labels_is_reported_with_its_interval(record: AuditRecord, sentence: str) -> None:
    assert record.finding.sentences[0] == sentence


def test_too_few_rows_are_reported_and_nothing_is_claimed_of_true_grades() -> None:
    found = too_few_rows(40)
    lead = summary(found.record, found.scores, directions_of(found.record.noise))
    assert lead[0] == "There are too few rows to estimate how many of 40 grades are wrong."
    assert lead[-1] == "Too few rows to tell. The labels were used as they are."
    assert not any("compared with the true" in sentence for sentence in lead)
    way = directions_in_words(found.record, directions_of(found.record.noise))
    assert way == "There are too few rows to estimate in which direction grades are wrong."
    sure = certainty_of(found.record)
    assert (sure.verdict, sure.tone) == ("Unknown", "doubt")
    # Nothing is known of the share, so the worst is planned with: 1.96 * sqrt(0.5 * 0.5 / 40).
    assert "to within about 15 percentage points" in sure.advice[0][1]


def test_a_wide_range_is_called_wide() -> None:
    assert len(counting(100, 60, 140).finding.sentences) == 1
    assert counting(100, 40, 160).finding.sentences[1] == "That interval is wide: the number is a rough guide."


@pytest.mark.parametrize(
    ("down", "up", "words"),
    [
        (0.15, 0.05, "mostly too low ("),
        (0.05, 0.15, "mostly too high ("),
        (0.1, 0.1, "about as often too low"),
        (0.0, 0.1, "always too high, always by a single grade"),
    ],
)
def test_the_direction_follows_the_side_of_the_diagonal(down: float, up: float, words: str) -> None:
    record = findings(matrix=slipping(5, down, up)).record
    assert words in which_way(record, directions_of(record.noise))[0]


def test_the_grade_most_often_wrong_is_named_with_what_it_is_taken_for() -> None:
    matrix = slipping(4, 0.1, 0.05)
    matrix[2] = [0.05, 0.1, 0.55, 0.3]
    record = findings(4, matrix=matrix, classes=["poor", "fair", "good", "best"]).record
    sentence = which_way(record, directions_of(record.noise))[1]
    assert (
        sentence
        == "Most often wrong is “good”: 45% of the rows with this true grade are recorded as another, mostly as “best”."
    )


def test_a_rare_grade_is_not_called_the_worst() -> None:
    matrix = slipping(3, 0.1, 0.05)
    matrix[0] = [0.55, 0.45, 0.0]
    found = with_noise(findings(3, matrix=matrix), class_shares=(0.001, 0.5, 0.499))
    assert directions_of(found.record.noise).worst == 1


def test_of_a_hundred_wrong_grades_too_low_and_too_high_are_counted() -> None:
    noise = with_noise(findings(3, matrix=slipping(3, 0.3, 0.1)), class_shares=(0.25, 0.5, 0.25)).record
    # Too low: 0.5 * 0.3 + 0.25 * 0.3; too high: 0.25 * 0.1 + 0.5 * 0.1.
    assert directions_in_words(noise, directions_of(noise.noise)).startswith(
        "By the fitted matrix, which nothing verifies: of 100 wrong grades, about 75 are too low and 25 too high; none"
    )


def test_two_grades_are_reported_as_a_pair() -> None:
    record = findings(2, classes=["no", "yes"]).record
    (sentence,) = which_way(record, directions_of(record.noise))
    assert (
        sentence
        == "Of the rows that are truly “no”, 5.0% are recorded as “yes”; of those that are truly “yes”, 15% as “no”."
    )


def test_doubts_and_given_matrices_are_reported_in_the_summary() -> None:
    usual = findings()
    directions = directions_of(usual.record.noise)
    given = with_noise(usual, source="given")
    for answer, words in (
        ("cautious", "Predictions are cautious"),
        ("trusting", "Predictions take the grades as they"),
    ):
        doubted = with_noise(usual, doubts=DOUBTS, answer=answer)
        assert summary(doubted.record, doubted.scores, directions)[-1].startswith(words)
    assert (
        summary(given.record, given.scores, directions)[-1]
        == "The noise matrix was given, not estimated from these rows."
    )
    assert summary(usual.record, usual.scores, directions)[-1] == ANSWERS["corrected"]


def test_a_number_that_cannot_be_told_is_a_range() -> None:
    record = replace(counting(1, 12.3, 400), wrong=None)
    sentence, *more = record.finding.sentences
    assert more[-1] == "Verify 60 rows drawn at random to have a number."
    assert sentence.startswith("Between 12 and 400 of 1,599 grades are wrong (0.8% to 25%); more cannot be told")
    assert record.finding.kind == "range"
    trusting = replace(record, noise=replace(record.noise, answer="trusting", reason="nothing was gained"))
    assert certainty_of(trusting).verdict == "Known as a range"
    assert "trusting, as nothing was gained" in certainty_of(trusting).explanation


def test_the_error_on_true_grades_is_reported_as_far_as_it_is_known() -> None:
    score = CorrectedScore(0.0, 0.0, 0.04, standard_error=0.03, observed=0.3)
    (sentence,) = how_good(Evaluation({"mean_absolute_error": score}, 10, 0.95, 0))
    assert sentence.endswith(
        "are off by 0.30 grades on average; compared with the true ones, if the noise matrix is right, by about 0.00 (0.00 to 0.04)."
    )
    (sentence,) = how_good(Evaluation({"mean_absolute_error": score}, 10, 0.95, 0, in_doubt=True))
    assert sentence.endswith(
        "are off by 0.30 grades on average; compared with the true ones, if the noise matrix is right, by 0.00 to 0.04."
    )
    unknown = replace(score, value=np.nan, low=np.nan, high=np.nan)
    (sentence,) = how_good(Evaluation({"mean_absolute_error": unknown}, 10, 0.95, 0))
    assert sentence.endswith("are off by 0.30 grades on average.")
    assert how_good(Evaluation({}, 10, 0.95, 0)) == []
    beside = Baseline("fair", {"mean_absolute_error": 1.22})
    (sentence,) = how_good(Evaluation({"mean_absolute_error": score}, 10, 0.95, 0), beside)
    assert "are off by 0.30 grades on average (always “fair”: 1.22); compared with the true ones" in sentence


def test_an_interval_that_is_too_wide_is_not_printed() -> None:
    known = CorrectedScore(0.2, 0.14, 0.26, standard_error=0.03, observed=0.3)
    wide, endless = replace(known, low=-90.0, high=90.0), replace(known, low=-np.inf, high=np.inf)
    lines = score_lines({"mean_absolute_error": known, "zero_one_loss": wide, "accuracy_off1_score": endless})
    assert [line["interval"] for line in lines] == ["0.14 to 0.26", "too wide to show", "too wide to show"]


def test_every_known_doubt_has_plain_words_and_an_unknown_one_keeps_its_own() -> None:
    sure = certainty_of(with_noise(findings(), doubts=DOUBTS).record)
    assert (sure.verdict, sure.tone) == ("In doubt", "doubt")
    (few, own), (nothing, unknown) = sure.doubts
    assert few.startswith("There are few rows")
    assert own.startswith("only 300 samples")
    assert (nothing, unknown) == ("", "something nobody has a phrase for")


@pytest.mark.parametrize("code", MEANINGS)
def test_what_a_doubt_means_goes_by_its_code_whatever_its_sentence_says(code: str) -> None:
    others = [other for other in MEANINGS if other != code]
    # Words of every other doubt, and none at all.
    for sentence in (*others, *(MEANINGS[other] for other in others), "", "only 300 samples; nearly flat; two starts"):
        record = with_noise(findings(), doubts=(Doubt(code, sentence),)).record
        assert certainty_of(record).doubts == ((MEANINGS[code], sentence),)
    misspelt = with_noise(findings(), doubts=(Doubt(f"{code}-", MEANINGS[code]),)).record
    assert certainty_of(misspelt).doubts == (("", MEANINGS[code]),)


def test_every_code_has_a_meaning_of_its_own() -> None:
    assert {
        "few-samples": MEANINGS["few-samples"].startswith("There are few rows"),
        "flat-likelihood": "different amounts of noise would explain" in MEANINGS["flat-likelihood"],
        "starts-disagree": "different starting points" in MEANINGS["starts-disagree"],
        "only-neighbors": "errors are of a single grade" in MEANINGS["only-neighbors"],
        "maybe-clean": "no noise at all" in MEANINGS["maybe-clean"],
        "moved-grade": "usually recorded as another" in MEANINGS["moved-grade"],
        "predicted-surprise": "the columns show which" in MEANINGS["predicted-surprise"],
        "verified-disagree": "so it is not used" in MEANINGS["verified-disagree"],
        "no-signal": "hardly help to predict" in MEANINGS["no-signal"],
        "weak-columns": "explain little" in MEANINGS["weak-columns"],
        "too-few-rows": "so few rows" in MEANINGS["too-few-rows"],
    } == dict.fromkeys(MEANINGS, True)


def test_every_doubt_of_the_estimator_has_plain_words() -> None:
    doubts = doubts_about(slipping(3), np.full(3, 1 / 3), 0.2, 0.5, 0.5, 100)
    doubts += doubts_about(slipping(3)[::-1], np.full(3, 1 / 3), 0.0, 0.0, 0.0, 1000)
    assert len(doubts) == 6
    doubted = with_noise(findings(), doubts=doubts).record
    meanings = [plain for plain, _ in certainty_of(doubted).doubts]
    assert all(meanings)
    assert len(set(meanings)) == 6


def test_the_verdict_follows_the_width_of_the_interval() -> None:
    widths = [(90, 110), (50, 150), (0, 300)]
    verdicts = [certainty_of(counting(100, low, high, 1000)).verdict for low, high in widths]
    assert verdicts == ["Precise", "Fairly precise", "Imprecise"]


def test_advice_fits_what_is_there() -> None:
    titles = [title for title, _ in certainty_of(findings().record).advice]
    assert titles == [
        "Ask a second rater",
        "Review the suspicious rows",
        "Use what is already known",
        "Grade more rows",
    ]
    given = with_noise(findings(n_rows=700, suspects=()), source="given").record
    assert [title for title, _ in certainty_of(given).advice] == ["Ask a second rater"]


@pytest.mark.parametrize(
    ("n_graded", "words"), [(5000, "Have 550 rows, drawn at random, graded"), (40, "Have all 40 rows graded")]
)
def test_the_second_rater_gets_as_many_rows_as_tell_the_rate(n_graded: int, words: str) -> None:
    record = counting(0.15 * n_graded, 0, n_graded, n_graded)
    # 1.96^2 * 0.15 * 0.85 / 0.03^2 = 544.2, in tens.
    assert certainty_of(record).advice[0][1].startswith(words)


def test_numbers_are_rounded_for_readers() -> None:
    assert [percent(share) for share in (0, 0.0004, 0.0123, 0.0996, 0.126, 0.996, 0.9999, 1, np.nan)] == [
        "0%", "<0.1%", "1.2%", "10%", "13%", "99.6%", ">99.9%", "100%", "–",  # noqa: RUF001
    ]  # fmt: skip
    assert [number(value) for value in (0.128, -0.001, -0.5, np.inf)] == ["0.13", "0.00", "\u22120.50", "–"]  # noqa: RUF001
    assert (counted(1, "row"), counted(1599, "row")) == ("1 row", "1,599 rows")


@pytest.mark.parametrize(
    ("classes", "first"), [(["3", "4", "5"], 3), (["1", "3"], None), (["a", "b"], None), (["1.0", "2.0"], None)]
)
def test_grades_one_apart_are_known_by_their_lowest(classes: list[str], first: int | None) -> None:
    assert first_of_consecutive(classes) == first


def test_names_are_cut_and_kept_from_turning_the_sentence_round() -> None:
    assert shortened("a\n b" + " c" * 100, 7) == "a b c…"
    assert shortened(" " * 10_000 + "x", 5) == "…"
    assert squeezed("a rather long name of grade 17") == "a rather l…de 17"
    assert grades_in_words(["1", " 2", "-3.5"]) == ["grade 1", "grade 2", "grade -3.5"]
    assert grades_in_words(["1", "שלום"]) == ["“1”", "“\u2068שלום\u2069”"]  # noqa: RUF001
    assert (listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or"), listed([])) == (
        "a",
        "a and b",
        "a, b or c",
        "",
    )


def test_the_steps_name_the_folder_and_quote_what_a_shell_would_run() -> None:
    record = findings().record
    columns = [replace(one, name="a'b") if one.role == "target" else one for one in record.columns]
    record = replace(record, source="/data/my file; rm.csv", target="a'b", columns=tuple(columns))
    commands = [step.command for step in steps_of(record, "my audit")]
    assert commands[0] == "ordinoise review 'my audit'"
    assert commands[1].startswith("ordinoise audit 'my file; rm.csv' --target 'a'\"'\"'b' --reviewed 'my audit'")
    assert commands[2] == "ordinoise next 'my audit' --spot-check --budget 60"
    assert steps_of(replace(record, suspects=()), "audit")[0].command == "ordinoise next audit"
    again = steps_of(record, "audit", ["--order", "low,very high", "--no-header"])[1].command
    assert "--order 'low,very high' --no-header --reviewed audit" in again
    assert len(steps_of(record)) == 1
    in_parts = steps_of(record, "audit", in_parts=True)
    assert [step.command for step in in_parts] == ["ordinoise review audit", ""]
    assert "are for one file that is read at once" in in_parts[1].words
    assert steps_of(replace(record, says_nothing=True), "audit")[0].command == ""


def test_the_baseline_is_that_of_always_the_middle_grade() -> None:
    recorded = np.array([0, 0, 1, 2, 2, 2, 3])
    found = baseline_of(recorded, ("a", "b", "c", "d"), ["mean_absolute_error", "zero_one_loss", "kendall_tau"])
    assert found.grade == "c"
    assert found.texts == (f"{np.abs(recorded - 2).mean():.2f}", f"{(recorded != 2).mean():.2f}", "–")  # noqa: RUF001
    ranked = baseline_of(recorded, ("a", "b", "c", "d"), ["ranked_probability_score"]).texts[0]
    shares = np.bincount(recorded) / 7
    assert ranked == f"{ranked_probability_score(recorded, np.tile(shares, (7, 1))):.2f}"


def test_text_grades_have_no_thresholds_counted_from_zero() -> None:
    axis = ScoreAxis.__new__(ScoreAxis)
    object.__setattr__(axis, "thresholds", np.array([0.5, 1.5]))
    assert _threshold_places(axis, ("low", "medium", "high")) == ""
    assert "at 1.50 and 2.50" in _threshold_places(axis, ("1", "2", "3"))
