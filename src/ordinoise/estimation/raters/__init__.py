"""Noise matrices of several raters, and the consensus of their grades."""
