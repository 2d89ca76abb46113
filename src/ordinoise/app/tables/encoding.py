"""The encoding of a text file: by its mark, else by what its bytes can be; one byte per character is a guess."""

from __future__ import annotations

import codecs
import locale
import os
import re
import sys
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ordinoise._validation import complain

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
WORDS = {
    "utf-8": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "iso8859-1": "Latin-1", "mac-roman": "Mac Roman",
    "cp850": "DOS 850",
}  # fmt: skip
# The code page that programs of Windows save text in, by the language of the system where that is not 1252.
PAGES = {
    "cp1250": "cs hr hu pl ro sk sl sq bs", "cp1251": "be bg mk ru sr uk", "cp1253": "el", "cp1254": "tr az",
    "cp1255": "he", "cp1256": "ar fa ur", "cp1257": "et lt lv", "cp1258": "vi",
}  # fmt: skip
USUAL = ("cp1252", "cp1250", "cp1251", "cp850", "mac-roman", "iso8859-1")
"""Encodings of one byte per character that are tried, in this order."""
OLD = ("cp850", "mac-roman")
"""Those in which every byte is a character, so that they would take whatever comes: all of a word must be letters."""
# Shares of odd words: the first encoding with fewer is taken, and one with more is no reading. Chosen by no run.
FEW_ODD, MANY_ODD = 0.1, 0.5
MOST_WORDS = 2_000  # that are looked at; a round number, chosen by no run
# UTF-16 without a mark: text of the West has a zero in every other byte. The shares are those of chardet's detectors.
MANY_ZEROS, FEW_ZEROS = 0.3, 0.05
_WORD = re.compile(rb"[A-Za-z]?[\x80-\xff][A-Za-z\x80-\xff]*")
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_JOINERS = "\xad\xa0\xb7\xb4\u2018\u2019\u2013\u2014\u2026"  # signs that stand between letters of a word
_ALPHABETS = ("LATIN", "GREEK", "CYRILLIC", "HEBREW", "ARABIC")
_BLOCK = 2**24


@dataclass(frozen=True)
class Encoding:
    """The encoding of a text file.

    Attributes
    ----------
    name : str
        As Python calls it.
    mark : bytes
        The byte order mark at the beginning of the file; may be empty.
    doubt : str
        A word that would be odd in this encoding, if it is a guess that does not fit well.
    """

    name: str = "utf-8"
    mark: bytes = b""
    doubt: str = ""

    @property
    def words(self) -> str:
        """What people call it."""
        return encoding_words(self.name)


UTF8 = Encoding()


def encoding_words(name: str) -> str:
    """What people call an encoding."""
    return WORDS.get(name, f"Windows-{name[2:]}" if name.startswith("cp125") else name)


def known_encoding(name: str) -> str:
    """An encoding by Python's name for it; refuses what is none."""
    try:
        "1".encode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError, UnicodeError):
        raise complain("encoding", "be one that Python knows, such as cp1252", repr(name)) from None


def encoding_of(path: Path, raw: bytes, asked: str = "", *, is_whole: bool = True, likely: str = "") -> Encoding:
    """The encoding of a file that holds `raw`, or begins with it unless `is_whole`.

    Bytes that can be UTF-8 are. Of other bytes the encodings that are tried are the `likely` one, that of the system's
    language and `USUAL`; the first in which words look like words is taken.
    """
    mark = next((mark for mark in MARKS if raw.startswith(mark)), b"")
    if asked:
        name = known_encoding(asked)
        name = MARKS.get(mark, name) if name in ("utf-16", "utf-8-sig") else name
        return Encoding(name, mark if MARKS.get(mark) == name else b"")
    if mark:
        return Encoding(MARKS[mark], mark)
    wide = _wide(raw)
    if wide or not is_whole or (bad := _first_invalid(raw)) is None:
        return Encoding(wide or "utf-8")
    n_whole = len(_UTF8.findall(raw))
    if n_whole and n_whole >= len(re.findall(rb"[\x80-\xff]+", _UTF8.sub(b"", raw))):
        raise _not_utf8(path, raw, bad)
    return _guess(path, raw, [name for name in dict.fromkeys((likely, system_page(), *USUAL)) if name])


def as_utf8(path: Path, raw: bytes, encoding: Encoding, *, is_whole: bool = True) -> bytes:
    """The text of a file in UTF-8, without its mark.

    Unless `is_whole`, the bytes are the beginning of a file, and half a character at their end is dropped.
    """
    text = raw[len(encoding.mark) :] if encoding.mark else raw
    if encoding.name != "utf-8":
        try:
            text = codecs.getincrementaldecoder(encoding.name)().decode(text, final=is_whole).encode()
        except UnicodeDecodeError as error:
            first = ", as its first bytes say" if encoding.mark else ""
            got = f"bytes that are no character, {error.start + len(encoding.mark)} bytes into {str(path)!r}"
            rule = f"be text in {encoding.words}{first}"
            raise complain("file", rule, got, "save it as UTF-8, or name its encoding with --encoding") from None
        except UnicodeError:  # half of a character that an encoding lets pass
            raise complain("file", f"be text in {encoding.words}", f"no text in {str(path)!r}") from None
    elif is_whole and (bad := _first_invalid(text)) is not None:
        raise _not_utf8(path, text, bad)
    while text.startswith(codecs.BOM_UTF8):  # some programs write a mark before text that has one
        text = text.removeprefix(codecs.BOM_UTF8)
    return text


