"""Pictures that the cells of a table name, restricted to the folder of the table."""

from __future__ import annotations

from pathlib import Path

# No SVG: it can contain scripts.
TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
    ".bmp": "image/bmp", ".avif": "image/avif",
}  # fmt: skip
LARGEST_BYTES = 32 * 2**20  # a round number, chosen by no run


def picture(folder: Path, cell: str | None) -> tuple[Path, str] | None:
    """Path and content type of the file that a cell names; None unless it is a picture below `folder`.

    The resolved path counts: ``..``, absolute paths and symbolic links that lead out of the folder are refused.
    """
    if not cell or "\0" in cell:
        return None
    try:
        real = (folder / cell).resolve(strict=True)
        content_type = TYPES.get(real.suffix.lower())
        fits = real.is_relative_to(folder.resolve(strict=True)) and real.is_file()
        if not fits or content_type is None or real.stat().st_size > LARGEST_BYTES:
            return None
    except (OSError, RuntimeError, ValueError):
        return None
    return real, content_type
