"""What the claims of this paper ask of a reader's data before they speak about it."""

import numpy as np

from widenet.claims.base import Hypothesis, Silence, at_most, more_than
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING
from widenet.diagnostics.components import Structure
from widenet.papers.li2018.settings import OwnPoints, Sample, own_sample

MOST_POINTS = 1000
"""All distances are taken, and every neuron is followed on every point."""
MOST_DIMENSIONS = 4000


def prepared(specimen: Specimen, *, most: int = MOST_POINTS) -> Sample | Silence:
    """The reader's points with norm 1, their classes numbered, and the components found; or why not."""
    if len(specimen.classes) < 2:
        return Silence("It is about two classes or more, and this data has one.")
    if len(specimen.classes) > 100:
        return Silence(f"It is about classes, and this data has {len(specimen.classes)} different labels.")
    if len(specimen.labels) > most:
        return Silence(f"Every neuron is followed on every point here, on at most {most} points.")
    if specimen.inputs.shape[1] > MOST_DIMENSIONS:
        return Silence(f"Networks are kept whole here, in at most {MOST_DIMENSIONS} dimensions.")
    norms = np.abs(specimen.inputs).max(axis=1)
    present = specimen.labels[norms > 0]
    if len(np.unique(present)) < 2:
        return Silence("It is about directions, and only one class has a point other than 0.")
    if norms.max() > 1e150 or norms[norms > 0].min() < 1e-150:
        return Silence("The norms of these points overflow or vanish; bring them to usual units.")
    return own_sample(specimen.digest)


def own_points(specimen: Specimen, *, most: int = MOST_POINTS) -> OwnPoints | Silence:
    """The same data as a part of a setting."""
    found = prepared(specimen, most=most)
    return found if isinstance(found, Silence) else OwnPoints(own_data=specimen.digest)


def separated(found: Structure) -> tuple[Hypothesis, ...]:
    """(A1), and (A1'), which the paper needs and does not state: δ for points and mirror images, λ ≤ 1/(8l)."""
    return (
        more_than(
            "distance",
            "(A1): least distance δ across classes",
            found.separation,
            0,
            why=f"k = {found.n_classes} classes, l = {found.per_class} components in one at most",
        ),
        more_than("opposite_distance", "(A1'): least ‖x + x'‖ across classes", found.opposite_separation, 0),
        at_most(
            "relative_diameter",
            "(A1): λ, largest diameter of a component over δ",
            found.relative_diameter,
            found.widest_allowed,
            tolerance=ROUNDING,
        ),
    )
