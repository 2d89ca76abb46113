"""Do the defaults of the two network classifiers memorize wrong labels?

    ORDINOISE_DATA=... python -m studies.networks digits text rows bound speed --seeds 5

digits  a small CNN on scikit-learn's digits in four grades, noise of rate .15
text    `OrdinalMLPClassifier()` beside a grid of settings, on 100 SVD columns of TF-IDF, from one rating per text
rows    from how many rows early stopping pays
bound   the training loss kept above the entropy of the noise (Toner & Storkey, arXiv 2307.13100)
speed   seconds per fit, with early stopping and with all epochs

Errors are mean absolute errors on test labels that are clean or, for texts, the consensus of raters. Designs were
chosen on seeds 100 to 103.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse import hstack
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from ordinoise import OrdinalMLPClassifier, OrdinalTorchClassifier, corrupt, inverse_decay
from ordinoise._validation import Floats, Ints
from ordinoise.datasets import load, synthetic

RATE = 0.15  # the paper's
N_COLUMNS = 100
CONSOLE = Console(width=140)


class Problem(NamedTuple):
    """Training features, true and recorded labels; test features and labels."""

    X: Any
    true: Ints
    recorded: Ints
    X_test: Any
    test: Ints
    n_classes: int


def error(model: Any, problem: Problem, labels: Ints) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = model.fit(problem.X, labels).predict(problem.X_test)
    return float(np.abs(predicted - problem.test).mean())


def show(title: str, columns: list[str], lines: list[list[str]]) -> None:
    table = Table(title=title, title_justify="left")
    for at, column in enumerate(columns):
        table.add_column(column, justify="right" if at else "left")
    for line in lines:
        table.add_row(*line)
    CONSOLE.print(table)


# Digits ---------------------------------------------------------------------------------------------------------------


def regular_cnn() -> Any:
    """The network of examples/digits_cnn.py: batch normalization and dropout."""
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.25), nn.Linear(128, 32), nn.ReLU(),
    )  # fmt: skip


def bare_cnn() -> Any:
    """The same without normalization and dropout."""
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 32), nn.ReLU(),
    )  # fmt: skip


CNNS: dict[str, Callable[[], Any]] = {"regular": regular_cnn, "bare": bare_cnn}


def digits(seed: int, n_classes: int = 4) -> Problem:
    data = load_digits()
    images, grades = (data.images[:, None] / 16).astype(np.float32), data.target * n_classes // 10
    X, X_test, y, test = train_test_split(images, grades, test_size=0.3, stratify=data.target, random_state=seed)
    return Problem(
        X, y, corrupt(y, inverse_decay(n_classes, RATE), np.random.default_rng(seed)), X_test, test, n_classes
    )


def study_digits(options: argparse.Namespace) -> None:
    for name, n_classes in product(options.cnns, options.grades):
        ways: dict[str, list[float]] = {}
        for seed in options.seeds:
            problem, matrix = digits(seed, n_classes), inverse_decay(n_classes, RATE)
            tasks: dict[str, tuple[Ints, dict[str, Any]]] = {
                "clean labels": (problem.true, {}),
                "trusting, all epochs": (problem.recorded, {"early_stopping": False}),
                "trusting": (problem.recorded, {}),
                "noise known": (problem.recorded, {"noise": matrix}),
                "noise estimated": (problem.recorded, {"noise": "estimate"}),
            }
            for way, (labels, settings) in tasks.items():
                model = OrdinalTorchClassifier(CNNS[name], device="cpu", random_state=seed, **settings)
                ways.setdefault(way, []).append(error(model, problem, labels))
        clean, memorizing, trusting, *_ = means = [float(np.mean(errors)) for errors in ways.values()]
        lines = [
            [way, f"{mean:.3f}", f"{np.std(ways[way]):.3f}", *_shares(mean, clean, (trusting, memorizing))]
            for way, mean in zip(ways, means, strict=True)
        ]
        columns = ["labels", "error", "sd", "undone of trusting", "undone of trusting, all epochs"]
        show(f"digits in {n_classes} grades, {name} CNN, defaults, {len(options.seeds)} seeds", columns, lines)


def _shares(mean: float, clean: float, damaged: tuple[float, float]) -> list[str]:
    return [f"{(other - mean) / (other - clean):.0%}" if mean < other else "" for other in damaged]


# Text -----------------------------------------------------------------------------------------------------------------


def texts(data_dir: Path, name: str, seed: int) -> Problem:
    """At most 5000 texts, two thirds to train on; one rater's grade each, and the consensus or the other rater."""
    with gzip.open(data_dir / "text" / f"{name}.csv.gz", "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rng = np.random.default_rng(seed)
    rows = [rows[at] for at in rng.permutation(len(rows))[:5000]]
    if "rater_a" in rows[0]:
        recorded, true = (np.array([int(row[key]) - 1 for row in rows]) for key in ("rater_a", "rater_b"))
    else:
        ratings = [np.array(row["ratings"].split(), dtype=float) for row in rows]
        # Nine grades from -4 to 4 become five; grades from 1 to 5 stay.
        cuts = [-2.5, -0.5, 0.5, 2.5] if min(map(np.min, ratings)) < 1 else [1.5, 2.5, 3.5, 4.5]
        recorded = np.digitize([rng.choice(some) for some in ratings], cuts)
        true = np.digitize([some.mean() for some in ratings], cuts)
    words = [row["text"] for row in rows]
    n_train = len(rows) * 2 // 3
    X, X_test = svd_columns(words[:n_train], words[n_train:], seed)
    n_classes = int(max(recorded.max(), true.max())) + 1
    return Problem(X, true[:n_train], recorded[:n_train], X_test, true[n_train:], n_classes)


def svd_columns(words: list[str], others: list[str], seed: int) -> tuple[Floats, Floats]:
    makers = (
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=3, sublinear_tf=True),
    )
    whole = hstack([maker.fit_transform(words) for maker in makers]).tocsr()
    reduced = TruncatedSVD(N_COLUMNS, random_state=seed).fit(whole)
    rest = hstack([maker.transform(others) for maker in makers]).tocsr()
    return reduced.transform(whole), reduced.transform(rest)


