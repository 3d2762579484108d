"""What the claims of this paper ask of a reader's data before they speak about it."""

from typing import Any

from widenet.claims.silence import Silence
from widenet.claims.specimen import Specimen
from widenet.errors import DataError
from widenet.papers.sarussi2021.sources import OwnPoints

MOST_POINTS = 2000
"""Trainings here go point by point; with more points they would take minutes."""
MOST_ADDED = 300
"""One small program is solved for every point; with more points that takes long."""


def silence_over_labels(specimen: Specimen) -> Silence | None:
    """Labels other than −1 and +1 are a reason for silence, and so are more points than can be followed."""
    if not set(specimen.classes) <= {-1.0, 1.0}:
        found = ", ".join(f"{label:g}" for label in specimen.classes[:5])
        return Silence(f"It is about labels −1 and +1, and this data has the labels {found}.")
    if len(specimen.labels) > MOST_POINTS:
        return Silence(f"Runs are followed update by update here, on at most {MOST_POINTS} points.")
    if not specimen.inputs.any():
        return Silence("All points are 0, and N(0) = 0 for every network without biases.")
    return None


def silence_over_training(specimen: Specimen) -> Silence | None:
    """The same, and fewer updates than an epoch has: every statement about SGD here is about whole epochs."""
    if (reason := silence_over_labels(specimen)) is not None:
        return reason
    most, n = specimen.choices.max_updates, len(specimen.labels)
    if most is not None and most < n:
        return Silence(f"It is about whole epochs, of {n} updates here, and max_updates allows {most}.")
    return None


def epochs_allowed(specimen: Specimen, own: int) -> int:
    """How many epochs runs go on: so many of their own, or fewer where the reader's `max_updates` are spent."""
    most = specimen.choices.max_updates
    return own if most is None else min(own, most // len(specimen.labels))


def own_runs(specimen: Specimen) -> dict[str, Any]:
    """Fields of a setting: networks of the chosen width and step on the reader's data.

    They start from the chosen length of rows, or from small and from large weights.
    """
    chosen = specimen.choices
    return {
        "points": OwnPoints(own_data=specimen.digest),
        "deviations": (1e-3, 1.0) if chosen.init_scale is None else (1.0,),
        "row_length": chosen.init_scale,
        "n_runs": chosen.n_runs or 1,
        "half_width": chosen.n_neurons // 2,
        "slope": chosen.slope,
        "step_size": chosen.step_size,
        "seed": chosen.seed,
    }


def silence_without_separator(specimen: Specimen) -> Silence | None:
    """The same, and data that nothing separates through the origin."""
    if (reason := silence_over_labels(specimen)) is not None:
        return reason
    try:
        found = specimen.separation
    except DataError as error:
        return Silence(str(error))
    return None if found.separator is not None else Silence(f"It needs separable data. This data is {found.sentence}.")


def silence_without_both_classes(specimen: Specimen) -> Silence | None:
    """The same, and data with one class only."""
    if (reason := silence_without_separator(specimen)) is not None:
        return reason
    return None if specimen.has_signs_as_labels else Silence("It is about two classes, and this data has one.")


def silence_over_programs(specimen: Specimen) -> Silence | None:
    """Two classes, separable, and not so many points that their programs take long."""
    if (reason := silence_without_both_classes(specimen)) is not None:
        return reason
    n = len(specimen.labels)
    return (
        None
        if n <= MOST_ADDED
        else Silence(f"It solves a program per point, for at most {MOST_ADDED} points, not {n}.")
    )
