"""What a person asks of a file: the arguments of the verbs that read a table with grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from ordinoise.app.tables.reading import Reading
    from ordinoise.app.tables.roles import ColumnRoles

# The command line takes its options, defaults and help from these classes: this module must stay quick to import.

NOT_STORED = ("file", "target", "jobs", "scheduler")
HOW_READ = Parameter(group=Group("How the file is read"))
Class = TypeVar("Class", bound=type)


def positional_first(cls: Class) -> Class:
    """The dataclass with the fields first that have a place on the command line, also those after inherited options."""
    known: dict[str, Any] = cls.__dataclass_fields__  # type: ignore[attr-defined]
    cls.__dataclass_fields__ = dict(sorted(known.items(), key=lambda item: item[1].kw_only))  # type: ignore[attr-defined]
    return cls


class Options:
    """Options that a record keeps."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def settings(self) -> dict[str, Any]:
        """The options that change the result, as plain values for JSON."""
        paths = {name: str(value.resolve()) for name, value in vars(self).items() if isinstance(value, Path)}
        return {name: paths.get(name, value) for name, value in vars(self).items() if name not in NOT_STORED}

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any], **given: Any) -> Self:
        """The request with these `settings` and what is given beside them; entries that are not options are ignored.

        Options that came later have their defaults in folders of before; the order of the grades was always there.
        """
        from ordinoise._plain import of_plain

        if "order" in cls.__dataclass_fields__ and "order" not in settings:
            raise KeyError("order")
        names = [name for name in cls.__dataclass_fields__ if name in settings and name not in (*NOT_STORED, *given)]
        return of_plain(cls, {name: settings[name] for name in names} | given)


@dataclass(frozen=True, kw_only=True)
class ReadFile(Options):
    """How a file is read, where that is not left to the rules.

    Parameters
    ----------
    encoding
        Encoding of a text file, such as cp1252, cp1250 or shift_jis; found by its bytes, and said, if not given.
    header_row
        Row with the names of the columns, as a spreadsheet counts; rows above are no part of the table.
    no_header
        The first row of the CSV file is data; its columns are called column_1, column_2, ...
    sheet
        Sheet of a workbook; the first visible one that has the target column if not given.
    decimal
        Decimal mark of numbers that could be read in two ways, such as 1.234: a point or a comma.
    dates
        Order of dates that could be read in two ways, such as 03/05/2019: dmy or mdy.
    missing
        More words for a missing cell, with commas between; k.A., n/a, #NV and others are known.
    """

    encoding: Annotated[str | None, HOW_READ] = None
    header_row: Annotated[int | None, HOW_READ] = None
    no_header: Annotated[bool, HOW_READ] = False
    sheet: Annotated[str | None, HOW_READ] = None
    decimal: Annotated[str | None, HOW_READ] = None
    dates: Annotated[str | None, HOW_READ] = None
    missing: Annotated[tuple[str, ...], HOW_READ] = ()

    @property
    def reading(self) -> Reading:
        """How the file is asked to be read; refuses what contradicts itself."""
        from ordinoise._validation import as_choice, as_count, complain
        from ordinoise.app.tables.reading import Reading

        if self.header_row is not None and self.no_header:
            raise complain("header-row", "be left out with --no-header", self.header_row)
        return Reading(
            encoding=self.encoding or "",
            has_header=not self.no_header,
            header_row=0 if self.header_row is None else as_count("header-row", self.header_row, 1),
            sheet=self.sheet or "",
            decimal="" if self.decimal is None else as_choice("decimal", self.decimal, (".", ",")),
            dates="" if self.dates is None else as_choice("dates", self.dates, ("dmy", "mdy")),
            missing=tuple(word.strip() for words in self.missing for word in words.split(",") if word.strip()),
        )

    def how_read(self) -> dict[str, Any]:
        """The options on how the file is read that are given."""
        given = {one.name: getattr(self, one.name) for one in fields(ReadFile)}
        return {name: value for name, value in given.items() if value not in (None, False, ())}


@positional_first
@dataclass(frozen=True)
class GradedFile(ReadFile):
    """A table with a column of grades.

    Parameters
    ----------
    file
        Table to read: CSV with any delimiter, JSON lines, Excel, Parquet or Feather; for noise, audit and fit also a
        folder of Parquet files or a pattern in quotes, such as 'data/*.parquet', which may be larger than memory.
    target
        Column of grades.
    order
        Grades from lowest to highest, such as low,medium,high; required if they are text.
    """

    file: Path
    _: KW_ONLY
    target: str
    order: str | None = None