PAPER = {"hidden_layer_sizes": (10,), "learning_rate_init": 0.001, "weight_decay": 0.01, "early_stopping": False}
TEXTS = ("amazon_snippets", "tweets", "emobank_valence", "cefr_wiki")


def grid() -> Iterator[dict[str, Any]]:
    """Sizes, learning rates and decays, each with early stopping and with 20 epochs; and the paper's setting."""
    for sizes, rate, decay in product([(), (10,), (50,)], [0.001, 0.003], [0.01, 1.0]):
        setting = {"hidden_layer_sizes": sizes, "learning_rate_init": rate, "weight_decay": decay}
        yield setting
        yield setting | {"early_stopping": False, "max_iter": 20}
    yield PAPER


def study_text(options: argparse.Namespace) -> None:
    settings, lines = list(grid()), []
    for name in TEXTS:
        found = np.zeros((len(options.seeds), len(settings) + 1))
        for at, seed in enumerate(options.seeds):
            problem = texts(options.data_dir, name, seed)
            for column, setting in enumerate([{}, *settings]):
                model = OrdinalMLPClassifier(classes=range(problem.n_classes), random_state=seed, **setting)
                found[at, column] = error(model, problem, problem.recorded)
        means = found.mean(axis=0)
        best = int(means[1:].argmin())
        memorizing = means[1 + settings.index(PAPER)]
        gap = f"{means[0] - means[1 + best]:+.3f}"
        lines.append(
            [name, f"{means[0]:.3f}", f"{memorizing:.3f}", f"{means[1 + best]:.3f}", gap, _words(settings[best])]
        )
        CONSOLE.print(" | ".join(lines[-1]), highlight=False)
    columns = ["texts", "default", "all 200 epochs", "best setting", "default less best", "which"]
    show(f"OrdinalMLPClassifier() on texts, {len(options.seeds)} seeds, {len(settings)} settings", columns, lines)


