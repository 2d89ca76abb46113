"""The local web page where people review suspicious labels."""

from ordinoise.app.review.decisions import DecisionStore, open_decisions
from ordinoise.app.review.events import Event, RowState
from ordinoise.app.review.refit import RefitOutcome, in_words
from ordinoise.app.review.serve import serve

__all__ = ["DecisionStore", "Event", "RefitOutcome", "RowState", "in_words", "open_decisions", "serve"]
