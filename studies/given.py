"""Rankings by probabilities of somebody's own model against cleanlab's default, whatever the rows' order and the folds.

Probabilities of five folds by weak, middling and strong models, with rows in random order, and in the order of their
true grades with folds shuffled or not: not shuffled is what `cross_val_predict(..., cv=5)` does. From exactly these
probabilities come our ranking and cleanlab's default, `self_confidence`: the chance of the record. Printed is the
average precision of finding wrong labels, ours less cleanlab's.

Draw 0 chose `HALF_WAY` of `ordinoise.audit.posterior` and how the order of rows counts; the page shows other draws.

    ORDINOISE_DATA=data python -m studies.given [--seeds 1 2] [--sets LEV lidc_malignancy] [--rows 1000]
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise import adjacent, corrupt, issues_from_probabilities
from ordinoise._text import TextTable, markdown
from ordinoise._validation import Floats, Ints
from ordinoise.datasets import synthetic
from studies.label_errors import NOISES, PLANTED, Case, labels_of

PEOPLE = ("lidc_malignancy",)
SETS = ("synthetic", *PLANTED, *PEOPLE)
MODELS = ("logistic", "logistic, scaled", "forest", "boosting", "neighbors")
ORDERS = ("rows in random order", "sorted, folds shuffled", "sorted, folds not shuffled")
WORSE = -0.01


@dataclass(frozen=True)
class Found:
    """Average precision of both rankings, of one set, model and order."""

    dataset: str
    model: str
    order: str
    ours: float
    cleanlab: float

    @property
    def gain(self) -> float:
        """Ours less cleanlab's."""
        return self.ours - self.cleanlab


def problems(name: str, seed: int, data_dir: Path, n_rows: int) -> Iterator[tuple[Floats, Ints, Ints, int]]:
    """Features, true and recorded labels of rows in random order, number of grades; by kind of errors."""
    if name == "synthetic":
        data = synthetic(n_rows // 4, random_state=seed)
        yield data.features, data.labels, corrupt(data.labels, adjacent(4, 0.2, 0.1), np.random.default_rng(seed)), 4
        return
    for errors in NOISES if name in PLANTED else ("people",):
        features, true, recorded, n_classes = labels_of(Case(name, errors, "", seed), data_dir)
        some = np.random.default_rng(seed).permutation(len(true))[:n_rows]
        if (true[some] != recorded[some]).any():
            yield features[some], true[some], recorded[some], n_classes


def rankings(problem: tuple[Floats, Ints, Ints, int], model: str, order: str, seed: int) -> tuple[float, float]:
    """Average precision of ours, and of cleanlab's default."""
    features, true, recorded, n_classes = problem
    if order != ORDERS[0]:
        rows = np.argsort(true, kind="stable")
        features, true, recorded = features[rows], true[rows], recorded[rows]
    is_shuffled = order != ORDERS[2]
    folds = StratifiedKFold(5, shuffle=is_shuffled, random_state=seed if is_shuffled else None)
    chances = np.zeros((len(recorded), n_classes))
    for training, rest in folds.split(features, recorded):
        other = _model(model, seed).fit(features[training], recorded[training])
        chances[np.ix_(rest, other.classes_)] = other.predict_proba(features[rest])
    issues = issues_from_probabilities(chances, recorded, classes=np.arange(n_classes), random_state=seed)
    by_cleanlab = -chances[np.arange(len(recorded)), recorded]
    ours, theirs = (float(average_precision_score(recorded != true, one)) for one in (-issues.rank, by_cleanlab))
    return ours, theirs


def _model(name: str, seed: int) -> Any:
    if name == "boosting":
        return import_module("lightgbm").LGBMClassifier(n_jobs=1, verbosity=-1, random_state=seed)
    steps = {
        "logistic": (LogisticRegression(),),
        "logistic, scaled": (StandardScaler(), LogisticRegression(max_iter=1000)),
        "forest": (RandomForestClassifier(random_state=seed),),
        "neighbors": (StandardScaler(), KNeighborsClassifier(10)),
    }
    return make_pipeline(SimpleImputer(), *steps[name])


def table_of(found: list[Found]) -> TextTable:
    """Ours less cleanlab's by set and order, means over models, draws and kinds of errors; below, the worst of them."""
    names = [name for name in SETS if any(one.dataset == name for one in found)]
    rows = [(name, *(f"{mean(found, dataset=name, order=order):+.3f}" for order in ORDERS)) for name in names]
    rows += [(model, *(f"{mean(found, model=model, order=order):+.3f}" for order in ORDERS)) for model in MODELS]
    rows.append(("all", *(f"{mean(found, order=order):+.3f}" for order in ORDERS)))
    every = product(names, MODELS, ORDERS)
    cells = {cell: mean(found, dataset=cell[0], model=cell[1], order=cell[2]) for cell in every}
    worst = min(cells, key=lambda cell: cells[cell])
    note = (
        f"{len(found)} rankings; in {sum(one.gain < WORSE for one in found)} ours is more than {-WORSE:g} below. Of "
        f"{len(cells)} means by set, model and order {sum(gain < WORSE for gain in cells.values())} are; the worst is "
        f"{cells[worst]:+.3f} ({'; '.join(worst)})."
    )
    return TextTable("Ours less cleanlab's default", ("set or model", *ORDERS), tuple(rows), (note,))


def mean(found: list[Found], **where: str) -> float:
    """Mean gain of those with these attributes."""
    some = [one.gain for one in found if all(getattr(one, name) == value for name, value in where.items())]
    return float(np.mean(some))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--rows", type=int, default=1000)
    options = parser.parse_args()
    if options.data_dir is None:
        parser.error("data-dir must name the folder of the data, got nothing; set ORDINOISE_DATA")
    warnings.simplefilter("ignore")
    found = []
    for seed, name in product(options.seeds, options.sets):
        for problem in problems(name, seed, Path(options.data_dir), options.rows):
            for model, order in product(MODELS, ORDERS):
                found.append(Found(name, model, order, *rankings(problem, model, order, seed)))
    print(markdown(table_of(found)))


if __name__ == "__main__":
    main()
