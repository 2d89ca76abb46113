"""What a person says of the columns of a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ordinoise._validation import complain
from ordinoise.columns.names import as_column

if TYPE_CHECKING:
    from ordinoise.app.tables.reader import Opened


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

    @property
    def ids(self) -> dict[str, str]:
        """The columns of names by their option, those that were named."""
        named = {"item": self.item, "rater": self.rater, "group": self.group, "grader": self.grader}
        return {option: name for option, name in named.items() if name is not None}

    @property
    def kept_as_text(self) -> tuple[str, ...]:
        """Columns whose cells are not converted to the type that they stand for."""
        return (*self.ids.values(), *self.text, *self.image)

    def of_columns(self, opened: Opened) -> dict[str, tuple[str, str]]:
        """The role of every column of a table, and the reason for it; refuses unknown names and second roles."""
        columns = opened.frame.columns
        ignored = {as_column("ignore", name, columns) for name in self.ignore}
        if self.target in ignored:
            raise complain("ignore", "not name the target", repr(self.target))
        for option, name in self.ids.items():
            if name == self.target:
                raise complain(option, "not name the target", repr(self.target))
        roles, taken = dict.fromkeys(columns, ("feature", "")), {self.target, *ignored, *self.ids.values()}
        kinds: Mapping[str, Collection[str]] = {"text": self.text, "image": self.image}
        for option, names in kinds.items():
            wanted = {as_column(option, name, columns) for name in names}
            if wanted & taken:
                raise complain(option, "name columns with no other use", repr(sorted(wanted & taken)[0]))
            roles |= dict.fromkeys(wanted, (option, ""))
            taken |= wanted
        roles |= dict.fromkeys(opened.nested, ("ignored", "its cells are lists or objects"))
        roles |= dict.fromkeys(ignored, ("ignored", "as requested")) | {self.target: ("target", "")}
        return roles | {name: ("id", f"it names the {option}s") for option, name in self.ids.items()}