@positional_first
@dataclass(frozen=True, kw_only=True)
class Request(GradedFile):
    """A fit, an audit or a noise estimate of a file.

    Parameters
    ----------
    as_
        Kind of a column, such as age=number: number, date, category, text, id, image or ignored; several with commas
        between, or repeated. What is no number in a column of numbers is missing.
    ignore
        Columns that are not features, with commas between; short for --as COLUMN=ignored.
    text
        Columns of free text, whatever their cells look like; short for --as COLUMN=text. Long texts are found without.
    image
        Columns that name pictures, which the review page shows; short for --as COLUMN=image. They are found without it
        if every cell ends like a picture's name. What the pictures show comes from embeddings.
    embeddings
        File with one vector per row of the table, added to the features: .npy, Parquet or Feather.
    text_model
        Model that makes vectors of the free text, added to the features: a folder, or a name on the Hugging Face hub.
    item
        Column that names what each row is a grade of, if something has several grades; they are held out together.
    rater
        Column that names who gave each grade; not a feature.
    group
        Column whose rows belong together, such as those of a patient or a query; they are held out together.
    grader
        Column that names who gave the one grade of each row: a person, a branch, a device. It is no feature; the report
        says who grades higher or lower than the others on comparable rows.
    by_lot
        Rows were given out to the graders of --grader at random: then graders who differ show how many grades are wrong
        at least. Where it is not so, that number is too high, and nothing in the table tells.
    learner
        auto, mlp, boosting or blend.
    noise
        estimate; none to trust the grades; or a file with the noise matrix: one row per true grade, no header.
    answer
        What is made of the estimate: auto decides by the evidence; corrected, cautious or trusting ask for one.
    prior_rate
        The share of wrong grades that you expect, such as 0.1; it helps where the data cannot tell.
    decision
        How a grade is picked from its probabilities: median, mode or mean.
    rank_by
        What makes a grade suspicious: probability_wrong, that it is wrong at all; large_error, wrong by two grades or
        more; expected_distance, how wrong; auto, the distance, and in doubt also how unlikely the grade is.
    seed
        Random seed; the same seed gives the same result.
    jobs
        Number of fits to run in parallel; all processors by default.
    scheduler
        Address of a running Dask cluster, such as tcp://host:8786, for a folder of Parquet files that all of its
        machines can read, and that may be larger than memory; this machine alone by default.
    """

    as_: Annotated[tuple[str, ...], HOW_READ] = ()
    ignore: Annotated[tuple[str, ...], HOW_READ] = ()
    text: Annotated[tuple[str, ...], HOW_READ] = ()
    image: Annotated[tuple[str, ...], HOW_READ] = ()
    embeddings: Path | None = None
    text_model: str | None = None
    item: str | None = None
    rater: str | None = None
    group: str | None = None
    grader: str | None = None
    by_lot: bool = False
    learner: str = "auto"
    noise: str = "estimate"
    answer: str = "auto"
    prior_rate: float | None = None
    decision: str = "median"
    rank_by: str = "auto"
    seed: int = 0
    jobs: int | None = None
    scheduler: str | None = None

    @property
    def roles(self) -> ColumnRoles:
        """What is said of the columns."""
        from ordinoise.app.tables.roles import ColumnRoles

        return ColumnRoles.of(self.as_, **{one: getattr(self, one) for one in ColumnRoles.options()})

    def words(self) -> tuple[str, ...]:
        """The options that are not the defaults, as words of a command line."""
        found: list[str] = []
        for one in fields(self):
            value, name = getattr(self, one.name), f"--{one.name.strip('_').replace('_', '-')}"
            if one.name not in ("file", "target", "jobs") and value != one.default:
                for each in value if isinstance(value, tuple) else (value,):
                    found += [name] if each is True else [name, str(each)]
        return tuple(found)


@positional_first
@dataclass(frozen=True, kw_only=True)
class CorruptionRequest(GradedFile):
    """A copy of a file with noise added to its grades.

    Parameters
    ----------
    rate
        Strength of the noise; for inverse_decay the probability of each neighboring grade, half of it two grades away,
        a third of it three grades away; for perceived the standard deviation of the error, in grades; for spam the
        share of rows.
    kind
        By the grade alone: inverse_decay, exponential_decay, adjacent or uniform. By the row: perceived (seen with an
        error), near_cuts (slips of rows near the next grade), region (a grade too low where the column of --by is
        large), spam (some rows at random).
    by
        Numeric column that places each row within its grade, or makes the region; without it the places are random.
    noise
        File with a noise matrix instead of kind and rate: one row per true grade, no header.
    seed
        Random seed; the same seed gives the same file.
    """

    rate: float = 0.15
    kind: str = "inverse_decay"
    by: str | None = None
    noise: Path | None = None
    seed: int = 0


