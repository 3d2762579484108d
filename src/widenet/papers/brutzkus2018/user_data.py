"""What the claims of this paper ask of a reader's data before they speak about it."""

import numpy as np

from widenet.claims.silence import Silence
from widenet.claims.specimen import Specimen
from widenet.diagnostics import Separation
from widenet.errors import DataError


def silence_over_labels(specimen: Specimen) -> Silence | None:
    """Labels other than −1 and +1, or numbers that are none, are a reason for silence. One class alone is fine."""
    if not set(specimen.classes) <= {-1.0, 1.0}:
        found = ", ".join(f"{label:g}" for label in specimen.classes[:5])
        return Silence(f"It is about labels −1 and +1, and this data has the labels {found}.")
    if not np.isfinite(specimen.inputs).all():
        return Silence("Some inputs are not finite.")
    return None


def silence_over_zero(specimen: Specimen) -> Silence | None:
    """A point at the origin: N(0) = 0, whatever the weights."""
    zero = np.flatnonzero(~specimen.inputs.any(axis=1))
    return Silence(f"Point {zero[0]} is 0, and N(0) = 0 for every network without biases.") if len(zero) else None


def separation_of(specimen: Specimen) -> Separation | Silence:
    """What is known about separators through the origin; a silence where it could not be asked."""
    reason = silence_over_labels(specimen)
    if reason is not None:
        return reason
    try:
        return specimen.separation
    except DataError as error:
        return Silence(str(error))


def separator_of(specimen: Specimen) -> np.ndarray | Silence:
    """A certified separator; a silence where there is none."""
    found = separation_of(specimen)
    if isinstance(found, Silence):
        return found
    return (
        Silence(f"It needs separable data. This data is {found.sentence}.")
        if found.separator is None
        else found.separator
    )
