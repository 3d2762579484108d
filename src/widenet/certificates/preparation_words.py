"""What was done to the data while reading, and before theorems were asked, in sentences."""

import shlex

from widenet.certificates.preparation import Bias, Preparation, Scaling
from widenet.certificates.reading import ReadingNotes
from widenet.console.wording import counted, number

ADDED = "For the theorems a constant coordinate (a bias) was added, (x, 1)/√2 in place of x"


def about_reading(found: ReadingNotes) -> list[str]:
    """What was done while reading."""
    said = []
    if found.shape:
        said.append(f"Each point ({' × '.join(map(str, found.shape))}) was read as one row.")
    if found.index_column is not None:
        name = found.index_column or "without a name"
        said.append(f"The first column ({name}) only counts the rows and was left out.")
    if found.dropped:
        said.append(f"Dropped as you asked: {', '.join(found.dropped)}.")
    said += found.chosen
    for names, why in (
        (found.counting, "grows by the same step in every row, as a number of the row does"),
        (found.naming, "has another whole number in every row, as an id has"),
    ):
        said += [f"{name} {why}; leave it out with --drop {shlex.quote(name)}." for name in names]
    return said


def about_preparation(found: Preparation) -> list[str]:
    """What was done before theorems were asked, and why."""
    said = [*_columns(found)]
    if found.scaling is Scaling.NONE:
        said.append("The points were taken as they are.")
    if found.is_standardized:
        said.append(
            f"The columns have different units (one varies {number(found.spread)} times as much as the usual one), so "
            "each was centred and divided by its standard deviation."
        )
    if found.factor is not None:
        said.append(
            f"Everything was divided by {number(found.factor)}, so that no point is longer than 1, as the theorems "
            "require. Distances are given in this scale."
        )
    if found.scaling is not Scaling.NONE:
        said.append(_bias(found))
    if found.used < found.points:
        said.append(
            f"Theorems get {found.used:,} of the {found.points:,} points, drawn at random. What is said about equal "
            "points and linear boundaries is about all of them."
        )
    return said


def _columns(found: Preparation) -> list[str]:
    said = []
    if count := len(found.constant_columns):
        one = count == 1
        said.append(f"{counted(count, 'constant column')} cannot tell points apart and {_were(one)} left out.")
    if count := len(found.negligible_columns):
        one = count == 1
        said.append(
            f"{counted(count, 'column')} var{'ies' if one else 'y'} by less than a trillionth of "
            f"{'its' if one else 'their'} size, which is taken for rounding, and {_were(one)} left out. What is said "
            "about linear boundaries is about the other columns."
        )
    return said


def _were(one: bool) -> str:
    return "was" if one else "were"


def _bias(found: Preparation) -> str:
    before, after = number(found.margin_without_bias), number(found.margin_with_bias)
    match found.bias:
        case Bias.NEEDED:
            return f"{ADDED}: with it a boundary through the origin separates the classes, without it none does."
        case Bias.WIDER:
            return (
                f"{ADDED}: among boundaries through the origin it makes the widest margin {after} instead of {before}."
            )
        case Bias.NARROWER:
            return (
                "For the theorems no constant coordinate (a bias) was added: among boundaries through the origin it "
                f"would make the widest margin {after} instead of {before}, since the other coordinates of (x, 1)/√2 "
                "are shorter."
            )
    return f"{ADDED}, so that a boundary need not pass through the origin."