def _words(setting: dict[str, Any]) -> str:
    stops = f"{setting.get('max_iter', 200)} epochs" if "early_stopping" in setting else "early stopping"
    sizes, rate, decay = (setting[name] for name in ("hidden_layer_sizes", "learning_rate_init", "weight_decay"))
    return f"{sizes}, rate {rate}, decay {decay}, {stops}"


# Rows -----------------------------------------------------------------------------------------------------------------


def table(data_dir: Path, name: str, n_rows: int, seed: int) -> Problem:
    """Rows of a table with noise: rate .15 for the synthetic set, .1 for the others."""
    rng = np.random.default_rng([seed, n_rows])
    data: Any = synthetic(2000, random_state=seed) if name == "synthetic" else load(name, data_dir)
    n_classes = int(data.labels.max()) + 1
    order = rng.permutation(len(data.labels))
    rows, test = order[:n_rows], order[n_rows : n_rows + 3000]
    matrix = inverse_decay(n_classes, RATE if name == "synthetic" else 0.1)
    recorded = corrupt(data.labels[rows], matrix, np.random.default_rng(seed))
    return Problem(data.features[rows], data.labels[rows], recorded, data.features[test], data.labels[test], n_classes)


def study_rows(options: argparse.Namespace) -> None:
    ways: dict[str, dict[str, Any]] = {
        "all epochs": {"early_stopping": False}, "early stopping": {"early_stopping": True},
        "50 epochs": {"early_stopping": False, "max_iter": 50},
        "decay .3": {"early_stopping": False, "weight_decay": 0.3},
    }  # fmt: skip
    lines = []
    for n_rows in (60, 120, 200, 500, 1500):
        for name in (*TABLES, *TEXTS):
            errors = np.zeros((len(options.seeds), len(ways)))
            for at, seed in enumerate(options.seeds):
                problem = _some(options.data_dir, name, n_rows, seed)
                for column, setting in enumerate(ways.values()):
                    model = OrdinalMLPClassifier(classes=range(problem.n_classes), random_state=seed, **setting)
                    errors[at, column] = error(model, problem, problem.recorded)
            lines.append([f"{n_rows} rows, {name}", *(f"{mean:.3f}" for mean in errors.mean(axis=0))])
            CONSOLE.print(" | ".join(lines[-1]), highlight=False)
    show(f"OrdinalMLPClassifier on few rows, {len(options.seeds)} seeds", ["", *ways], lines)


TABLES = ("synthetic", "computer", "abalone")
_TEXTS: dict[tuple[str, int], Problem] = {}


def _some(data_dir: Path, name: str, n_rows: int, seed: int) -> Problem:
    if name in TABLES:
        return table(data_dir, name, n_rows, seed)
    if (name, seed) not in _TEXTS:
        _TEXTS[name, seed] = texts(data_dir, name, seed)
    whole = _TEXTS[name, seed]
    return whole._replace(X=whole.X[:n_rows], true=whole.true[:n_rows], recorded=whole.recorded[:n_rows])


# Lower bound of the training loss -------------------------------------------------------------------------------------


def noise_entropy(matrix: Floats, shares: Floats) -> float:
    """Mean entropy of a recorded label whose true label is known: no honest forward loss is below it."""
    logs = np.log(np.where(matrix > 0, matrix, 1))
    return float(-shares @ (matrix * logs).sum(axis=1))


def bounded_error(problem: Problem, model: Any, matrix: Floats, *, bounded: bool) -> float:
    """Error of the classifier, its training loss kept above the entropy of the noise or as it is."""
    import torch

    from ordinoise.classifiers import OrdinalTorchClassifier
    from ordinoise.learners.torch import Objective

    shares = np.bincount(problem.true, minlength=problem.n_classes) / len(problem.true)
    bound, usual = noise_entropy(matrix, shares), OrdinalTorchClassifier._objective

    @dataclass(frozen=True, eq=False)
    class Bounded(Objective):
        def total(self, logits: torch.Tensor, batch: Any) -> torch.Tensor:
            sum_ = super().total(logits, batch)
            least = bound * batch.weights.sum()
            return (sum_ - least).abs() + least if torch.is_grad_enabled() else sum_

    def chosen(model: Any, task: Any) -> Objective:
        objective = usual(model, task)
        return Bounded(objective.loss, objective.table) if bounded else objective

    with patch.object(OrdinalTorchClassifier, "_objective", chosen):
        return error(model, problem, problem.recorded)


