"""The paper's experiments: its protocol as data, its printed numbers, and ours beside them."""

from ordinoise.paper.protocol import PAPER_SETS, PROTOCOLS, SETS, NetworkSettings, PaperTrial, plan

__all__ = ["PAPER_SETS", "PROTOCOLS", "SETS", "NetworkSettings", "PaperTrial", "plan"]
