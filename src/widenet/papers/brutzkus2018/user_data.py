"""Preconditions of the claims of this paper on your data."""

import numpy as np

from widenet.claims.applicability import NotApplicable
from widenet.claims.user_data import UserData
from widenet.diagnostics import Separation
from widenet.errors import DataError


def reason_in_labels(user_data: UserData) -> NotApplicable | None:
    """Labels other than −1 and +1, or numbers that are none, are a reason. One class alone is fine."""
    if not set(user_data.classes) <= {-1.0, 1.0}:
        found = ", ".join(f"{label:g}" for label in user_data.classes[:5])
        return NotApplicable(f"It is about labels −1 and +1, and this data has the labels {found}.")
    if not np.isfinite(user_data.inputs).all():
        return NotApplicable("Some inputs are not finite.")
    return None


def reason_in_zero(user_data: UserData) -> NotApplicable | None:
    """A point at the origin: N(0) = 0, whatever the weights."""
    zero = np.flatnonzero(~user_data.inputs.any(axis=1))
    return NotApplicable(f"Point {zero[0]} is 0, and N(0) = 0 for every network without biases.") if len(zero) else None


def separation_of(user_data: UserData) -> Separation | NotApplicable:
    """What is known about separators through the origin; `NotApplicable` where it could not be asked."""
    reason = reason_in_labels(user_data)
    if reason is not None:
        return reason
    try:
        return user_data.separation
    except DataError as error:
        return NotApplicable(str(error))


def separator_of(user_data: UserData) -> np.ndarray | NotApplicable:
    """A certified separator; `NotApplicable` where there is none."""
    found = separation_of(user_data)
    if isinstance(found, NotApplicable):
        return found
    return (
        NotApplicable(f"It needs separable data. This data is {found.sentence}.")
        if found.separator is None
        else found.separator
    )
