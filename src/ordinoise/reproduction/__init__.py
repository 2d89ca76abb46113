"""The paper re-run: its tables and picture, our numbers beside the printed ones."""

from ordinoise.reproduction.run import PARTS, Progress, Reproduction, Request, reproduce

__all__ = ["PARTS", "Progress", "Reproduction", "Request", "reproduce"]
