"""The local page where a person settles suspected labels."""

from ordinoise.review.decisions import DecisionStore, open_decisions
from ordinoise.review.events import Event, RowState
from ordinoise.review.refit import RefitOutcome, in_words
from ordinoise.review.serve import serve

__all__ = ["DecisionStore", "Event", "RefitOutcome", "RowState", "in_words", "open_decisions", "serve"]