def system_page() -> str:
    """The code page of the system's language, in which its spreadsheets save text; empty if it is not known."""
    if sys.platform == "win32":
        try:
            return codecs.lookup(locale.getencoding()).name
        except LookupError:
            return ""
    given = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
    return next((page for page, languages in PAGES.items() if given[:2].lower() in languages.split()), "")


def _wide(raw: bytes) -> str:
    """UTF-16 without a mark, by the zeros at every other place; empty if it is none."""
    head = raw[: 2**16]
    half = len(head) // 2
    if not half or not head.count(0):
        return ""
    even, odd = head[0 : 2 * half : 2].count(0) / half, head[1::2].count(0) / half
    if odd > MANY_ZEROS and even < FEW_ZEROS:
        return "utf-16-le"
    return "utf-16-be" if even > MANY_ZEROS and odd < FEW_ZEROS else ""


def _first_invalid(raw: bytes) -> int | None:
    """The place of the first byte that is no UTF-8; None if all are. A block at a time, to bound the memory."""
    if raw.isascii():
        return None
    at = 0
    while at < len(raw):
        block = raw[at : at + _BLOCK]
        try:
            at += codecs.utf_8_decode(block, "strict", at + _BLOCK >= len(raw))[1]
        except UnicodeDecodeError as error:
            return at + error.start
    return None


def _not_utf8(path: Path, raw: bytes, bad: int) -> ValueError:
    line = raw.count(b"\n", 0, bad) + 1
    got = f"byte 0x{raw[bad]:02x} on line {line} of {str(path)!r}"
    return complain("file", "be text in UTF-8", got, "save it as UTF-8, or name its encoding with --encoding")


def _guess(path: Path, raw: bytes, names: Collection[str]) -> Encoding:
    """The first encoding in which words look like words."""
    words: dict[bytes, None] = {}
    for match in _WORD.finditer(raw):
        words.setdefault(match[0][:80])
        if len(words) == MOST_WORDS:
            break
    best, fewest, doubt = "", 2.0, ""
    for name in names:
        if any(byte in raw for byte in _undefined(name)):
            continue
        texts = [word.decode(name) for word in words]
        odd = [text for text in texts if is_odd(text) or (name in OLD and not _is_of_letters(text))]
        share = len(odd) / len(texts)
        if share < fewest and (name not in OLD or share <= FEW_ODD):
            best, fewest, doubt = name, share, odd[0] if odd else ""
        if share <= FEW_ODD:
            break
    if fewest > MANY_ODD:
        advice = "name it with --encoding, such as shift_jis or gb18030, or save the file as UTF-8"
        got = f"bytes that make no words in any of {', '.join(map(encoding_words, names))}: {str(path)!r}"
        raise complain("file", "be text in an encoding that can be recognized", got, advice)
    return Encoding(best, doubt=doubt)


@cache
def _undefined(name: str) -> tuple[bytes, ...]:
    """The bytes that are no character in an encoding of one byte per character."""
    return tuple(byte for byte in map(bytes, zip(range(128, 256))) if not byte.decode(name, "ignore"))


def _is_of_letters(word: str) -> bool:
    """Whether every accented sign of a word is a letter of Western Europe, as nearly all words of an old file are."""
    return all(sign.isascii() or sign in _JOINERS or (sign.isalpha() and "\xc0" <= sign <= "\xff") for sign in word)


def is_odd(word: str) -> bool:
    """Whether a word can hardly be one.

    It has a control sign, a sign between letters, a capital inside, two alphabets, or four letters with
    accents in a row.
    """
    alphabets: set[str] = set()
    n_accented = 0
    for at, sign in enumerate(word):
        before, after = word[max(at - 1, 0) : at], word[at + 1 : at + 2]
        n_accented = n_accented + 1 if sign.isalpha() and not sign.isascii() else 0
        if sign.isalpha():
            alphabets.add(unicodedata.name(sign, "").partition(" ")[0])
            is_capital = not sign.isascii() and sign.isupper()
            is_bad = is_capital and (before.islower() or (before.isalpha() and after.islower()))
        else:
            is_between = before.isalpha() and after.isalpha() and sign not in _JOINERS
            is_bad = unicodedata.category(sign) in ("Cc", "Cn", "Co") or (
                is_between and not unicodedata.combining(sign)
            )
        if is_bad or (n_accented >= 4 and "LATIN" in alphabets):
            return True
    return len(alphabets.intersection(_ALPHABETS)) > 1
