"""``ordinoise export``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import Json


def export(model: Path, out: Path, *, dtype: str = "float32", json: Json = False) -> None:
    """Write a saved model as ONNX, for programs without Python.

    Example: ordinoise export model/ model.onnx

    Parameters
    ----------
    model
        Folder written by ordinoise fit or by a classifier's save method.
    out
        New ONNX file.
    dtype
        Type of the features in the exported model: float32 or float64.
    """
    from ordinoise._files import refuse_existing
    from ordinoise.app.cli._console import console, say
    from ordinoise.classifiers import load_model

    refuse_existing("out", out)
    loaded = load_model(model)
    loaded.to_onnx(out, dtype=dtype)
    size = out.stat().st_size / 1000
    if json:
        from ordinoise.app.cli._findings import print_json

        named = {"kind": type(loaded).__name__, "classes": loaded.classes_.tolist(), "kilobytes": size}
        print_json(named | {"out": str(out), "input": "features", "outputs": ["label", "probabilities"]})
        return
    say(
        console(),
        f"{type(loaded).__name__} with {len(loaded.classes_)} classes written to {out} ({size:,.0f} kB): "
        "input 'features', outputs 'label' and 'probabilities'.",
    )
