"""Candidates of the front door, fitted without each fold in turn and weighed by likelihood."""
