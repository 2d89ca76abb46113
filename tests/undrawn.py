"""Charts left blank, for tests of what surrounds a report: drawing takes most of its time, and tests/app/report draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import pytest
from matplotlib.figure import Figure


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> Iterator[None]:
    """Figures are made as ever, but saved as blank drawings of their size."""

    def save(figure: Figure, file: BinaryIO, **_: Any) -> None:
        width, height = 72 * figure.get_size_inches()
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"/>'.encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", save)
        yield
