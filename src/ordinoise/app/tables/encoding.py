"""The encoding of a text file, by the mark at its start: UTF-8 with or without one, or UTF-16."""

from __future__ import annotations

import codecs
from pathlib import Path

from ordinoise._validation import complain

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def as_utf8(path: Path, raw: bytes, *, is_whole: bool = True) -> bytes:
    """The text of a file in UTF-8, without its mark; text without a mark is taken as UTF-8 and not checked.

    Unless `is_whole`, the bytes are the beginning of a file, and half a character at their end is dropped.
    """
    mark = next((mark for mark in MARKS if raw.startswith(mark)), b"")
    text = raw[len(mark) :]
    try:
        if MARKS.get(mark, "utf-8") != "utf-8":
            text = codecs.getincrementaldecoder(MARKS[mark])().decode(text, final=is_whole).encode()
        while text.startswith(codecs.BOM_UTF8):  # some programs write a mark before text that has one
            text = text.removeprefix(codecs.BOM_UTF8)
        return text
    except UnicodeDecodeError as error:
        got = f"bytes that are no character, {error.start + len(mark)} bytes into {str(path)!r}"
        raise complain("file", "be text in UTF-16, as its first bytes say", got, "save it as UTF-8") from None
