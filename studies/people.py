"""Other libraries on labels that people made, beside ours.

    ORDINOISE_DATA=data python -m studies.people models [--seeds 5] [--only lidc_malignancy]
    ORDINOISE_DATA=data python -m studies.people consensus

models: one rating per item is learned, the error counts against what all others said: the draws of `studies.real`, and
the contestants of `studies.accuracy` with their settings there. consensus: several named raters, web search against
gold and the simulated raters of `studies.raters`, with the aggregations of crowd-kit; five unnamed ratings per text,
with cleanlab's CROWDLAB, which also reads the probabilities of a model. `make contestants` installs all of them.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ordinoise._validation import Floats, Ints
from ordinoise.datasets import web_search
from ordinoise.decisions import decide
from studies import raters, real
from studies.accuracy.contestants import CONTESTANTS, OWN
from studies.accuracy.problems import Problem
from studies.paired import compared
from studies.simulated_raters import Drawn, class_conditional, perceived

MARGIN = 0.005  # differences below it count as none; that of `studies.label_errors`
N_CLASSES = 5
NAMES = tuple(name for name, one in CONTESTANTS.items() if one.group == "bench" and not one.is_ours)
CROWDS = ((1500, 80, 0.15), (400, 25, 0.15), (1000, 10, 0.0))
"""Items, raters and the share of them that guesses, as in `studies.raters`."""
TEXT_DRAWS = range(50, 55)
"""Draws of five ratings per text that no choice was made on."""
SCORES = ("wrong", "distance")
PUBLISHED = {"ordinal entropy, as published": (0.104, 0.118)}
"""Share wrong and distance on web search, from the table of Zhou, Liu, Platt and Meek, ICML 2014."""


# One rating per item --------------------------------------------------------------------------------------


def errors(data_dir: Path, name: str, seed: int) -> dict[str, float]:
    """Error of every contestant and of ours on the test items of one draw."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = real.outcome(data_dir, name, seed)
        found = {"ordinoise": ours.default, "ordinoise, trusting": ours.trusting}
        data = real.problem(data_dir, name, seed)
        for contestant in NAMES:
            found |= dict(_errors_of(contestant, data, seed))
    return found


def _errors_of(name: str, data: real.Problem, seed: int) -> Iterator[tuple[str, float]]:
    contestant = CONTESTANTS[name]
    grades, codes = np.unique(data.recorded, return_inverse=True)
    n_classes = len(grades)
    problem = Problem(
        data.features, codes, data.test_features, data.test_true, n_classes, np.eye(n_classes), 0.0, seed
    )  # fmt: skip
    model = contestant.make(problem)
    model.fit(data.features, codes)
    for decision, entry in contestant.entries.items():
        if decision == OWN:
            predicted = np.asarray(model.predict(data.test_features), dtype=np.int64)
        else:
            predicted = decide(model.predict_proba(data.test_features), decision)
        yield entry, float(np.abs(grades[predicted] - data.test_true).mean())


def models(console: Console, options: argparse.Namespace) -> None:
    """Errors of all models, by set, and by how much that of the default is lower."""
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = {name: [pool.submit(errors, options.data_dir, name, s) for s in seeds] for name in options.only}
        by_set = {name: [job.result() for job in jobs] for name, jobs in waiting.items()}
    entries = list(by_set[options.only[0]][0])
    means = {entry: [float(np.mean([run[entry] for run in runs])) for runs in by_set.values()] for entry in entries}
    console.print(
        f"Mean absolute error, one rating per item, mean of {len(seeds)} draws; behind: by how much the error of\n"
        "ordinoise is lower on average over sets (95 % interval by a bootstrap over sets)\n"
    )
    table = _table("model", *by_set, "mean", "behind")
    for entry in sorted(entries, key=lambda one: float(np.mean(means[one]))):
        gap = compared(np.subtract(means[entry], means["ordinoise"]), MARGIN)
        behind = "" if entry == "ordinoise" else f"{gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"
        table.add_row(entry, *(f"{value:.3f}" for value in means[entry]), f"{np.mean(means[entry]):.3f}", behind)
    console.print(table)


# Several ratings per item ---------------------------------------------------------------------------------


def _crowd_kit(method: str, items: Ints, who: Ints, labels: Ints) -> Ints:
    found = getattr(import_module("crowdkit.aggregation"), method)().fit_predict(_frame(items, who, labels))
    return np.asarray(found.sort_index(), dtype=np.int64)


def _dawid_skene(decision: str, items: Ints, who: Ints, labels: Ints) -> Ints:
    model = import_module("crowdkit.aggregation").DawidSkene()
    found = model.fit_predict_proba(_frame(items, who, labels)).sort_index().reindex(columns=range(N_CLASSES))
    return decide(found.fillna(0.0).to_numpy(), decision)


def _frame(items: Ints, who: Ints, labels: Ints) -> Any:
    return import_module("pandas").DataFrame({"task": items, "worker": who, "label": labels})


def _majority(items: Ints, _: Ints | None, labels: Ints) -> Ints:
    return raters.voted(items, labels, lambda each: int(np.bincount(each).argmax()))


def _median(items: Ints, _: Ints | None, labels: Ints) -> Ints:
    return raters.medians(items, labels)


def _mean(items: Ints, _: Ints | None, labels: Ints) -> Ints:
    return raters.voted(items, labels, lambda each: int(each.mean() + 0.5))


def _ours(items: Ints, who: Ints, labels: Ints) -> Ints:
    return np.asarray(raters.repeated(0).fit(items, who, labels).consensus_)


