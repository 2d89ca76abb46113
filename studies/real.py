"""Labels that people made: one rating per item, judged against what all others said.

Amazon snippets, tweets and EmoBank sentences (100 components of TF-IDF n-grams; one random rating per text, the truth
is the mean or median of all), and LIDC nodules (the first reader; the truth is the median of the other readers). A
third of the items, drawn anew for each seed, is the test set. The error of the default stands beside the error of
trusting; the average precision of the audit, on the training rows, beside that of cleanlab's best ranking from the
probabilities of the same learners trusting the labels.

    ORDINOISE_DATA=data python -m studies.real --seeds 5
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import average_precision_score

from ordinoise import OrdinalClassifier
from ordinoise._validation import Floats, Ints
from ordinoise.audit import issues_from_probabilities
from studies.audit import cleanlab_precisions

SETS = ("amazon_snippets", "tweets", "emobank_valence", "lidc_malignancy")
CUTS = (-2.5, -0.5, 0.5, 2.5)
"""Ratings of -4 to 4 as five grades, as the README of the data has it."""
MOST_TEXTS = 5000
"""Texts of EmoBank that are drawn, which bounds the time."""
N_COMPONENTS = 100
NO_FEATURES = ("nodule", "scan_id", "n_raters")


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows with one recorded and one true grade each, and test rows with true ones; grades from 0."""

    features: Floats
    recorded: Ints
    true: Ints
    test_features: Floats
    test_true: Ints
    n_classes: int


def problem(data_dir: Path, name: str, seed: int) -> Problem:
    rng = np.random.default_rng([seed, *map(ord, name)])
    features, recorded, true = nodules(data_dir) if name == "lidc_malignancy" else texts(data_dir, name, rng)
    order = rng.permutation(len(true))
    test, train = order[: len(order) // 3], order[len(order) // 3 :]
    if isinstance(features, list):
        table, test_table = components([features[i] for i in train], [features[i] for i in test], seed)
    else:
        table, test_table = features[train], features[test]
    return Problem(table, recorded[train], true[train], test_table, true[test], 5)


def texts(data_dir: Path, name: str, rng: np.random.Generator) -> tuple[list[str], Ints, Ints]:
    with gzip.open(data_dir / "text" / f"{name}.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    rows = [rows[i] for i in rng.permutation(len(rows))[:MOST_TEXTS]]
    ratings = [np.array([int(rating) for rating in row["ratings"].split()]) for row in rows]
    drawn = np.array([rng.choice(given) for given in ratings])
    if name == "emobank_valence":
        recorded, true = drawn - 1, np.array([round(np.median(given) + 1e-9) - 1 for given in ratings])
    else:
        recorded, true = np.digitize(drawn, CUTS), np.digitize([given.mean() for given in ratings], CUTS)
    return [row["text"] for row in rows], recorded, true


def nodules(data_dir: Path) -> tuple[Floats, Ints, Ints]:
    """Nodules with a first reader and at least two others."""
    with (data_dir / "raters" / "lidc_malignancy.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    given = [[int(float(row[f"malignancy_r{i}"])) for i in range(1, 5) if row[f"malignancy_r{i}"]] for row in rows]
    chosen = [i for i, row in enumerate(rows) if row["malignancy_r1"] and len(given[i]) > 2]
    names = [name for name in rows[0] if name not in NO_FEATURES and not name.startswith("malignancy")]
    features = np.array([[float(rows[i][name] or "nan") for name in names] for i in chosen])
    true = np.array([int(np.median(given[i][1:])) - 1 for i in chosen])
    return features, np.array([given[i][0] - 1 for i in chosen]), true


def components(train: list[str], test: list[str], seed: int) -> tuple[Floats, Floats]:
    """Word 1-2-grams and character 2-5-grams of the texts, reduced to 100 components learned from the first."""
    from scipy.sparse import hstack
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    grams = (
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=3, sublinear_tf=True),
    )
    whole = hstack([one.fit_transform(train) for one in grams]).tocsr()
    reduced = TruncatedSVD(N_COMPONENTS, random_state=seed).fit(whole)
    return reduced.transform(whole), reduced.transform(hstack([one.transform(test) for one in grams]).tocsr())


@dataclass(frozen=True)
class Outcome:
    """Errors on the test items, the answer, and the average precision of the audit and of cleanlab's best ranking."""

    trusting: float
    default: float
    answer: str
    precision: float
    cleanlab: dict[str, float]


def outcome(data_dir: Path, name: str, seed: int) -> Outcome:
    data = problem(data_dir, name, seed)

    def fitted(noise: str | None) -> OrdinalClassifier:
        model = OrdinalClassifier(classes=range(data.n_classes), noise=noise, n_jobs=1, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(data.features, data.recorded)

    default = fitted("estimate")
    # The same seed gives the same folds and networks: a default that trusts is the model that never estimated.
    trusting = default if default.noise_.answer == "trusting" else fitted(None)
    errors = {
        way: float(np.abs(model.predict(data.test_features) - data.test_true).mean())
        for way, model in (("trusting", trusting), ("default", default))
    }
    assert default.out_of_fold_ is not None
    assert trusting.out_of_fold_ is not None
    is_wrong = data.recorded != data.true
    issues = issues_from_probabilities(default.out_of_fold_, data.recorded, default.noise_, classes=range(5))
    precision = float(average_precision_score(is_wrong, -issues.rank))
    others = cleanlab_precisions(trusting.out_of_fold_, data.recorded, is_wrong)
    return Outcome(errors["trusting"], errors["default"], default.noise_.answer, precision, others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=SETS, default=SETS)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time, each in a process of its own")
    options = parser.parse_args()
    if options.data_dir is None:
        parser.error("data-dir must name the folder of the data, got nothing; set ORDINOISE_DATA")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    table = Table(title=f"One rating per item, mean of {options.seeds} draws")
    for column in ("set", "trusting", "default", "answers", "precision of the audit", "cleanlab's best", "which"):
        table.add_column(column, justify="left" if column in ("set", "which") else "right")
    worse, ahead, console = [], [], Console(width=140)
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = {
            name: [pool.submit(outcome, Path(options.data_dir), name, s) for s in seeds] for name in options.only
        }
        for name, jobs in waiting.items():
            runs = [job.result() for job in jobs]
            trusting, default, precision = (
                float(np.mean([getattr(run, way) for run in runs])) for way in ("trusting", "default", "precision")
            )
            rankings = {one: float(np.mean([run.cleanlab[one] for run in runs])) for one in runs[0].cleanlab}
            best = max(rankings, key=lambda one: rankings[one]) if rankings else "not installed"
            answers = ", ".join(f"{n} {answer}" for answer, n in Counter(run.answer for run in runs).items())
            other = rankings.get(best, np.nan)
            row = [name, f"{trusting:.4f}", f"{default:.4f}", answers, f"{precision:.3f}", f"{other:.3f}", best]
            table.add_row(*row)
            console.print(" | ".join(row), highlight=False)
            worse.append(default - trusting)
            ahead.append(precision - other)
    console.print(table)
    console.print(f"default less trusting: worst {max(worse):+.4f}, mean {np.mean(worse):+.4f}")
    console.print(f"average precision, ours less cleanlab's best: least {min(ahead):+.4f}, mean {np.mean(ahead):+.4f}")


if __name__ == "__main__":
    main()
