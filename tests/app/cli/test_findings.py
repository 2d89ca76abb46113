"""What the verbs print about the noise."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from ordinoise.app.cli._findings import show_matrix
from ordinoise.finding import finding_of
from ordinoise.noise import Noise, uniform

CLASSES = ("low", "middle", "high")


def _printed(noise: Noise) -> str:
    shown = io.StringIO()
    show_matrix(Console(file=shown, width=100), noise, CLASSES, finding_of(noise))
    return shown.getvalue()


@pytest.mark.parametrize("answer", ["trusting", "cautious"])
def test_an_estimate_without_slips_is_not_printed_beside_a_range(answer: str) -> None:
    clean = Noise(np.eye(3), source="estimated", interval=np.stack([np.eye(3)] * 2), answer=answer, reason="a reason")
    assert not _printed(clean)
    assert "true \\ recorded" in _printed(replace(clean, answer="corrected"))
    assert "true \\ recorded" in _printed(replace(clean, source="given", answer=""))
    assert "true \\ recorded" in _printed(Noise(uniform(3, 0.1), source="estimated", answer=answer, reason="a reason"))
