"""What the claims of this paper ask of a reader's data before they speak about it."""

from typing import Any

from widenet.claims.applicability import NotApplicable
from widenet.claims.user_data import Order, UserData
from widenet.data.sources import OwnPoints
from widenet.errors import DataError
from widenet.papers.sarussi2021.sources import EpochOrder

MOST_POINTS = 2000
"""Trainings here go point by point; with more points they would take minutes."""
MOST_ADDED = 300
"""One small program is solved for every point; with more points that takes long."""


def reason_in_labels(user_data: UserData) -> NotApplicable | None:
    """Labels other than −1 and +1 are a reason for not_applicable, and so are more points than can be followed."""
    if not set(user_data.classes) <= {-1.0, 1.0}:
        found = ", ".join(f"{label:g}" for label in user_data.classes[:5])
        return NotApplicable(f"It is about labels −1 and +1, and this data has the labels {found}.")
    if len(user_data.labels) > MOST_POINTS:
        return NotApplicable(f"Runs are followed update by update here, on at most {MOST_POINTS} points.")
    if not user_data.inputs.any():
        return NotApplicable("All points are 0, and N(0) = 0 for every network without biases.")
    return None


def reason_in_training(user_data: UserData) -> NotApplicable | None:
    """The same, and fewer updates than an epoch has: every statement about SGD here is about whole epochs."""
    if (reason := reason_in_labels(user_data)) is not None:
        return reason
    most, n = user_data.choices.max_updates, len(user_data.labels)
    if most is not None and most < n:
        return NotApplicable(f"It is about whole epochs, of {n} updates here, and max_updates allows {most}.")
    return None


def epochs_allowed(user_data: UserData, own: int) -> int:
    """How many epochs runs go on: so many of their own, or fewer where the reader's `max_updates` are spent."""
    most = user_data.choices.max_updates
    return own if most is None else min(own, most // len(user_data.labels))


def epoch_order(user_data: UserData) -> EpochOrder:
    """The chosen order, where every epoch of it visits each point once."""
    return Order.CYCLIC if user_data.choices.order is Order.CYCLIC else Order.PERMUTATION


def own_runs(user_data: UserData) -> dict[str, Any]:
    """Fields of a setting: networks of the chosen width and step on the reader's data.

    They start from the chosen length of rows, or from small and from large weights.
    """
    chosen = user_data.choices
    return {
        "points": OwnPoints(own_data=user_data.digest),
        "deviations": (1e-3, 1.0) if chosen.init_scale is None else (1.0,),
        "row_length": chosen.init_scale,
        "n_runs": chosen.n_runs or 1,
        "half_width": chosen.n_neurons // 2,
        "slope": chosen.slope,
        "output_weight": chosen.output_weight,
        "order": epoch_order(user_data),
        "step_size": chosen.step_size,
        "seed": chosen.seed,
    }


def silence_without_separator(user_data: UserData) -> NotApplicable | None:
    """The same, and data that nothing separates through the origin."""
    if (reason := reason_in_labels(user_data)) is not None:
        return reason
    try:
        found = user_data.separation
    except DataError as error:
        return NotApplicable(str(error))
    return (
        None
        if found.separator is not None
        else NotApplicable(f"It needs separable data. This data is {found.sentence}.")
    )


def silence_without_both_classes(user_data: UserData) -> NotApplicable | None:
    """The same, and data with one class only."""
    if (reason := silence_without_separator(user_data)) is not None:
        return reason
    return None if user_data.has_signs_as_labels else NotApplicable("It is about two classes, and this data has one.")


def reason_in_programs(user_data: UserData) -> NotApplicable | None:
    """Two classes, separable, and not so many points that their programs take long."""
    if (reason := silence_without_both_classes(user_data)) is not None:
        return reason
    n = len(user_data.labels)
    return (
        None
        if n <= MOST_ADDED
        else NotApplicable(f"It solves a program per point, for at most {MOST_ADDED} points, not {n}.")
    )
