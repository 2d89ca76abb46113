"""Fuzzed inputs for every reader and verb: ``python -m tools.fuzz --inputs 100000``."""
