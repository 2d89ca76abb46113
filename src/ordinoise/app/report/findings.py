"""Everything a report page is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ordinoise._validation import Floats, Ints
from ordinoise.app.record import AuditRecord
from ordinoise.scoring.evaluation import Evaluation


@dataclass(frozen=True, eq=False)
class Findings:
    """What an audit or a fit found, with the numbers behind it.

    Attributes
    ----------
    heading : str
        "Audit of ratings.csv".
    record : AuditRecord
        Data, noise, number of wrong labels, suspected rows.
    probabilities : array of shape (n_graded, n_classes)
        Probability of each true grade given the features, by models that did not see the row.
    recorded : int array of shape (n_graded,)
        Ranks of the recorded grades.
    scores : Evaluation
        Of the predictions out of fold, as recorded labels show them and as clean ones would.
    weights : mapping of str to float
        Share of each learner in the prediction.
    curves : mapping of str to sequence of float
        Loss of rows left out after each epoch or round, by learner; empty where a learner keeps none.
    """

    heading: str
    record: AuditRecord
    probabilities: Floats
    recorded: Ints
    scores: Evaluation
    weights: Mapping[str, float]
    curves: Mapping[str, Sequence[float]]
