"""Cells as the numbers that they could be, by a decimal point and by a decimal comma."""

from __future__ import annotations

import polars as pl

from ordinoise.columns.words import CURRENCIES

_MARKS = "'\u2019 "  # two kinds of apostrophe and a blank, for groups of three
_GROUP_MARKS = {".": f",{_MARKS}", ",": f".{_MARKS}"}
_BOUND = r"[<>]=?|=[<>]|[≤≥~≈]|(?i:ca\.?|circa|approx\.?|about|etwa|env\.)\s"
_CURRENCY = "|".join(sorted((word.replace("$", r"\$").replace(".", r"\.") for word in CURRENCIES), key=len)[::-1])
_CORE = rf"[0-9](?:[0-9.,{_MARKS}]*[0-9])?\.?(?:[eE][+-]?[0-9]+)?|[.,][0-9]+(?:[eE][+-]?[0-9]+)?"
_UNIT = r"[%‰€$£¥₽₹₺]|[\p{L}µ°][\p{L}µ°²³/%$.]{0,11}"
NUMERAL = rf"^({_BOUND})?\s*([+-])?(?:((?i:{_CURRENCY}))\s*)?([+-])?({_CORE})(\+)?\s*({_UNIT})?$"
"""A bound, a sign, a currency before or after the sign, the digits with their marks, a plus, and a unit."""
_PARTS = ["bound", "sign", "before", "later", "core", "plus", "after"]
_BARE = rf"^[+-]?[0-9.,{_MARKS}]*$"
_PERCENT = "e-2"  # of a percentage: the exponent of its text is shifted, as 87.6 / 100 is not 0.876


def _pattern(decimal: str) -> str:
    """Digits with this decimal mark, in groups of three or in none; a group never begins with 0."""
    groups = "|".join(rf"(?:{mark}[0-9]{{3}})+" for mark in _escaped(_GROUP_MARKS[decimal]))
    mark = _escaped(decimal)[0]
    ending = rf"(?:{mark}[0-9]*)?" if decimal == "." else rf"(?:{mark}[0-9]+)?"
    return rf"^(?:(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{groups})){ending}|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def _escaped(marks: str) -> list[str]:
    return [rf"\{mark}" if mark == "." else mark for mark in marks]


PATTERNS = {decimal: _pattern(decimal) for decimal in _GROUP_MARKS}


def plain_cells(cells: pl.Series) -> pl.Series:
    """The cells with one kind of blank and one kind of minus sign."""
    return cells.str.replace_all("[\u00a0\u202f\u2009]", " ").str.replace_all("\u2212", "-", literal=True)


def numerals(cells: pl.Series) -> pl.DataFrame:
    """What each cell is as a number: the columns ``"."`` and ``","`` with its text for a machine, null if it is none.

    Beside them ``unit``, a currency by its code or "%" among them; ``is_bound`` for cells such as <0.5; and ``is_code``
    for digits alone.
    """
    plain = plain_cells(cells)
    frame = _parts(plain)
    text = {decimal: _machine_text(decimal) for decimal in PATTERNS}
    frame = frame.with_columns(
        unit=_unit(),
        is_bound=pl.col("bound").is_not_null() | pl.col("plus").is_not_null(),
        is_code=plain.str.contains(r"^[0-9]+$"),
        **{f"text{decimal}": text[decimal] for decimal in PATTERNS},
    )
    percent = pl.when(pl.col("unit") == "%").then(pl.lit(_PERCENT)).otherwise(pl.lit(""))
    return frame.select(
        *(_checked(pl.col(f"text{decimal}"), percent).alias(decimal) for decimal in PATTERNS),
        "unit", "is_bound", "is_code",
    )  # fmt: skip


def _parts(plain: pl.Series) -> pl.DataFrame:
    """The parts of each cell; digits and marks alone, the usual cells, do not go through the slow pattern."""
    is_bare = plain.str.contains(_BARE).fill_null(False)
    bare = plain.filter(is_bare)
    signs = bare.str.head(1)
    has_sign = signs.is_in(["+", "-"])
    sides = [
        pl.select(sign=pl.when(has_sign).then(signs), core=pl.when(has_sign).then(bare.str.slice(1)).otherwise(bare)),
        plain.filter(~is_bare).str.extract_groups(NUMERAL).struct.rename_fields(_PARTS).struct.unnest(),
    ]
    order = pl.concat([is_bare.arg_true(), (~is_bare).arg_true()]).arg_sort()
    return pl.concat([pl.DataFrame(schema=dict.fromkeys(_PARTS, pl.String)), *sides], how="diagonal")[order]


def _machine_text(decimal: str) -> pl.Expr:
    """Digits with a point for decimals and no groups, and the sign; null where the mark cannot be the decimal one."""
    core, sign = pl.col("core"), pl.coalesce("sign", "later", pl.lit(""))
    is_number = core.str.contains(PATTERNS[decimal]) & (pl.col("sign").is_null() | pl.col("later").is_null())
    # +49 151 123 is no number in groups.
    is_number &= ~((sign == "+") & core.str.contains(" ", literal=True))
    bare = core.str.replace_all(f"[{_GROUP_MARKS[decimal]}]", "").str.replace(",", ".", literal=True)
    return pl.when(is_number).then(pl.concat_str(sign.str.replace("+", "", literal=True), bare))


def _checked(text: pl.Expr, percent: pl.Expr) -> pl.Expr:
    """The text, null for what no number of 64 bits holds: digits without a mark that are as long as an identifier."""
    is_huge = text.str.contains(r"^-?[0-9]{19,}$")
    has_both = text.str.contains("[eE]") & (percent != "")
    return pl.when(~is_huge & ~has_both).then(pl.concat_str(text, percent))


def _unit() -> pl.Expr:
    """The currency or unit of a cell; empty if it has none, null if it has two."""
    before, after = (pl.col(name).str.to_lowercase().fill_null("") for name in ("before", "after"))
    known = [one.replace_strict(CURRENCIES, default=pl.col(name).fill_null("")) for one, name in
             ((before, "before"), (after, "after"))]  # fmt: skip
    has_two = (before != "") & (after != "") & (known[0] != known[1])
    return pl.when(~has_two).then(pl.when(before != "").then(known[0]).otherwise(known[1]))


def whole_or_not(texts: pl.Series) -> pl.Series:
    """Texts for a machine as Int64 if all are whole numbers, else as Float64."""
    whole = texts.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == texts.null_count() else texts.cast(pl.Float64, strict=False)
