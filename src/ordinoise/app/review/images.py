"""Pictures that a table names, as long as they lie below the table's own folder."""

from __future__ import annotations

from pathlib import Path

# No SVG: it is a document that may hold script, not a picture.
TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
    ".bmp": "image/bmp", ".avif": "image/avif",
}  # fmt: skip
LARGEST_BYTES = 32 * 2**20


def picture(folder: Path, cell: str | None) -> tuple[Path, str] | None:
    """The file that a cell names and its content type; None unless it is a picture below `folder`.

    What counts is where the file really lies: ``..``, absolute paths and links that lead out are refused alike.
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
