"""Text with grades: the front door on the raw text beside the field's models on the same n-grams.

Amazon snippets, tweets and EmoBank sentences: one random rating per text; the truth is the mean (EmoBank: the median)
of all. CEFR sentences: learned from rater A, tested against A and B. A third of the texts, drawn anew for each split,
is the test set. The audit ranks the training texts, by large errors (more than one grade from the mean of all) and by
any error (another grade than the truth); cleanlab's numbers are those of its best ranking, for each measure anew.

    ORDINOISE_DATA=data python -m studies.text [--splits 5] [--texts 0] [--trees] [--alone]   errors, audits
    ORDINOISE_DATA=data python -m studies.text --time 10000                         seconds beside five-fold regression
    ORDINOISE_DATA=data python -m studies.text --memory 200000                      one fit to many texts
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline, make_union
from threadpoolctl import threadpool_limits

from ordinoise import OrdinalClassifier
from ordinoise._validation import Floats, Ints
from ordinoise.audit import find_label_issues, issues_from_probabilities
from ordinoise.decisions import decide
from studies.audit import METHODS, has_cleanlab

SETS = ("amazon_snippets", "tweets", "emobank_valence", "cefr_wiki")
CUTS = (-2.5, -0.5, 0.5, 2.5)
"""Ratings of -4 to 4 as five grades, as the README of the data has it."""
FIRST = 100  # suspects whose precision is printed


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts with one recorded grade each, the true grades they are tested against, and the mean of all ratings."""

    texts: list[str]
    recorded: Ints
    true: Ints  # (n_texts, n_references)
    mean: Floats

    def rows(self, rows: Ints) -> Texts:
        """Some of the texts."""
        return Texts([self.texts[i] for i in rows], self.recorded[rows], self.true[rows], self.mean[rows])

    @property
    def frame(self) -> pl.DataFrame:
        """The texts as the one column of a frame."""
        return pl.DataFrame({"text": self.texts})


def texts_of(data_dir: Path, name: str, rng: np.random.Generator, most: int) -> Texts:
    with gzip.open(data_dir / "text" / f"{name}.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    rows = [rows[i] for i in rng.permutation(len(rows))[: most or None]]
    texts = [row["text"] for row in rows]
    if name == "cefr_wiki":
        given = np.array([[int(row["rater_a"]) - 1, int(row["rater_b"]) - 1] for row in rows])
        return Texts(texts, given[:, 0], given, given.mean(axis=1))
    ratings = [np.array([int(rating) for rating in row["ratings"].split()]) for row in rows]
    drawn = np.array([rng.choice(some) for some in ratings])
    if name == "emobank_valence":
        median = np.array([round(np.median(some) + 1e-9) - 1 for some in ratings])
        return Texts(texts, drawn - 1, median[:, None], np.array([some.mean() - 1 for some in ratings]))
    true = np.digitize([some.mean() for some in ratings], CUTS)[:, None]
    return Texts(texts, np.digitize(drawn, CUTS), true, np.array([np.digitize(some, CUTS).mean() for some in ratings]))


def grams() -> Any:
    """The n-grams that the front door reads, by scikit-learn."""
    return make_union(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=3, sublinear_tf=True),
    )


def whole(probabilities: Floats, classes: Any, n_classes: int) -> Floats:
    table = np.zeros((len(probabilities), n_classes))
    table[:, classes] = probabilities
    return table


def others(train: Texts, test: Texts, n_classes: int, *, trees: bool) -> dict[str, Ints]:
    """Predictions of the field's models."""
    vectorizer = grams()
    columns, new = vectorizer.fit_transform(train.texts).tocsr(), vectorizer.transform(test.texts).tocsr()
    regression = LogisticRegression(max_iter=1000).fit(columns, train.recorded)
    chances = whole(regression.predict_proba(new), regression.classes_, n_classes)
    rounded = np.rint(Ridge().fit(columns, train.recorded).predict(new))
    found = {
        "logistic, median": decide(chances, "median"),
        "logistic, mode": decide(chances, "mode"),
        "ridge, rounded": np.clip(rounded, 0, n_classes - 1),
    }
    with suppress(ImportError):
        found["mord"] = import_module("mord").LogisticAT().fit(columns, train.recorded).predict(new)
    if trees:
        booster = import_module("lightgbm").LGBMClassifier(verbose=-1, n_jobs=1)
        booster.fit(columns.astype(np.float32), train.recorded)
        found["LightGBM, median"] = decide(
            whole(booster.predict_proba(new.astype(np.float32)), booster.classes_, n_classes), "median"
        )
    return found