@positional_first
@dataclass(frozen=True)
class ModelRequest(ReadFile):
    """A model and a table for it.

    Parameters
    ----------
    model
        Folder written by ordinoise fit.
    file
        Table with the feature columns of the model; for predict also a folder of Parquet files, or a pattern in quotes.
    embeddings
        File with one vector per row, if the model was made with one.
    text_model
        Model that makes vectors of the free text, if the model was made with one.
    """

    model: Path
    file: Path
    _: KW_ONLY
    embeddings: Path | None = None
    text_model: str | None = None


@positional_first
@dataclass(frozen=True, kw_only=True)
class PredictionRequest(ModelRequest):
    """Grades for the rows of a table.

    Parameters
    ----------
    decision
        How a grade is picked from its probabilities: median, mode or mean; as in the fit by default.
    confidence
        Also add the lowest and highest grade of a prediction set with this coverage, such as 0.9.
    scheduler
        Address of a running Dask cluster, such as tcp://host:8786, for a folder of Parquet files.
    """

    decision: str | None = None
    confidence: float | None = None
    scheduler: str | None = None


@positional_first
@dataclass(frozen=True, kw_only=True)
class EvaluationRequest(ModelRequest):
    """Scores of a model on a table with grades that it was not fitted to.

    Parameters
    ----------
    trusted
        Take the grades of this table to be right.
    target
        Column of grades; named as in training by default.
    group
        Column of groups, such as patients: rows of one group are not independent, which widens the intervals.
    """

    trusted: bool = False
    target: str | None = None
    group: str | None = None


@positional_first
@dataclass(frozen=True)
class RatingsRequest(ReadFile):
    """The consensus of several raters.

    Parameters
    ----------
    file
        Table to read: one row per grade (--item, --rater, --grade), one column per rater (--wide), or a Label Studio
        export in JSON.
    item
        Column that names the items.
    rater
        Column that names the raters; without it, it is not known who gave which grade.
    grade
        Column of grades; for a Label Studio export, the name of the tag if there are several.
    wide
        Columns with the grades of one rater each, such as reader_1,reader_2,reader_3.
    unnamed
        The columns of --wide are first, second, ... opinions of changing people.
    features
        Table with one row per item that helps to find the grades; joined by the column of --item.
    trusted
        Verified grades: a table with the columns item and grade, or a folder of this command that was reviewed.
    order
        Grades from lowest to highest, such as low,medium,high; required if they are text.
    seed
        Random seed; the same seed gives the same result.
    """

    file: Path
    _: KW_ONLY
    item: str | None = None
    rater: str | None = None
    grade: str | None = None
    wide: str | None = None
    unnamed: bool = False
    features: Path | None = None
    trusted: Path | None = None
    order: str | None = None
    seed: int = 0


@positional_first
@dataclass(frozen=True)
class JudgeRequest(ReadFile):
    """Automatic grades of a file, to be corrected by human grades of some rows.

    Parameters
    ----------
    file
        Table to read: CSV with any delimiter, Parquet or Feather.
    judge
        Column of the automatic grades, given to every row.
    human
        Column of human grades, empty for most rows; several people are columns between commas, such as ann,ben.
    by
        Column that names the system of each row; all rows are one system by default.
    item
        Column that names what each row answers, such as the prompt; rows of one item are alike, which makes
        differences between systems more precise.
    order
        Grades from lowest to highest, such as low,medium,high; required if they are text.
    judge_order
        Grades of the judge from lowest to highest, if its scale is another one.
    confidence
        Level of the intervals.
    next
        How many rows to propose for people to grade next.
    excel_safe
        Put an apostrophe before text in next.csv that a spreadsheet would run as a formula.
    seed
        Random seed; the same seed gives the same result.
    """

    file: Path
    _: KW_ONLY
    judge: str
    human: str
    by: str | None = None
    item: str | None = None
    order: str | None = None
    judge_order: str | None = None
    confidence: float = 0.95
    next: int = 20
    excel_safe: bool = False
    seed: int = 0