AGGREGATIONS: dict[str, Callable[[Ints, Ints, Ints], Ints]] = {
    "majority": _majority,
    "median": _median,
    "mean, rounded": _mean,
    "Dawid-Skene, mode": partial(_dawid_skene, "mode"),
    "Dawid-Skene, median": partial(_dawid_skene, "median"),
    # Wawa and ZeroBasedSkill of crowd-kit 1.4.2 fail under scikit-learn 1.9.
    **{name: partial(_crowd_kit, name) for name in ("OneCoinDawidSkene", "GLAD", "MACE", "MMSR")},
    "RepeatedLabels()": _ours,
}
"""The consensus of each method, items in order, from items, raters and labels; those between mean and ours are
crowd-kit's."""


def consensus(console: Console, options: argparse.Namespace) -> None:
    """Share of wrong grades of the consensus, and their mean distance from the truth."""
    crowds = [(draw, size) for draw in (class_conditional, perceived) for size in CROWDS]
    heads = [f"{'matrices' if draw is class_conditional else 'perception'} {n}/{m}" for draw, (n, m, _) in crowds]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        on_web = {name: pool.submit(_web, name, options.data_dir) for name in AGGREGATIONS}
        simulated = {
            name: [
                [pool.submit(_simulated, name, draw, seed, size) for seed in range(100, 106)] for draw, size in crowds
            ]
            for name in AGGREGATIONS
        }
        texts = {
            name: [pool.submit(_texts, options.data_dir, name, seed) for seed in TEXT_DRAWS] for name in real.SETS[:2]
        }
        table = _table("web search", "wrong", "distance")
        for name, scores in ({name: job.result() for name, job in on_web.items()} | PUBLISHED).items():
            table.add_row(name, *_shown(scores))
        console.print(table)
        table = _table("simulated raters: wrong", *heads, "mean")
        for name, jobs in simulated.items():
            wrong = [float(np.mean([job.result()[0] for job in seeds])) for seeds in jobs]
            table.add_row(name, *_shown([*wrong, float(np.mean(wrong))]))
        console.print(table)
        table = _table("five unnamed ratings per text", *(f"{name}, {what}" for name in texts for what in SCORES))
        runs = {name: [job.result() for job in jobs] for name, jobs in texts.items()}
        for method in runs[real.SETS[0]][0]:
            means = [np.mean([run[method] for run in of_set], axis=0) for of_set in runs.values()]
            table.add_row(method, *_shown(np.concatenate(means), 4))
        console.print(table)


def _web(name: str, data_dir: Path) -> tuple[float, float]:
    data = web_search(data_dir)
    assert data.truth is not None
    return _scores(AGGREGATIONS[name](data.items, data.raters, data.labels), data.truth)


def _simulated(
    name: str, draw: Callable[[int, int, int, float], Drawn], seed: int, size: tuple[int, int, float]
) -> tuple[float, float]:
    drawn = draw(seed, *size)
    warnings.simplefilter("ignore")
    return _scores(AGGREGATIONS[name](drawn.items, drawn.raters, drawn.labels), drawn.truth)


def _texts(data_dir: Path, name: str, seed: int) -> dict[str, tuple[float, float]]:
    """Scores against the cut mean of all ratings; cleanlab's and ours also with 100 components of n-grams."""
    warnings.simplefilter("ignore")
    path = data_dir / "text" / f"{name}.csv.gz"
    sentences = [row["text"] for row in raters.rows_of(path)]
    features, _ = real.components(sentences, sentences[:1], 0)
    items, labels, truth = raters.five_of_all(path, seed)
    found = {method: AGGREGATIONS[method](items, items, labels) for method in ("majority", "median", "mean, rounded")}
    found["CROWDLAB, logistic regression"] = _crowdlab(labels.reshape(len(truth), -1), found["majority"], features)
    for way, given in (("RepeatedLabels()", None), ("RepeatedLabels(), with features", features)):
        found[way] = raters.repeated(seed).fit(items, None, labels, X=given).consensus_
    return {method: _scores(grades, truth) for method, grades in found.items()}


def _crowdlab(ratings: Ints, votes: Ints, features: Floats) -> Ints:
    """The consensus of cleanlab's CROWDLAB, every column of the ratings one annotator."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    probabilities = np.zeros((len(votes), N_CLASSES))
    probabilities[:, np.unique(votes)] = cross_val_predict(model, features, votes, cv=5, method="predict_proba")
    quality = import_module("cleanlab.multiannotator").get_label_quality_multiannotator
    return np.asarray(quality(ratings, probabilities, verbose=False)["label_quality"]["consensus_label"])


def _scores(found: Ints, truth: Ints) -> tuple[float, float]:
    wrong, distance, _, _ = raters.scores(found, truth, None)
    return wrong, distance


def _shown(values: Iterable[float], digits: int = 3) -> list[str]:
    return [f"{value:.{digits}f}" for value in values]


def _table(first: str, *others: str) -> Table:
    table = Table()
    for name in (first, *others):
        table.add_column(name, justify="left" if name == first else "right", no_wrap=name == first)
    return table


PARTS = {"models": models, "consensus": consensus}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=list(PARTS))
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=real.SETS, default=real.SETS)
    parser.add_argument("--jobs", type=int, default=1, help="draws at a time, each in a process of its own")
    options = parser.parse_args()
    if options.data_dir is None:
        parser.error("data-dir must name the folder of the data, got nothing; set ORDINOISE_DATA")
    options.data_dir = Path(options.data_dir)
    warnings.simplefilter("ignore")
    PARTS[options.part](Console(width=160), options)


if __name__ == "__main__":
    main()