def held_out(train: Texts, n_classes: int, seed: int) -> Floats:
    """Probabilities of the recorded grades by five-fold logistic regression, n-grams learned inside each fold."""
    chances = np.zeros((len(train.texts), n_classes))
    for rows, rest in StratifiedKFold(5, shuffle=True, random_state=seed).split(train.texts, train.recorded):
        model = make_pipeline(grams(), LogisticRegression(max_iter=1000))
        model.fit([train.texts[i] for i in rows], train.recorded[rows])
        chances[rest] = whole(model.predict_proba([train.texts[i] for i in rest]), model[-1].classes_, n_classes)
    return chances


def precisions(order: Floats, wrong: dict[str, Any]) -> dict[str, float]:
    """Average precision and precision of the first 100 of an order, the most suspicious first, by kind of error."""
    first = np.argsort(order, kind="stable")[:FIRST]
    found = {}
    for kind, is_wrong in wrong.items():
        found[f"{kind}: average precision"] = float(average_precision_score(is_wrong, -order))
        found[f"{kind}: first 100"] = float(is_wrong[first].mean())
    return found


def cleanlab_precisions(chances: Floats, recorded: Ints, wrong: dict[str, Any]) -> dict[str, float]:
    """The best of cleanlab's label qualities, for each measure on its own."""
    if not has_cleanlab():
        return {}
    qualities = import_module("cleanlab.rank").get_label_quality_scores
    safe = np.maximum(chances, 1e-6) / np.maximum(chances, 1e-6).sum(axis=1, keepdims=True)
    found = [precisions(qualities(recorded, safe, method=method), wrong) for method in METHODS]
    return {measure: max(one[measure] for one in found) for measure in found[0]}


