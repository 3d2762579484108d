"""What the claims of this paper ask of a reader's data before they speak about it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from widenet.claims.base import Claim, Evidence, Hypothesis, Silence, at_most, more_than, normalized, undecided
from widenet.claims.specimen import Choices, Specimen
from widenet.claims.tolerances import ROUNDING
from widenet.diagnostics.components import Structure, relative
from widenet.papers.li2018.runs.descents import DescentSetting
from widenet.papers.li2018.runs.large_gradients import LargeGradientSetting
from widenet.papers.li2018.runs.passes import PassSetting
from widenet.papers.li2018.settings import SAME, OwnPoints, Sample, prepare

MOST_POINTS = 1000
FOLLOWED = "Every neuron is followed on every point here"
MOST_DIMENSIONS = 4000

Setting = TypeVar("Setting", PassSetting, DescentSetting, LargeGradientSetting)


def prepared(specimen: Specimen, *, most: int = MOST_POINTS, for_what: str = FOLLOWED) -> Sample | Silence:
    """The reader's points with norm 1, their classes numbered, and the components found; or why not."""
    if len(specimen.classes) < 2:
        return Silence("It is about two classes or more, and this data has one.")
    if len(specimen.classes) > 100:
        return Silence(f"It is about classes, and this data has {len(specimen.classes)} different labels.")
    if len(specimen.labels) > most:
        return Silence(f"{for_what}, on at most {most} points.")
    if specimen.inputs.shape[1] > MOST_DIMENSIONS:
        return Silence(f"Networks are kept whole here, in at most {MOST_DIMENSIONS} dimensions.")
    norms = np.abs(specimen.inputs).max(axis=1)
    present = specimen.labels[norms > 0]
    if len(np.unique(present)) < 2:
        return Silence("It is about directions, and only one class has a point other than 0.")
    if norms.max() > 1e150 or norms[norms > 0].min() < 1e-150:
        return Silence("The norms of these points overflow or vanish; bring them to usual units.")
    return prepare(specimen.digest)[0]


def own_points(specimen: Specimen, *, most: int = MOST_POINTS, single: bool = False) -> OwnPoints | Silence:
    """The same data as a part of a setting."""
    found = prepared(specimen, most=most)
    return found if isinstance(found, Silence) else OwnPoints(own_data=specimen.digest, single=single)


def cut_off(settings: Sequence[Setting], specimen: Specimen) -> list[Setting]:
    """The same runs with no more steps than the reader's `max_updates`."""
    most = specimen.choices.max_updates
    allowed = [each.n_steps if most is None else min(each.n_steps, most) for each in settings]
    return [each.model_copy(update={"n_steps": steps}) for each, steps in zip(settings, allowed, strict=True)]


def runs_of(specimen: Specimen, usual: int, most: int) -> int:
    """The reader's `n_runs`, but not more than this; `applies` says so where it is fewer."""
    return min(most, specimen.choices.n_runs or usual)


DIVIDED = "every row was divided by its norm"
Speaks = Callable[[Specimen], Any]


def applies(*claims: Claim, honours: Sequence[str] = (), most_runs: int = 0, remark: str = "") -> Callable[..., Speaks]:
    """Declares how claims apply to a reader's points, as `Claim.speaks` does; a decorator.

    Their evidence then tells how the rows were prepared, and which of the reader's choices they do not follow. (A2),
    which is true of any rows that were divided by their norms, is marked as such.

    Arguments:
      honours: the choices that are followed; `seed` is, everywhere.
      most_runs: the most runs they make, where `n_runs` is among them.
      remark: a sentence of their own, behind the others.
    """

    def told(found: Evidence, specimen: Specimen) -> Evidence:
        done = prepare(specimen.digest)[1]
        words = (found.note, done.sentence, remark, not_followed(specimen.choices, honours, most_runs))
        hypotheses = tuple(
            normalized(each, DIVIDED) if each.key == "unit_norm" and done.rescales else each
            for each in found.hypotheses
        )
        return found.model_copy(update={"note": " ".join(filter(None, words)), "hypotheses": hypotheses})

    def declare(settings_on: Speaks) -> Speaks:
        for each in claims:
            each.speaks(settings_on)
            each.tells(told)
        return settings_on

    return declare


def not_followed(choices: Choices, honours: Sequence[str], most_runs: int) -> str:
    """The reader's choices that a check does not follow, in a sentence; "" where there are none."""
    chosen = {name: value for name, value in choices if value != type(choices).model_fields[name].default}
    words = [f"{name} = {value:g}" for name, value in chosen.items() if name not in (*honours, "seed")]
    if "n_runs" in honours and (choices.n_runs or 0) > most_runs:
        words.append(f"n_runs = {choices.n_runs} (at most {most_runs})")
    return f"Not used here: {', '.join(words)}." if words else ""


def needs_the_law(specimen: Specimen) -> Silence:
    """How statements about fresh batches speak about a data set."""
    return Silence("It is about fresh batches from the law of the data, and of a data set only the points are known.")


def structure_of(cell: Any) -> Structure:
    """What a cell that measured its data says about it."""
    distance = min(cell.separation, cell.opposite_separation)
    diameter = cell.relative_diameter * distance if distance > 0 else 0.0
    return Structure(cell.separation, cell.opposite_separation, diameter, cell.n_classes, cell.per_class, 0)


def separated(*found: Structure) -> tuple[Hypothesis, ...]:
    """(A1), and (A1'), which the paper needs and does not state: δ for points and mirror images, λ ≤ 1/(8l).

    Each at the data that comes nearest to breaking it.
    """
    opposite = min(each.opposite_separation for each in found)
    return (
        _distance(found),
        _apart("opposite_distance", "(A1'): least ‖x + x'‖ across classes", opposite),
        _diameter(found, [each.relative_diameter for each in found]),
    )


def separated_as_printed(*found: Structure) -> tuple[Hypothesis, ...]:
    """(A1) to the letter: δ does not count mirror images."""
    return _distance(found), _diameter(found, [relative(each.diameter, each.separation) for each in found])


def _distance(found: Sequence[Structure]) -> Hypothesis:
    nearest = min(found, key=lambda each: each.separation)
    why = f"k = {nearest.n_classes} classes, l = {nearest.per_class} components in one at most"
    return _apart("distance", "(A1): least distance δ across classes", nearest.separation, why=why)


def _apart(key: str, name: str, distance: float, *, why: str = "") -> Hypothesis:
    """More than 0; undecided where it may be rounding alone."""
    if 0 < distance <= SAME:
        return undecided(key, name, "> 0", actual=distance, why="so small a distance of unit vectors may be rounding")
    return more_than(key, name, distance, 0, why=why)


def _diameter(found: Sequence[Structure], diameters: Sequence[float]) -> Hypothesis:
    widest, where = max(zip(diameters, found, strict=True), key=lambda pair: pair[0] * pair[1].per_class)
    name = "(A1): λ, largest diameter of a component over δ"
    return at_most("relative_diameter", name, widest, where.widest_allowed, tolerance=ROUNDING)
