"""The pictures of the page docs/why.md, and the numbers behind them.

``python -m studies.pictures [--docs docs] [--data-dir DIR] [--splits 5] [--rows 2000] [--only matrices damage row]``

Writes ``_static/why-{matrices,damage,row}-{light,dark}.png`` below the folder of the documentation. Noise is in the
training labels only; errors are mean absolute errors on clean test labels.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from ordinoise import OrdinalBoostingClassifier, OrdinalClassifier, adjacent, corrupt, inverse_decay
from ordinoise.audit import issues_from_probabilities
from ordinoise.audit.posterior import calibrated, likelihood_of
from ordinoise.datasets import OrdinalDataset, load, web_search
from ordinoise.estimation import IdentifiabilityWarning

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_CLASSES, RATE = 5, 0.15  # the grades of Computer and the paper's rate
RATES = (0.0, 0.05, 0.10, 0.15)
REGRESSION, TRUSTING, ESTIMATED = "regression, rounded", "ordered trees, trusting", "OrdinalClassifier()"
# Colors and sizes in this file are chosen by eye.
COLORS = {REGRESSION: "#c2410c", TRUSTING: "#8f8f8f", ESTIMATED: "#2a8f9e"}
SCHEMES: dict[str, dict[str, object]] = {
    "light": {},
    "dark": {
        "text.color": "#d5d5d5", "axes.labelcolor": "#d5d5d5", "xtick.color": "#d5d5d5", "ytick.color": "#d5d5d5",
        "axes.edgecolor": "#8f8f8f", "axes.facecolor": "#131416", "figure.facecolor": "#131416",
    },
}  # fmt: skip
Drawing = Callable[[Figure], None]


# Noise matrices -------------------------------------------------------------------------------------------------------


def crowd_matrix(data_dir: Path | None) -> Floats:
    """Noise matrix of crowd workers, counted on web pages with gold relevance."""
    data = web_search(data_dir)
    assert data.truth is not None
    gold = data.truth[data.items]
    counts = np.zeros((N_CLASSES, N_CLASSES))
    np.add.at(counts, (gold[gold >= 0], data.labels[gold >= 0]), 1)
    return counts / counts.sum(axis=1, keepdims=True)


def draw_matrices(matrices: dict[str, Floats]) -> Drawing:
    def draw(figure: Figure) -> None:
        for axis, (title, matrix) in zip(figure.subplots(1, len(matrices)), matrices.items(), strict=True):
            axis.imshow(matrix, cmap="Blues", vmin=0, vmax=1)
            for (true, recorded), chance in np.ndenumerate(matrix):
                color = "white" if chance > 0.5 else "#222222"
                axis.text(recorded, true, f"{100 * chance:.0f}", ha="center", va="center", color=color, fontsize=9)
            axis.set(title=title, xlabel="recorded grade", xticks=range(N_CLASSES), yticks=range(N_CLASSES))
            axis.set_ylabel("true grade")

    return draw


def matrices(data_dir: Path | None, _: Settings) -> Drawing:
    found = {
        "next grade only": adjacent(N_CLASSES, up=0.25, down=0.08),
        "falling with distance": inverse_decay(N_CLASSES, RATE),
        "crowd workers, counted": crowd_matrix(data_dir),
    }
    for title, matrix in found.items():
        print(f"{title}: P(recorded | true) in percent, one row per true grade")
        print((100 * matrix).round().astype(int))
    return draw_matrices(found)


# Damage by noise ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """Number of splits and of training rows."""

    splits: int
    rows: int


def predictions(name: str, train: Floats, recorded: Ints, test: Floats, seed: int) -> Ints:
    if name == REGRESSION:
        fitted = HistGradientBoostingRegressor(random_state=seed).fit(train, recorded)
        return np.rint(fitted.predict(test)).clip(0, N_CLASSES - 1).astype(np.int64)
    model = OrdinalBoostingClassifier(random_state=seed) if name == TRUSTING else OrdinalClassifier(random_state=seed)
    return model.fit(train, recorded).predict(test)


def _computer(data_dir: Path | None) -> OrdinalDataset:
    data = load("computer", data_dir)
    assert isinstance(data, OrdinalDataset)
    return data


def errors(data_dir: Path | None, settings: Settings) -> dict[str, Floats]:
    """Mean absolute error on clean test labels, shape (n_rates, n_splits), of every contestant."""
    data = _computer(data_dir)
    found = {name: np.zeros((len(RATES), settings.splits)) for name in COLORS}
    for split in range(settings.splits):
        order = np.random.default_rng(split).permutation(len(data.labels))
        train, test = order[: settings.rows], order[settings.rows :]
        for at, rate in enumerate(RATES):
            recorded = corrupt(data.labels[train], inverse_decay(N_CLASSES, rate), np.random.default_rng(split))
            for name, table in found.items():
                chosen = predictions(name, data.features[train], recorded, data.features[test], split)
                table[at, split] = np.abs(chosen - data.labels[test]).mean()
    return found


def draw_damage(pull: Floats, found: dict[str, Floats]) -> Drawing:
    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.5])
        grades = np.arange(N_CLASSES)
        left.plot(grades, grades, color="#8f8f8f", linestyle=":", label="no noise")
        left.plot(grades, pull, color=COLORS[REGRESSION], marker="o", label=f"noise of rate {RATE}")
        left.set(xlabel="true grade", ylabel="mean recorded grade", title="noise pulls means to the middle")
        left.set(xticks=grades, yticks=grades)
        for name, table in found.items():
            right.plot(RATES, table.mean(axis=1), color=COLORS[name], marker="o", label=name)
        right.set(xlabel="noise rate in the training labels", ylabel="mean absolute error, clean labels")
        right.set(title="Computer: error on clean labels", ylim=(0, None), xticks=RATES)
        for axis in (left, right):
            _plain(axis)
            axis.legend(frameon=False)

    return draw


def damage(data_dir: Path | None, settings: Settings) -> Drawing:
    pull = inverse_decay(N_CLASSES, RATE) @ np.arange(N_CLASSES)
    print(f"mean recorded grade of the true grades 0 to 4, noise of rate {RATE}: {pull.round(2)}")
    found = errors(data_dir, settings)
    print(f"Computer, {settings.rows} training rows, {settings.splits} splits: error on clean labels by rate {RATES}")
    for name, table in found.items():
        print(f"{name:26} {table.mean(axis=1).round(3)}  standard deviations {table.std(axis=1).round(3)}")
    return draw_damage(pull, found)


# One row --------------------------------------------------------------------------------------------------------------


def draw_row(panels: dict[str, Floats], recorded: int, true: int) -> Drawing:
    def draw(figure: Figure) -> None:
        for axis, (title, chances) in zip(figure.subplots(1, 3, sharey=True), panels.items(), strict=True):
            axis.bar(range(N_CLASSES), chances, color=COLORS[ESTIMATED])
            axis.set(title=title, xlabel="true grade", xticks=range(N_CLASSES), ylim=(0, 1))
            axis.axvline(recorded, color=COLORS[REGRESSION], linestyle="--", label="recorded")
            axis.axvline(true, color=COLORS[TRUSTING], linestyle=":", label="true")
            _plain(axis)
        axis.legend(frameon=False)

    return draw


def row(data_dir: Path | None, settings: Settings) -> Drawing:
    data = _computer(data_dir)
    chosen = np.random.default_rng(0).permutation(len(data.labels))[: settings.rows]
    recorded = corrupt(data.labels[chosen], inverse_decay(N_CLASSES, RATE), np.random.default_rng(0))
    model = OrdinalClassifier(random_state=0).fit(data.features[chosen], recorded)
    assert model.out_of_fold_ is not None
    issues = issues_from_probabilities(model.out_of_fold_, recorded, model.noise_matrix_)
    # The first uncertain row, which shows more than a certain one; the bounds are chosen by eye.
    doubtful = next(at for at in np.argsort(issues.rank) if 0.7 < issues.suspicion[at] < 0.9)
    panels = {
        "what the features say": calibrated(model.out_of_fold_, likelihood_of(recorded, model.noise_matrix_))[doubtful],
        f"probability of the record {recorded[doubtful]}": model.noise_matrix_[:, recorded[doubtful]],
        "both together": issues.posterior[doubtful],
    }
    print(f"row {chosen[doubtful]}: recorded {recorded[doubtful]}, true {data.labels[chosen[doubtful]]}")
    print(f"wrong with probability {issues.suspicion[doubtful]:.2f}, suggested {issues.suggested[doubtful]}")
    for title, chances in panels.items():
        print(f"{title:30} {chances.round(2)}")
    return draw_row(panels, int(recorded[doubtful]), int(data.labels[chosen[doubtful]]))


# Files ----------------------------------------------------------------------------------------------------------------


def _plain(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)


PICTURES: dict[str, tuple[Callable[[Path | None, Settings], Drawing], tuple[float, float]]] = {
    "matrices": (matrices, (10.5, 4.1)),
    "damage": (damage, (10.5, 4.0)),
    "row": (row, (10.5, 3.2)),
}


def write(drawing: Drawing, size: tuple[float, float], path: Path) -> None:
    """Write the picture in light and dark colors."""
    for scheme, style in SCHEMES.items():
        with rc_context({"font.size": 10, **style}):
            figure = Figure(figsize=size, layout="constrained")
            FigureCanvasAgg(figure)
            drawing(figure)
            figure.savefig(path.with_name(f"{path.name}-{scheme}.png"), dpi=110)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ORDINOISE_DATA"))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--only", nargs="+", choices=list(PICTURES), default=list(PICTURES))
    asked = parser.parse_args(words)
    warnings.simplefilter("ignore", IdentifiabilityWarning)
    for name in asked.only:
        make, size = PICTURES[name]
        write(make(asked.data_dir, Settings(asked.splits, asked.rows)), size, asked.docs / "_static" / f"why-{name}")


if __name__ == "__main__":
    main()