def study_bound(options: argparse.Namespace) -> None:
    lines = []
    cases: dict[str, tuple[Callable[[int], Problem], Any, float]] = {
        "digits, regular CNN": (digits, regular_cnn, RATE),
        "digits, bare CNN": (digits, bare_cnn, RATE),
        "synthetic, default network": (lambda seed: table(options.data_dir, "synthetic", 1000, seed), None, RATE),
        "computer, default network": (lambda seed: table(options.data_dir, "computer", 1000, seed), None, 0.1),
    }
    ways: dict[str, dict[str, Any]] = {"defaults": {}, "60 epochs": {"early_stopping": False, "max_iter": 60}}
    for name, (make, network, rate) in cases.items():
        found: list[list[float]] = []
        for seed in options.seeds:
            problem = make(seed)
            matrix = inverse_decay(problem.n_classes, rate)
            found.append([
                bounded_error(
                    problem,
                    OrdinalTorchClassifier(network, noise=matrix, device="cpu", random_state=seed, **settings),
                    matrix,
                    bounded=bounded,
                )
                for settings in ways.values()
                for bounded in (False, True)
            ])  # fmt: skip
        lines.append([name, *(f"{mean:.3f}" for mean in np.mean(found, axis=0))])
        CONSOLE.print(" | ".join(lines[-1]), highlight=False)
    columns = ["noise known", *(name for way in ways for name in (way, "and bound"))]
    show(f"Training loss bounded below by the entropy of the noise, {len(options.seeds)} seeds", columns, lines)


# Speed ----------------------------------------------------------------------------------------------------------------


def study_speed(options: argparse.Namespace) -> None:
    seed = options.seeds[0]
    network, cnn = OrdinalMLPClassifier(), OrdinalTorchClassifier(regular_cnn, device="cpu")
    cases: dict[str, tuple[Problem, Any]] = {
        "OrdinalMLPClassifier, computer, 4000 rows": (table(options.data_dir, "computer", 4000, seed), network),
        "the same, 150 rows": (table(options.data_dir, "computer", 150, seed), network),
        "OrdinalTorchClassifier, digits": (digits(seed), cnn),
    }
    lines = []
    for name, (problem, model) in cases.items():
        seconds = []
        for stops in (False, "auto"):
            model.set_params(early_stopping=stops, random_state=seed)
            error(clone(model).set_params(max_iter=1), problem, problem.recorded)  # compiles
            start = time.perf_counter()
            error(model, problem, problem.recorded)
            seconds.append(time.perf_counter() - start)
        lines.append([name, *(f"{value:.2f}" for value in seconds), f"{seconds[1] / seconds[0]:.2f}"])
    show("Seconds per fit, trusting", ["", "all epochs", "default", "ratio"], lines)


STUDIES = {
    "digits": study_digits, "text": study_text, "rows": study_rows, "bound": study_bound, "speed": study_speed,
}  # fmt: skip


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", default=list(STUDIES), help=f"of {', '.join(STUDIES)}; all by default")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--cnns", nargs="+", choices=list(CNNS), default=list(CNNS))
    parser.add_argument("--grades", nargs="+", type=int, default=[4])
    parser.add_argument("--data-dir", type=Path, default=Path(os.environ.get("ORDINOISE_DATA", "data")))
    options = parser.parse_args(words)
    unknown = [name for name in options.studies if name not in STUDIES]
    if unknown:
        parser.error(f"studies must be of {list(STUDIES)}, got {unknown[0]!r}")
    options.seeds = range(options.first_seed, options.first_seed + options.seeds)
    for name in options.studies:
        STUDIES[name](options)


if __name__ == "__main__":
    main()