def split(
    data_dir: Path, name: str, seed: int, most: int, *, trees: bool, alone: bool
) -> tuple[dict[str, float], dict[str, Any]]:
    """Errors of every contestant, and the precisions of the audits; with `alone` those of the field's models only."""
    rng = np.random.default_rng([seed, *map(ord, name)])
    data = texts_of(data_dir, name, rng, most)
    order = rng.permutation(len(data.texts))
    test, train = (data.rows(some) for some in (order[: len(order) // 3], order[len(order) // 3 :]))
    n_classes = int(max(data.recorded.max(), data.true.max())) + 1
    found = others(train, test, n_classes, trees=trees)
    if alone:
        return _errors(found, test), {}
    options: dict[str, Any] = {"classes": list(range(n_classes)), "n_jobs": 1, "random_state": seed}
    model = OrdinalClassifier(**options).fit(train.frame, train.recorded)
    is_trusting = model.noise_.answer == "trusting"  # then the same fits with noise=None are the same model
    trusting = model if is_trusting else OrdinalClassifier(noise=None, **options).fit(train.frame, train.recorded)
    found |= {"ours, trusting": trusting.predict(test.frame), "ours": model.predict(test.frame)}
    errors = _errors(found, test)
    if name == "cefr_wiki":
        return errors, {}
    wrong = {"large": np.abs(train.recorded - train.mean) > 1, "any": train.recorded != train.true[:, 0]}
    assert model.out_of_fold_ is not None
    assert trusting.out_of_fold_ is not None
    audits = {}
    for rank_by in ("auto", "large_error"):
        issues = issues_from_probabilities(
            model.out_of_fold_, train.recorded, model.noise_, classes=range(n_classes), rank_by=rank_by
        )
        audits[f"ours, {rank_by}"] = precisions(issues.rank.astype(np.float64), wrong)
    audits["cleanlab, logistic"] = cleanlab_precisions(held_out(train, n_classes, seed), train.recorded, wrong)
    audits["cleanlab, ours trusting"] = cleanlab_precisions(trusting.out_of_fold_, train.recorded, wrong)
    return errors, {"answer": model.noise_.answer, **audits}


def _errors(found: dict[str, Ints], test: Texts) -> dict[str, float]:
    """Mean absolute error of every contestant, against each rater where there are two."""
    return {
        f"{who}{f' ({ref})' if test.true.shape[1] > 1 else ''}": float(np.abs(grades - test.true[:, at]).mean())
        for who, grades in found.items()
        for at, ref in enumerate("AB"[: test.true.shape[1]])
    }


def compare(options: argparse.Namespace, console: Console) -> None:
    for name in options.sets:
        runs = [
            split(options.data_dir, name, seed, options.texts, trees=options.trees, alone=options.alone)
            for seed in range(options.first_split, options.first_split + options.splits)
        ]
        errors = Table("", "mean error", "each split", title=f"{name}, {options.splits} splits")
        for who in runs[0][0]:
            each = [run[0][who] for run in runs]
            errors.add_row(who, f"{np.mean(each):.4f}", " ".join(f"{error:.3f}" for error in each))
        console.print(errors)
        parts = list(runs[0][1].get("ours, auto", ()))
        audits = Table("", *parts, title=f"audit of {name}")
        for who in (who for who in runs[0][1] if runs[0][1][who] and who != "answer"):
            audits.add_row(who, *(f"{np.mean([run[1][who][part] for run in runs]):.4f}" for part in parts))
        if runs[0][1]:
            console.print(audits)
            console.print("answers:", *(run[1]["answer"] for run in runs))


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of some work on one thread: threads that wait for each other count as processor time, too."""
    with threadpool_limits(1):
        start = time.process_time()
        work()
        return time.process_time() - start


def timing(options: argparse.Namespace, console: Console) -> None:
    """Processor seconds of an audit and of five-fold logistic regression, in one process."""
    data = texts_of(options.data_dir, "emobank_valence", np.random.default_rng(0), options.time)
    find_label_issues(data.frame[:60], data.recorded[:60], random_state=0, n_jobs=1)  # compiled before the clock runs
    ours = seconds(lambda: find_label_issues(data.frame, data.recorded, random_state=0, n_jobs=1))
    columns = grams().fit_transform(data.texts).tocsr()

    def five_folds() -> None:
        for rows, _ in StratifiedKFold(5, shuffle=True, random_state=0).split(data.texts, data.recorded):
            LogisticRegression().fit(columns[rows], data.recorded[rows])

    alone = seconds(five_folds)
    with_grams = seconds(lambda: held_out(data, 5, 0))
    console.print(f"{len(data.texts)} texts: audit {ours:.0f} s of one processor")
    console.print(f"five-fold logistic regression {alone:.0f} s ({ours / alone:.2f} times)")
    console.print(f"the same with the n-grams of each fold {with_grams:.0f} s ({ours / with_grams:.2f} times)")


def memory(options: argparse.Namespace, console: Console) -> None:
    """Time and memory of ``ordinoise audit`` on many short texts, each of two halves of EmoBank sentences."""
    rng = np.random.default_rng(0)
    data = texts_of(options.data_dir, "emobank_valence", rng, 0)
    first, second = rng.integers(len(data.texts), size=(2, options.memory))
    words = [text.split() for text in data.texts]
    texts = [
        " ".join(words[i][: len(words[i]) // 2 + 1] + words[j][len(words[j]) // 2 :])
        for i, j in zip(first, second, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "texts.csv")
        pl.DataFrame({"text": texts, "grade": data.recorded[first] + 1}).write_csv(source)
        words_of = [sys.executable, "-m", "ordinoise.app.cli", "audit", str(source), "--target", "grade"]
        subprocess.run([*words_of, "--out", str(Path(folder, "audit"))], check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes, peak = (used.ru_utime + used.ru_stime) / 60, used.ru_maxrss * 1024 / 1e9
    console.print(f"audit of {options.memory} texts: {minutes:.1f} minutes of processor time, {peak:.1f} GB at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first-split", type=int, default=0)
    parser.add_argument("--texts", type=int, default=0, help="texts drawn of each set; 0 for all")
    parser.add_argument("--trees", action="store_true", help="also LightGBM, which takes most of the time")
    parser.add_argument("--alone", action="store_true", help="the field's models only")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--time", type=int, default=0, metavar="TEXTS")
    parser.add_argument("--memory", type=int, default=0, metavar="TEXTS")
    options = parser.parse_args()
    if options.data_dir is None:
        parser.error("data-dir must name the folder of the data, got nothing; set ORDINOISE_DATA")
    options.data_dir = Path(options.data_dir)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (timing if options.time else memory if options.memory else compare)(options, Console(width=110))


if __name__ == "__main__":
    main()
