"""Whether the order of the rows left its trace in probabilities: folds that were cut without shuffling.

Where rows lie in the order of something that goes with errors, such as the true grade, and folds are cut in that order,
the models of a fold never saw rows like those that they judge. Their probabilities are then most sure where they are
wrong, and whatever is fitted to probabilities and records of all folds together learns that.
"""

from __future__ import annotations

import numpy as np

from ordinoise._validation import Floats, Ints
from ordinoise.noise import Doubt

N_STRETCHES = 5
"""Stretches that the rows of each recorded grade are cut into: as many as scikit-learn's folds by default, stratified,
which lie just so. More or fewer folds show in them too."""
FEWEST_ROWS = 2 * N_STRETCHES  # of a grade whose stretches are compared
BEYOND_CHANCE = 4.0
"""Standard deviations from which stretches differ by more than chance; less counts as no difference at all, so that no
ranking depends on how shuffled rows happen to lie. By no run."""
NOTABLE = 0.05
"""Share of the spread that stretches explain from which there is a doubt. By no run."""
ORDERED = "ordered-rows"
FLOOR = 1e-3  # added to chances before the logarithm


def explained_by_order(probabilities: Floats, recorded: Ints) -> float:
    """Share of the spread of the record's log-chance, among rows of one recorded grade, that their place explains.

    Between the stretches that the rows of a grade are cut into, in their order; what chance explains is subtracted, and
    0 if it may be chance. The place of a row among those with its record says nothing, if rows are in any order that
    does not go with errors or with columns.

    Examples
    --------
    >>> chances, records = np.repeat([[0.9, 0.1], [0.2, 0.8]], 30, axis=0), np.zeros(60, dtype=int)
    >>> round(explained_by_order(chances, records), 2), explained_by_order(chances[np.arange(60) * 7 % 60], records)
    (0.77, 0.0)
    """
    between, degrees, n_rows = 0.0, 0, len(recorded)
    logs = np.log(probabilities[np.arange(n_rows), recorded] + FLOOR)
    for grade in np.unique(recorded):
        own = logs[recorded == grade]
        if len(own) < FEWEST_ROWS or np.ptp(own) == 0:
            continue
        stretch = np.arange(len(own)) * N_STRETCHES // len(own)
        sizes = np.bincount(stretch)
        means = np.bincount(stretch, own) / sizes
        between += float(sizes @ (means - own.mean()) ** 2 / own.var(ddof=1))
        degrees += N_STRETCHES - 1
    surplus = between - degrees  # that of chance is chi-square distributed
    return surplus / n_rows if degrees and surplus > BEYOND_CHANCE * np.sqrt(2 * degrees) else 0.0


def doubts_about_order(probabilities: Floats, recorded: Ints) -> tuple[Doubt, ...]:
    """A doubt if the place of a row goes with how likely its record is by these probabilities."""
    share = explained_by_order(probabilities, recorded)
    if share < NOTABLE:
        return ()
    sentence = (
        "the order of the rows shows in the probabilities: among rows with one record, their place explains "
        f"{share:.0%} of how likely that record is; if folds were cut in this order, as scikit-learn's are by default, "
        "shuffle them"
    )
    return (Doubt(ORDERED, sentence),)
