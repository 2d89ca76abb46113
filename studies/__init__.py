"""Measurements, each a command: ``python -m studies.<name>``."""
