"""What a person says of the columns of a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from ordinoise._validation import complain
from ordinoise.columns.names import as_column, meant, spread

if TYPE_CHECKING:
    from ordinoise.app.tables.reader import Opened

KINDS = ("number", "date", "category", "text", "id", "image", "ignored")
_KIND = re.compile(rf"(.+?)=({'|'.join(KINDS)})(?:,|$)", re.DOTALL)


@dataclass(frozen=True)
class ColumnRoles:
    """The columns that a person names; `ColumnFindings` says how each column is used in the end.

    Attributes
    ----------
    target : str
        The column of grades. Rows without a grade are ignored.
    order : sequence or str, optional
        Grades from lowest to highest; required unless they are numbers. It may include grades that no row has.
    ignore : collection of str
        Columns that are not features.
    text : collection of str
        Columns of free text, whatever their cells look like.
    image : collection of str
        Columns that name pictures, whatever their cells look like.
    item, rater, group, grader : str, optional
        Columns that name what a row is a grade of, who gave it, what it belongs to, and who gave the one grade of a
        row; none of them is a feature, nor are columns that differ between the grades of an item.
    kinds : mapping of str to str
        Columns whose kind is asked for: "number", "date", "category" or "id".
    """

    target: str
    order: Sequence[object] | str | None = None
    ignore: Collection[str] = ()
    text: Collection[str] = ()
    image: Collection[str] = ()
    item: str | None = None
    rater: str | None = None
    group: str | None = None
    grader: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)

    @property
    def ids(self) -> dict[str, str]:
        """The columns of names by their option, those that were named."""
        named = {"item": self.item, "rater": self.rater, "group": self.group, "grader": self.grader}
        return {option: name for option, name in named.items() if name is not None}

    @property
    def kept_as_text(self) -> tuple[str, ...]:
        """Columns whose cells are not converted to the type that they stand for."""
        return (*self.ids.values(), *self.text, *self.image)

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """The roles that have an option of their own."""
        return tuple(one.name for one in fields(cls) if one.name != "kinds")

    @classmethod
    def of(cls, kinds: Collection[str], **given: Any) -> Self:
        """The roles by options, and by entries such as "age=number" or "a=text,b=ignored"."""
        found: dict[str, str] = {}
        for entry in kinds:
            pairs = _KIND.findall(entry)
            if not pairs or ",".join(f"{name}={kind}" for name, kind in pairs) != entry:
                rule = f"name a column and its kind, such as age=number; kinds are {', '.join(KINDS)}"
                raise complain("as", rule, repr(entry), meant(entry.rpartition("=")[2], KINDS))
            found |= dict(pairs)
        named = {kind: [name for name, one in found.items() if one == kind] for kind in KINDS}
        for option, kind in (("ignore", "ignored"), ("text", "text"), ("image", "image")):
            given[option] = (*given.get(option, ()), *named.pop(kind))
        return cls(**given, kinds={name: kind for kind, names in named.items() for name in names})

    def asked_kinds(self, columns: Sequence[str]) -> dict[str, str]:
        """The kinds that are asked for, by column: number, date, category or id."""
        return {
            as_column("as", column, columns): kind
            for name, kind in self.kinds.items()
            for column in spread([name], columns)
        }

    def of_columns(self, opened: Opened) -> dict[str, tuple[str, str]]:
        """The role of every column of a table, and the reason for it; refuses unknown names and second roles."""
        columns = opened.frame.columns
        asked = self.asked_kinds(columns)
        ignored = {as_column("ignore", name, columns) for name in spread(self.ignore, columns)}
        ignored |= {name for name, kind in asked.items() if kind == "id"}
        if self.target in ignored:
            raise complain("ignore", "not name the target", repr(self.target))
        for option, name in self.ids.items():
            if name == self.target:
                raise complain(option, "not name the target", repr(self.target))
        roles, taken = dict.fromkeys(columns, ("feature", "")), {self.target, *ignored, *self.ids.values()}
        kinds: Mapping[str, Collection[str]] = {"text": self.text, "image": self.image}
        for option, names in kinds.items():
            wanted = {as_column(option, name, columns) for name in spread(names, columns)}
            if wanted & taken:
                raise complain(option, "name columns with no other use", repr(sorted(wanted & taken)[0]))
            roles |= dict.fromkeys(wanted, (option, ""))
            taken |= wanted
        others = asked.keys() - ignored
        if others & taken:
            raise complain("as", "name columns with no other use", repr(sorted(others & taken)[0]))
        roles |= dict.fromkeys(opened.nested, ("ignored", "its cells are lists or objects"))
        roles |= dict.fromkeys(ignored, ("ignored", "as requested")) | {self.target: ("target", "")}
        return roles | {name: ("id", f"it names the {option}s") for option, name in self.ids.items()}
