"""What the claims of this paper ask of a reader's data before they speak about it."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from widenet.claims.base import Hypothesis, Silence, at_most, more_than
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING
from widenet.diagnostics.components import Structure, relative
from widenet.papers.li2018.runs.descents import DescentSetting
from widenet.papers.li2018.runs.large_gradients import LargeGradientSetting
from widenet.papers.li2018.runs.passes import PassSetting
from widenet.papers.li2018.settings import OwnPoints, Sample, own_sample

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
    return own_sample(specimen.digest)


def own_points(specimen: Specimen, *, most: int = MOST_POINTS, single: bool = False) -> OwnPoints | Silence:
    """The same data as a part of a setting."""
    found = prepared(specimen, most=most)
    return found if isinstance(found, Silence) else OwnPoints(own_data=specimen.digest, single=single)


def cut_off(settings: Sequence[Setting], specimen: Specimen) -> list[Setting]:
    """The same runs with no more steps than the reader's `max_updates`."""
    most = specimen.choices.max_updates
    allowed = [each.n_steps if most is None else min(each.n_steps, most) for each in settings]
    return [each.model_copy(update={"n_steps": steps}) for each, steps in zip(settings, allowed, strict=True)]


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
        more_than("opposite_distance", "(A1'): least ‖x + x'‖ across classes", opposite, 0),
        _diameter(found, [each.relative_diameter for each in found]),
    )


def separated_as_printed(*found: Structure) -> tuple[Hypothesis, ...]:
    """(A1) to the letter: δ does not count mirror images."""
    return _distance(found), _diameter(found, [relative(each.diameter, each.separation) for each in found])


def _distance(found: Sequence[Structure]) -> Hypothesis:
    nearest = min(found, key=lambda each: each.separation)
    why = f"k = {nearest.n_classes} classes, l = {nearest.per_class} components in one at most"
    return more_than("distance", "(A1): least distance δ across classes", nearest.separation, 0, why=why)


def _diameter(found: Sequence[Structure], diameters: Sequence[float]) -> Hypothesis:
    widest, where = max(zip(diameters, found, strict=True), key=lambda pair: pair[0] * pair[1].per_class)
    name = "(A1): λ, largest diameter of a component over δ"
    return at_most("relative_diameter", name, widest, where.widest_allowed, tolerance=ROUNDING)
