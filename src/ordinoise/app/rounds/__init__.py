"""Rounds of review: settled grades for the next audit, rows to verify next, and the gate."""
