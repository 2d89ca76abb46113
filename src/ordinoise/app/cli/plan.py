"""``ordinoise plan``."""

from __future__ import annotations

from pathlib import Path

from ordinoise.app.cli._options import Json


def plan(*, classes: int, rate: float = 0.15, noise: Path | None = None, json: Json = False) -> None:
    """Show how many noisy labels are worth one clean label, and whether the noise allows the unbiased correction.

    Example: ordinoise plan --classes 5 --rate 0.15

    Parameters
    ----------
    classes
        Number of grades.
    rate
        Probability of each neighboring grade, half of it two grades away, a third of it three grades away.
    noise
        File with a noise matrix instead of the rate: one row per true grade, no header.
    """
    from ordinoise._validation import as_count
    from ordinoise.app.cli._findings import print_json, show_plan
    from ordinoise.noise import inverse_decay, noise_properties
    from ordinoise.scoring.bounds import noisy_labels_per_clean_label

    as_count("classes", classes, 2)
    if noise is None:
        matrix = inverse_decay(classes, rate)
    else:
        from ordinoise.app.verbs.fit import matrix_from

        matrix = matrix_from(noise, classes)
    properties = noise_properties(matrix)
    worth = {
        f"{loss}, {constant}": noisy_labels_per_clean_label(matrix, loss=loss, constant=constant)
        for constant in ("tight", "paper")
        for loss in ("cross_entropy", "hinge")
    }
    if json:
        print_json(
            {
                "noise_matrix": matrix.tolist(),
                "share_wrong": float(1 - matrix.diagonal().mean()),
                "is_dominant": properties.is_dominant,
                "noisy_labels_per_clean_label": worth,
            }
        )
        return
    show_plan(matrix, properties, worth)
