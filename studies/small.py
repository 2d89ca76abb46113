"""Small tables: is the default ever worse than the class shares, or than a ridge regression that rounds?

A few rows of each set, at most two thirds, with clean labels; the error is that on up to 2000 other rows. "weak" and
"nothing" are simulated, three grades of a normal error with and without a little signal; "codes" has 51 columns for two
categories. Any set of the accuracy study can be named instead: what does the default cost where labels are clean?

    python -m studies.small --rows 105 --seeds 5
    python -m studies.small --rows 500 --seeds 3 --only clean
"""

from __future__ import annotations

import argparse
import os
import warnings

import numpy as np
from rich.console import Console
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordinoise import OrdinalClassifier
from ordinoise._validation import Floats, Ints
from ordinoise.datasets import OrdinalDataset, load
from studies.accuracy.contests import CUTS

SETS = ("newthyroid", "abalone", "diabetes", "SWD", "ERA", "weak", "nothing", "codes")
N_TEST = 2000
N_SIMULATED = 1105


def rows_of(name: str, data_dir: str | None, rng: np.random.Generator) -> tuple[Floats, Ints]:
    if name in ("weak", "nothing"):
        features = rng.normal(size=(N_SIMULATED, 5))
        signal = features @ [0.5, 0.3, 0, 0, 0] if name == "weak" else 0.0
        return features, in_three(signal + rng.normal(size=N_SIMULATED))
    if name == "codes":
        first, second = (rng.integers(size, size=N_SIMULATED) for size in (25, 26))
        features = np.hstack([np.eye(25)[first], np.eye(26)[second]])
        return features, in_three(features @ rng.normal(size=51) + rng.normal(size=N_SIMULATED))
    data = load(name, data_dir)
    assert isinstance(data, OrdinalDataset)
    return np.asarray(data.features, dtype=np.float64), data.labels


def in_three(positions: Floats) -> Ints:
    return np.digitize(positions, np.quantile(positions, [1 / 3, 2 / 3]))


def errors(name: str, data_dir: str | None, n_rows: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, *map(ord, name)])
    features, labels = rows_of(name, data_dir, rng)
    order = rng.permutation(len(labels))
    n_rows = min(n_rows, 2 * len(order) // 3)
    train, test = order[:n_rows], order[n_rows : n_rows + N_TEST]
    X, y, n_classes = features[train], labels[train], int(labels.max()) + 1
    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 25))).fit(X, y)

    def fitted(noise: str | None) -> OrdinalClassifier:
        model = OrdinalClassifier(classes=range(n_classes), noise=noise, n_jobs=1, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(X, y)

    default = fitted("estimate")
    # The same seed gives the same folds and networks: a default that trusts is the model that never estimated.
    trusting = default if default.noise_.answer == "trusting" else fitted(None)
    predicted = {
        "default": default.predict(features[test]),
        "trusting": trusting.predict(features[test]),
        "class shares": np.full(len(test), np.sort(y)[(len(y) - 1) // 2]),
        "ridge": np.clip(np.round(ridge.predict(features[test])), 0, n_classes - 1),
    }
    return {way: float(np.abs(grades - labels[test]).mean()) for way, grades in predicted.items()}


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--rows", type=int, default=105)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=SETS, help="names of sets; clean for those of the accuracy study")
    options = parser.parse_args(words)
    names = CUTS if options.only == ["clean"] else options.only
    console, behind, costs = Console(width=140), {}, []
    for name in names:
        seeds = range(options.first_seed, options.first_seed + options.seeds)
        runs = [errors(name, options.data_dir, options.rows, seed) for seed in seeds]
        means = {way: float(np.mean([run[way] for run in runs])) for way in runs[0]}
        behind[name] = means["default"] - min(means["class shares"], means["ridge"])
        costs.append(means["default"] - means["trusting"])
        console.print(f"{name:16}", *(f"{way} {mean:.3f} " for way, mean in means.items()), highlight=False)
    worst = max(behind, key=lambda name: behind[name])
    mean = np.mean(list(behind.values()))
    for line in (
        f"default less the better of the two: worst {behind[worst]:+.4f} ({worst}), mean {mean:+.4f}",
        f"default less trusting: worst {max(costs):+.4f}, mean {np.mean(costs):+.4f}",
    ):
        console.print(line, highlight=False)


if __name__ == "__main__":
    main()
