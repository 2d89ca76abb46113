"""A small audit made by hand: a file of wines with some grades wrong, and the record of its suspects."""

import csv
import hashlib
import struct
import zlib
from pathlib import Path

import numpy as np

from ordinoise._validation import Floats
from ordinoise.app.records.audit import AuditRecord, Contribution, Similar, Suspect, WordContribution, write_record
from ordinoise.app.verbs.request import Request
from ordinoise.columns.findings import ColumnFindings
from ordinoise.noise import Noise

CLASSES = ("3", "4", "5", "6", "7", "8")
# Asymmetric, as a transposed reading of it must not pass.
MATRIX = np.array(
    [
        (0.84, 0.10, 0.04, 0.01, 0.005, 0.005),
        (0.06, 0.80, 0.10, 0.02, 0.01, 0.01),
        (0.01, 0.05, 0.82, 0.09, 0.02, 0.01),
        (0.01, 0.02, 0.12, 0.75, 0.08, 0.02),
        (0.005, 0.005, 0.03, 0.14, 0.72, 0.10),
        (0.01, 0.01, 0.02, 0.04, 0.17, 0.75),
    ]
)
COLUMNS = (
    ColumnFindings("alcohol", "number", "feature", 0, 60),
    ColumnFindings("volatile acidity", "number", "feature", 1, 60),
    ColumnFindings("sulphates", "number", "feature", 0, 60),
    ColumnFindings("color", "category", "feature", 0, 2),
    ColumnFindings("quality", "number", "target", 0, 6),
    ColumnFindings("tasting note", "text", "ignored", 0, 60, "free text is not used"),
    ColumnFindings("label", "image", "ignored", 0, 60, "pictures are not used"),
)
NOTES = (
    "Ripe plum and a little smoke; the finish is longer than the nose lets one hope.",
    "<script>document.title = 'owned'</script> & <b>bold</b> claims of cherry.",
    '=HYPERLINK("http://example.invalid", "click")',
    "Thin. Sour cherry, some green pepper.\nOpens a little after an hour, never quite forgives.",
)


def sample_audit(folder: Path, n_suspects: int = 20, *, n_rows: int = 60) -> AuditRecord:
    """The record of an audit in `folder` / audit, of the file `folder` / wine.csv, both written here."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = _rows(n_rows)
    source = folder / "wine.csv"
    with source.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([column.name for column in COLUMNS])
        writer.writerows(rows)
    (folder / "labels").mkdir(exist_ok=True)
    for number in range(n_rows):
        (folder / "labels" / f"{number}.png").write_bytes(_png(number))
    record = _record(source, rows, n_suspects)
    audit = folder / "audit"
    audit.mkdir()
    write_record(audit, record)
    return record


def noise_of(rate: float, ends: tuple[float, float] | None, matrix: Floats = MATRIX) -> Noise:
    """An estimate with this share of wrong labels, by the shares of the classes that are right most and least often."""
    right = matrix.diagonal()
    shares = np.zeros(len(matrix))
    shares[right.argmin()] = (right.max() - (1 - rate)) / (right.max() - right.min())
    shares[right.argmax()] = 1 - shares.sum()
    return Noise(matrix, source="estimated", class_shares=shares, rate_interval=ends, method="ScoreLikelihood")


def _rows(n_rows: int) -> list[list[str]]:
    draw = np.random.default_rng(7)
    return [
        [
            f"{draw.normal(10.5, 1.2):.1f}",
            "" if number == 3 else repr(float(draw.gamma(4, 0.13))),
            f"{draw.normal(0.65, 0.12):.2f}",
            str(draw.choice(["red", "white"])),
            str(draw.choice(CLASSES)),
            NOTES[number % len(NOTES)],
            f"labels/{number}.png",
        ]
        for number in range(n_rows)
    ]


def _record(source: Path, rows: list[list[str]], n_suspects: int) -> AuditRecord:
    draw = np.random.default_rng(8)
    chosen = draw.permutation(len(rows))[:n_suspects]
    chance = np.sort(draw.uniform(0.55, 0.995, n_suspects))[::-1]
    suspects = [
        _suspect(rows, int(row), rank, float(wrong))
        for rank, (row, wrong) in enumerate(zip(chosen, chance, strict=True), 1)
    ]
    return AuditRecord(
        source=str(source.resolve()),
        digest=hashlib.sha256(source.read_bytes()).hexdigest(),
        target="quality",
        classes=CLASSES,
        columns=COLUMNS,
        n_rows=len(rows),
        n_graded=len(rows),
        noise=noise_of(0.21, (0.16, 0.27)),
        wrong=12.6,
        wrong_low=9.6,
        wrong_high=16.2,
        confidence=0.95,
        learner="boosting",
        settings=Request(source, target="quality").settings(),
        suspects=tuple(suspects),
        cautions=(),
        ordinoise="0.0.0",
    )


def _suspect(rows: list[list[str]], row: int, rank: int, wrong: float) -> Suspect:
    recorded = CLASSES.index(rows[row][4])
    away = 1 + rank % 3
    suggested = recorded + away if recorded + away < len(CLASSES) else recorded - away
    likelihood = np.exp(-1.1 * np.abs(np.arange(len(CLASSES)) - suggested))
    likelihood[recorded] = 0
    posterior = wrong * likelihood / likelihood.sum()
    posterior[recorded] = 1 - wrong
    cells = tuple(cell or None for cell in rows[row])
    first = (cells[5] or "").partition(" ")[0]
    why = (Contribution("alcohol", 1.25), Contribution("color", -0.5))
    words = (WordContribution("tasting note", 0.75 if row % 2 else -0.75, 0, len(first)),) if first else ()
    near = Similar(row + 1, CLASSES[recorded], cells, CLASSES[suggested] if rank % 2 else None)
    grades = (CLASSES[recorded], CLASSES[suggested])
    return Suspect(row, rank, *grades, cells, wrong, tuple(posterior.tolist()), why, words, (near,))


def _png(number: int) -> bytes:
    """A small picture of one color and a stripe, without a library for pictures."""
    width, height = 96, 64
    color = np.array([90 + 7 * number % 120, 40 + 13 * number % 90, 70 + 17 * number % 110], dtype=np.uint8)
    pixels = np.broadcast_to(color, (height, width, 3)).copy()
    pixels[20:44, 12:84] = 240
    raw = b"".join(b"\0" + line.tobytes() for line in pixels)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(raw)),
        (b"IEND", b""),
    )
    framed = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)
