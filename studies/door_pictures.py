"""Pictures of the pages on images and on ONNX, made by the code on these pages, and the networks of the theory page.

``python -m studies.door_pictures [--docs docs]``
"""

from __future__ import annotations

import argparse
import re
import tempfile
from contextlib import chdir
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

INK, ACCENT, FILL = "#1c2733", "#c4500f", "#dfe3e8"
BOXES_PER_ROW = 6


def names_of(page: Path) -> dict[str, Any]:
    """Run the first block of code of a page; returns the names that it sets."""
    code = re.search(r"```python\n(.*?)```", page.read_text(), flags=re.S)
    assert code
    names: dict[str, Any] = {}
    exec(code[1], names)
    return names


def suspects(names: dict[str, Any]) -> Figure:
    """The most suspicious images with their recorded and suggested grades."""
    issues, recorded, images = names["issues"], names["recorded"], names["images"].images
    figure = Figure(figsize=(9, 3.3), layout="constrained")
    for axes, row in zip(figure.subplots(2, 6).flat, issues.worst, strict=False):
        axes.imshow(images[row], cmap="gray_r")
        axes.set_title(f"recorded {recorded[row]}, suggested {issues.suggested[row]}", fontsize=8, color=INK)
        axes.set(xticks=[], yticks=[])
    return figure


def graph(names: dict[str, Any]) -> Figure:
    """The nodes of the graph in order, and its probabilities beside those of the model."""
    import onnx

    nodes = [node.op_type for node in onnx.load("model.onnx").graph.node]
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    words = ["features", *nodes, "label, probabilities"]
    for place, word in enumerate(words):
        row, column = divmod(place, BOXES_PER_ROW)
        is_end = place in (0, len(words) - 1)
        left.text(
            column, -row, word, ha="center", va="center", fontsize=8, color="white" if is_end else INK,
            bbox={"boxstyle": "round,pad=0.4", "facecolor": ACCENT if is_end else FILL, "edgecolor": "none"},
        )  # fmt: skip
    left.set(xlim=(-0.6, BOXES_PER_ROW - 0.4), ylim=(-row - 0.6, 0.6))
    left.set_title(f"model.onnx: {len(nodes)} nodes, in order", fontsize=9)
    left.axis("off")
    ours = names["model"].predict_proba(names["data"].features)
    right.plot(ours.ravel(), names["probabilities"].ravel(), ".", color=ACCENT, markersize=2)
    right.set(xlabel="probability by the model", ylabel="by the graph", aspect="equal")
    right.set_title(f"largest difference {np.abs(ours - names['probabilities']).max():.0e}", fontsize=9)
    right.spines[["top", "right"]].set_visible(False)
    return figure


def networks() -> Figure:
    """The paper's two networks, one row each: one score, shared by all thresholds, and the loss of corrected levels."""
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    for axes, name, output, words in zip(
        figure.subplots(2, 1),
        ("Cross-entropy", "Hinge (IMC)"),
        (r"$h_j = \sigma(f_j)$", r"$f_j$"),
        (
            r"$-C_{\tilde yj} \log h_j - (1 - C_{\tilde yj}) \log(1 - h_j)$",
            r"$C_{\tilde yj} [1 - f_j]_+ + (1 - C_{\tilde yj}) [1 + f_j]_+$",
        ),
        strict=True,
    ):
        _network(axes, output, words)
        axes.set_title(f"{name}: one score, K - 1 thresholds, levels corrected by the noise matrix", fontsize=9)
    return figure


def _network(axes: Any, output: str, words: str) -> None:
    layers = [(0.0, [f"$x_{i}$" for i in (1, 2, "d")]), (1.2, [""] * 4), (2.4, ["$g$"])]
    layers += [(3.8, [f"$g + b_{j}$" for j in ("0", "1", "{K-2}")])]
    places = [[(across, up) for up in np.linspace(1, -1, len(nodes)) * (len(nodes) > 1)] for across, nodes in layers]
    for before, after in pairwise(places):
        for start in before:
            for end in after:
                axes.plot(*zip(start, end, strict=True), color=FILL, linewidth=1, zorder=0)
    for (_, nodes), spots in zip(layers, places, strict=True):
        for text, (across, up) in zip(nodes, spots, strict=True):
            is_score = text == "$g$"
            axes.text(
                across, up, text or "  ", ha="center", va="center", fontsize=8, color="white" if is_score else INK,
                bbox={"boxstyle": "round,pad=0.5", "facecolor": ACCENT if is_score else "white", "edgecolor": INK},
            )  # fmt: skip
    for threshold, (_, up) in zip(("0", "1", "{K-2}"), places[-1], strict=True):
        axes.text(4.4, up, output.replace("j", threshold), va="center", fontsize=9)
    axes.text(
        5.6, 0, f"loss of the recorded label $\\tilde y$: sum over $j$ of\n{words}", va="center", fontsize=9, color=INK
    )
    axes.set(xlim=(-0.5, 9.2), ylim=(-1.5, 1.5))
    axes.axis("off")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    docs = parser.parse_args().docs.resolve()
    with tempfile.TemporaryDirectory() as temporary, chdir(temporary):
        for page, picture in (("images", suspects), ("onnx", graph)):
            picture(names_of(docs / f"{page}.md")).savefig(docs / "_static" / f"{page}.png", dpi=130)

    networks().savefig(docs / "_static" / "networks.png", dpi=110)


if __name__ == "__main__":
    main()
