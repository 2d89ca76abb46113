"""``ordinoise plan``."""

from __future__ import annotations

from pathlib import Path


def plan(*, classes: int, rate: float = 0.15, noise: Path | None = None, json: bool = False) -> None:
    """Say how many noisy labels are worth one clean label, and which corrections the noise allows.

    Example: ordinoise plan --classes 5 --rate 0.15

    Parameters
    ----------
    classes
        Number of grades.
    rate
        Chance that a grade is recorded as each of its neighbours, half as much two grades off, and so on.
    noise
        A file with the noise matrix instead: a line a true grade, no header.
    json
        Print the numbers as JSON.
    """
    from ordinoise._validation import as_count
    from ordinoise.app.cli._findings import print_json, tell_plan
    from ordinoise.noise import inverse_decay, noise_properties
    from ordinoise.scoring.bounds import noisy_labels_per_clean_label

    as_count("classes", classes, 2)
    if noise is None:
        matrix = inverse_decay(classes, rate)
    else:
        from ordinoise.app.workflow.learning import matrix_from

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
    tell_plan(matrix, properties, worth)
