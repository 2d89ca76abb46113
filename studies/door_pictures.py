"""Pictures of the pages on images and on ONNX, made by the code on these pages.

``python -m studies.door_pictures [--docs docs]``
"""

from __future__ import annotations

import argparse
import re
import tempfile
from contextlib import chdir
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    docs = parser.parse_args().docs.resolve()
    with tempfile.TemporaryDirectory() as temporary, chdir(temporary):
        for page, picture in (("images", suspects), ("onnx", graph)):
            picture(names_of(docs / f"{page}.md")).savefig(docs / "_static" / f"{page}.png", dpi=130)


if __name__ == "__main__":
    main()
