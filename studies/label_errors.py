"""Ordinal against nominal rankings of label errors, from the same out-of-fold probabilities.

Three models that trust the labels give probabilities of five folds. From exactly these, every ranking orders the rows:
cleanlab's three label qualities, which know no order of the grades; the expected distance between the recorded grade
and the grade by the probabilities, which knows the order and no noise; and ours, which estimates the noise from the
probabilities. Errors are planted into the nine ordinal benchmarks (depending on the grade, between neighbors, depending
on the item), or made by people (one rating per item, judged by all others). Nothing is tuned here.

    ORDINOISE_DATA=data python -m studies.label_errors [--seeds 3] [--sets LEV tweets] [--sources logistic]

Results are kept in studies/results/label_errors.csv: a run continues with what is missing there.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise import OrdinalClassifier, corrupt, issues_from_probabilities
from ordinoise._validation import Floats, Ints
from ordinoise.datasets import OrdinalDataset, load
from ordinoise.jobs import StoredResult, run_plan
from studies import real
from studies.accuracy.problems import noise_matrix_for, perceived_matrices
from studies.paired import by_set, compared
from studies.results import FOLDER, kept
from studies.sources import package_state

PLANTED = ("ERA", "LEV", "SWD", "automobile", "balance-scale", "car", "newthyroid", "toy", "winequality-red")
NOISES = ("conditional", "adjacent", "perceived")
SOURCES = ("logistic", "lightgbm", "ordinoise")
CLEANLAB = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")
MEASURES = {
    "any": "average precision for errors of any size",
    "large": "average precision for errors of two grades or more",
    "distance": "share of all distance from the truth in as many first rows as labels are wrong",
}
MARGIN = 0.005  # differences below it are nothing that a reviewer would notice; chosen by no run
FEWEST_SETS = 4  # for a comparison over sets
FLOOR = 1e-6  # of probabilities: cleanlab's entropy has no value at zero


@dataclass(frozen=True)
class Case:
    """Labels of one set with one kind of errors, and the model whose probabilities are used."""

    dataset: str
    errors: str  # one of NOISES, or "people"
    source: str
    seed: int

    @property
    def cost(self) -> float:
        """Rough relative time."""
        return 4.0 if self.source == "ordinoise" else 1.0


def plan(sets: list[str], sources: list[str], seeds: int) -> list[Case]:
    return [
        Case(name, errors, source, seed)
        for seed, name, source in product(range(seeds), sets, sources)
        for errors in (NOISES if name in PLANTED else ("people",))
    ]


def run(case: Case, data_dir: Path, package: str) -> dict[str, Any]:
    """What every ranking finds, by measure."""
    features, true, recorded, n_classes = labels_of(case, data_dir)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chances = held_out(case, features, recorded, n_classes)
        found, answer = rankings(chances, recorded, case.seed)
    distance = np.abs(recorded - true)
    return {
        "rows": len(true),
        "share_wrong": float((distance > 0).mean()),
        "share_large": float((distance > 1).mean()),
        "answer": answer,
        "found": {name: measured(suspicion, distance) for name, suspicion in found.items()},
        "package": package,
    }


def labels_of(case: Case, data_dir: Path) -> tuple[Floats, Ints, Ints, int]:
    """Features, true and recorded labels, number of grades."""
    if case.errors == "people":
        data = real.problem(data_dir, case.dataset, case.seed)
        return data.features, data.true, data.recorded, data.n_classes
    whole = load(case.dataset, data_dir)
    assert isinstance(whole, OrdinalDataset)
    noise = (
        perceived_matrices(whole.features, whole.labels, whole.n_classes)
        if case.errors == "perceived"
        else noise_matrix_for(case.errors, whole.n_classes)
    )
    rng = np.random.default_rng([case.seed, NOISES.index(case.errors), *map(ord, case.dataset)])
    return whole.features, whole.labels, corrupt(whole.labels, noise, rng), whole.n_classes


def held_out(case: Case, features: Floats, recorded: Ints, n_classes: int) -> Floats:
    """Probabilities of the recorded labels by models that did not see them, none below `FLOOR`."""
    if case.source == "ordinoise":
        model = OrdinalClassifier(classes=range(n_classes), noise=None, n_jobs=1, random_state=case.seed)
        chances = model.fit(features, recorded).out_of_fold_
        assert chances is not None
    else:
        chances = np.zeros((len(recorded), n_classes))
        for rows, rest in StratifiedKFold(5, shuffle=True, random_state=case.seed).split(features, recorded):
            other = _model(case).fit(features[rows], recorded[rows])
            chances[np.ix_(rest, other.classes_)] = other.predict_proba(features[rest])
    safe = np.maximum(chances, FLOOR)
    return safe / safe.sum(axis=1, keepdims=True)


def _model(case: Case) -> Any:
    if case.source == "lightgbm":
        return import_module("lightgbm").LGBMClassifier(n_jobs=1, verbosity=-1, random_state=case.seed)
    from sklearn.impute import SimpleImputer

    return make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=1000))


def rankings(chances: Floats, recorded: Ints, seed: int) -> tuple[dict[str, Floats], str]:
    """The suspicion of every row by each ranking, and what ours made of the noise."""
    qualities = import_module("cleanlab.rank").get_label_quality_scores
    found = {f"cleanlab {method}": -qualities(recorded, chances, method=method) for method in CLEANLAB}
    grades = np.arange(chances.shape[1])
    found["expected distance"] = (chances * np.abs(grades - recorded[:, None])).sum(axis=1)
    issues = issues_from_probabilities(chances, recorded, classes=grades, random_state=seed)
    found["ours"] = -issues.rank
    large = issues_from_probabilities(
        chances, recorded, issues.noise, of="recorded", classes=grades, rank_by="large_error"
    )
    found["ours, large_error"] = -large.rank
    return found, str(issues.noise.answer)


def measured(suspicion: Floats, distance: Ints) -> dict[str, float]:
    first = np.argsort(-suspicion, kind="stable")[: int((distance > 0).sum())]
    numbers = {
        "any": average_precision_score(distance > 0, suspicion),
        "distance": distance[first].sum() / distance.sum(),
    }
    if (distance > 1).any():
        numbers["large"] = average_precision_score(distance > 1, suspicion)
    return {name: float(value) for name, value in numbers.items()}


# Tables -------------------------------------------------------------------------------------------------


def page(results: list[StoredResult]) -> str:
    """Means of every ranking and paired comparisons, as Markdown."""
    parts = []
    for title, is_planted in (("Planted errors", True), ("Errors that people made", False)):
        some = [one for one in results if (one.trial["dataset"] in PLANTED) == is_planted]
        if some:
            parts += [f"### {title}", _extent(some)]
            parts += [part for measure in MEASURES for part in _measure_parts(some, measure)]
    return "\n\n".join(parts) + "\n"


def _extent(results: list[StoredResult]) -> str:
    sets = {one.trial["dataset"] for one in results}
    seeds = ", ".join(map(str, sorted({one.trial["seed"] for one in results})))
    wrong = [one.result["share_wrong"] for one in results]
    corrected = np.mean([one.result["answer"] == "corrected" for one in results])
    return (
        f"{len(results)} cases: {len(sets)} sets ({', '.join(sorted(sets))}), seeds {seeds}, "
        f"{min(wrong):.0%} to {max(wrong):.0%} of the labels wrong. Ours corrected for the noise that it estimated in "
        f"{corrected:.0%} of the cases, and was in doubt in the others."
    )


def _measure_parts(results: list[StoredResult], measure: str) -> list[str]:
    some = [one for one in results if all(measure in found for found in one.result["found"].values())]
    if not some:
        return []
    names = list(some[0].result["found"])
    sources = [source for source in SOURCES if any(one.trial["source"] == source for one in some)]
    rows = []
    for name in names:
        values = [_mean(some, [source], name, measure) for source in sources]
        rows.append([name, *(f"{value:.3f}" for value in values), f"{np.mean(values):.3f}"])
    heads = ["ranking", *sources, "mean"]
    means = [f"**{MEASURES[measure][0].upper()}{MEASURES[measure][1:]}**, mean over sets:", _table(heads, rows)]
    if len({one.trial["dataset"] for one in some}) < FEWEST_SETS:
        return means
    best = max(map("cleanlab {}".format, CLEANLAB), key=lambda name: _mean(some, sources, name, measure))
    return [
        *means,
        "Ours less another ranking, averaged within each set first; mean and 95 % interval by a bootstrap over sets, "
        f"and the Bayesian signed-rank test with differences below {MARGIN:g} as equal:",
        _table(["ours", "less", "difference"], list(_comparisons(some, names, measure))),
        f"The same on every set, less {best}, cleanlab's best on average:",
        _table(["set", *sources, "mean"], list(_sets(some, sources, measure, best))),
    ]


def _mean(results: list[StoredResult], sources: list[str], name: str, measure: str) -> float:
    some = [one for one in results if one.trial["source"] in sources]
    sets = [one.trial["dataset"] for one in some]
    return float(by_set(sets, (one.result["found"][name][measure] for one in some)).mean())


def _sets(results: list[StoredResult], sources: list[str], measure: str, other: str) -> Iterator[list[str]]:
    ours, columns = _ours(measure), [*([source] for source in sources), sources]
    for dataset in sorted({one.trial["dataset"] for one in results}):
        some = [one for one in results if one.trial["dataset"] == dataset]
        gains = (_mean(some, of, ours, measure) - _mean(some, of, other, measure) for of in columns)
        yield [dataset, *(f"{gain:+.3f}" for gain in gains)]


def _ours(measure: str) -> str:
    return "ours, large_error" if measure == "large" else "ours"


def _comparisons(results: list[StoredResult], names: list[str], measure: str) -> Iterator[list[str]]:
    ours = _ours(measure)
    sets, found = [one.trial["dataset"] for one in results], [one.result["found"] for one in results]
    for other in (name for name in names if not name.startswith("ours")):
        differences = by_set(sets, (by[ours][measure] - by[other][measure] for by in found))
        yield [ours, other, str(compared(differences, MARGIN))]


def _table(heads: list[str], rows: list[list[str]]) -> str:
    ruler = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ruler, *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+", choices=[*PLANTED, *real.SETS], default=[*PLANTED, *real.SETS])
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the working file and the page")
    options = parser.parse_args()
    if options.data_dir is None:
        parser.error("data-dir must name the folder of the data, got nothing; set ORDINOISE_DATA")
    options.out.mkdir(exist_ok=True)
    cases = plan(options.sets, options.sources, options.seeds)
    table = FOLDER / "label_errors.csv"
    package = package_state("studies.label_errors")
    with kept(table, options.out / "label_errors.sqlite", package) as store, ThreadPoolExecutor(1) as one:
        outcome = run_plan(
            cases, partial(run, data_dir=Path(options.data_dir), package=package), store, one, n_in_flight=2
        )
        text = page(store.results())  # also those of earlier pieces
    for failure in outcome.failures:
        print("failed:", failure.trial, failure.error)
    (options.out / "label-errors.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
