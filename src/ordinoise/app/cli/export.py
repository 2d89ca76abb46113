"""``ordinoise export``."""

from __future__ import annotations

from pathlib import Path


def export(model: Path, out: Path, *, dtype: str = "float32", json: bool = False) -> None:
    """Write a saved model as ONNX, for programs without Python.

    Example: ordinoise export model/ model.onnx

    Parameters
    ----------
    model
        Folder that a classifier's `save` wrote.
    out
        The ONNX file; never written over an existing one.
    dtype
        Type of the features that will be passed, float32 or float64.
    json
        Print what was written as JSON.
    """
    from ordinoise._validation import complain
    from ordinoise.app.cli._console import console
    from ordinoise.classifiers.loading import load_model

    if out.exists():
        raise complain("out", "not exist yet", repr(str(out)), "choose another, or remove it first")
    loaded = load_model(model)
    loaded.to_onnx(out, dtype=dtype)
    size = out.stat().st_size / 1000
    if json:
        from ordinoise.app.cli._findings import print_json

        named = {"kind": type(loaded).__name__, "classes": loaded.classes_.tolist(), "kilobytes": size}
        print_json(named | {"out": str(out), "input": "features", "outputs": ["label", "probabilities"]})
        return
    console().print(
        f"{type(loaded).__name__} with {len(loaded.classes_)} classes written to {out} ({size:,.0f} kB): "
        "input 'features', outputs 'label' and 'probabilities'.",
        markup=False,
    )
